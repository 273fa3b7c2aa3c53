//! Rule 1.

use cosmos_core::Access;
use cosmos_testbed::scripted::WireEntry;
use cosmos_tests::rules::{Check, require};

use crate::plan::{Over, Plan, Regions};
use crate::play::Done;

/// An excluded region sees nothing while another candidate exists, and one request if none does.
pub(crate) fn check(plan: &Plan, done: &Done, wire: &[&WireEntry]) -> Check {
    let operation = &done.operation;
    if operation.kind.is_metadata() {
        return Ok(());
    }
    // An endpoint layer above has chosen before the write regions of partitions are asked for.
    let mut above = plan
        .layers
        .over
        .iter()
        .take_while(|layer| **layer != Over::Endpoint);
    let widened = above.any(|layer| *layer == Over::Ppaf);
    let is_left = |regions: &Regions| {
        let everywhere = widened && regions.moves_partitions && !regions.multi_write;
        let candidates = match operation.kind.access() {
            Access::Write if !everywhere => &regions.writable,
            _ => &regions.readable,
        };
        candidates
            .iter()
            .any(|name| !operation.excluded.contains(name))
    };
    let is_excluded = |entry: &&&WireEntry| operation.excluded.contains(&entry.region.as_str());
    let seen = wire.iter().filter(is_excluded).count();
    // Whatever the client knew of the account at the time.
    if plan.all_regions().all(is_left) {
        return require(seen == 0, || "an excluded region saw a request".into());
    }
    let most = usize::from(!operation.strict);
    require(seen <= most, || {
        format!("excluded regions saw {seen} requests")
    })?;
    require(seen == 0 || wire.len() == 1, || {
        "more than the one request although all was excluded".into()
    })
}
