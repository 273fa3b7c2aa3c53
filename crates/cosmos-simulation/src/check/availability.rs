//! The availability oracle.

use std::time::Duration;

use cosmos_core::{Access, Outcome};
use cosmos_tests::rules::{Check, require};
use cosmos_tests::s;

use crate::plan::{Fault, Kind, Of, Plan, What, range};
use crate::play::{Done, Seen};
use crate::world::{Asked, moves_on, refusal};

/// What an attempt that fails may cost: 6 s to the head of an answer that came late, 5 s for a body
/// that stands still, the same again over another connection, and a wait of a second.
const PER_FAILURE: Duration = s(24);
/// What an operation may wait for besides: the account, its partition.
const BESIDES: Duration = s(12);
/// The specification's budget of moves.
const MOST_FAILURES: u32 = 3;

/// Checks that an operation which was promised an answer has got one. Returns whether it was.
pub(crate) fn check(plan: &Plan, seen: &Seen, done: &Done) -> Result<bool, String> {
    let succeeded = match &done.result {
        // Its caller left.
        None => return Ok(false),
        Some(Ok(response)) => response.status().as_u16() < 400,
        Some(Err(_)) => false,
    };
    let Some(well) = promised(plan, seen, done) else {
        return Ok(false);
    };
    let kept: Check = require(succeeded, || format!("{well} would have answered"));
    kept.map(|()| true)
}

/// The region that would have answered, if the operation must succeed: one that it may go to
/// answers well all the time, at most three others fail in ways that send it on, and its deadline
/// leaves time for that.
fn promised(plan: &Plan, seen: &Seen, done: &Done) -> Option<&'static str> {
    if !applies(plan, done) {
        return None;
    }
    let operation = &done.operation;
    let mut well = None;
    let mut failing = 0;
    for region in candidates(plan, done) {
        if is_well(plan, seen, done, region) {
            well = well.or(Some(region));
            continue;
        }
        let multi_write = plan.regions.multi_write;
        let mut met = during(plan, region, done);
        if !met.all(|fault| moves_on(fault.does, operation, multi_write)) {
            return None;
        }
        failing += 1;
    }
    let enough_time = operation
        .timeout
        .is_none_or(|timeout| timeout > PER_FAILURE * failing + BESIDES);
    well.filter(|_| failing <= MOST_FAILURES && enough_time)
}

/// Whether the oracle knows what to expect: the recommended layers, and an account that has not
/// moved and is known.
fn applies(plan: &Plan, done: &Done) -> bool {
    let operation = &done.operation;
    let is_write = operation.kind.access() == Access::Write;
    let moved = plan.changes.iter().any(|change| {
        let moves = match &change.what {
            What::Regions(_) | What::Garbled => true,
            What::Ranges => !operation.named,
            What::Writes {
                partition, until, ..
            } => {
                let before = change.at < done.began && *until > done.ended;
                is_write && range(*partition) == range(operation.partition) && !before
            }
        };
        moves && change.at <= done.ended
    });
    let is_read = |fault: &Fault| matches!(fault.of, Of::AccountReads | Of::Everything);
    let is_known = plan.known || !plan.faults.iter().any(is_read);
    plan.layers.is_recommended
        && !plan.guarded
        && !moved
        && is_known
        && !operation.kind.is_metadata()
        && operation.kind != Kind::Foreign
}

/// The regions that the operation may go to.
fn candidates(plan: &Plan, done: &Done) -> Vec<&'static str> {
    let operation = &done.operation;
    let regions = &plan.regions;
    let list = match operation.kind.access() {
        Access::Write if regions.multi_write => &regions.writable,
        // A region that answered as a write region does, if by a fault, is remembered.
        Access::Write if !regions.moves_partitions => &regions.writable,
        _ => &regions.readable,
    };
    let allowed = list
        .iter()
        .filter(|region| !operation.excluded.contains(region));
    allowed.copied().collect()
}

/// The regions that would take the operation whenever they are asked, and that nothing has ever made
/// anyone avoid.
pub(super) fn is_never_at_fault(plan: &Plan, done: &Done) -> Vec<&'static str> {
    let asked = Asked::by(&done.operation);
    let at_fault = |region: &str| plan.faults.iter().any(|fault| fault.region == region);
    let takes = |region: &str| refusal(plan, asked, region, done.began).is_none();
    let mut candidates = candidates(plan, done);
    candidates.retain(|region| applies(plan, done) && takes(region) && !at_fault(region));
    candidates
}

/// The faults of a region that the operation can meet.
fn during<'a>(
    plan: &'a Plan,
    region: &'a str,
    done: &'a Done,
) -> impl Iterator<Item = &'a Fault> + 'a {
    let asked = Asked::by(&done.operation);
    plan.faults.iter().filter(move |fault| {
        fault.concerns(asked, region) && fault.from <= done.ended && fault.until > done.began
    })
}

/// Whether a region answers well during the operation's whole life, with its endpoint unmarked and
/// its circuit closed: it has done nothing wrong so far, or has answered such an operation since.
fn is_well(plan: &Plan, seen: &Seen, done: &Done, region: &str) -> bool {
    let asked = Asked::by(&done.operation);
    if refusal(plan, asked, region, done.began).is_some() {
        return false;
    }
    let of_region = || plan.faults.iter().filter(|fault| fault.region == region);
    let Some(last) = of_region()
        .filter(|fault| fault.from <= done.ended)
        .map(|fault| fault.until + fault.after)
        .max()
    else {
        return true;
    };
    let start = seen.start.expect("set when a run begins");
    last < done.began
        && seen.done.iter().any(|other| {
            let same = other.operation.partition == done.operation.partition
                && other.operation.named == done.operation.named
                && other.operation.kind.access() == done.operation.kind.access()
                && !other.operation.kind.is_metadata();
            let answered = |attempt: &cosmos_core::Attempt| {
                let began = attempt.began.saturating_duration_since(start.into_std());
                let answered =
                    matches!(attempt.outcome, Outcome::Answered(status) if status.code() < 400);
                answered
                    && attempt.region.name().eq_ignore_ascii_case(region)
                    && began > last
                    && began + attempt.duration.unwrap_or_default() < done.began
            };
            let attempts = || {
                other
                    .journal
                    .iter()
                    .flat_map(cosmos_core::Journal::attempts)
            };
            same && attempts().any(|attempt| answered(&attempt))
        })
}
