//! What the stack is held to: nothing fails, and it is as quick as the best client that fails nothing.

use super::cell::Measured;
use super::clients::Peer;
use super::fault::Fault;
use crate::Report;
use crate::report::Goal;

/// As quick as another is within a tenth of its time, or this much, whichever is more.
const AS_QUICK_MS: f64 = 50.0;

/// A figure of a client, by name.
type Figure = (&'static str, fn(&Measured) -> f64);

const QUICK: [Figure; 2] = [("slowest", |of| of.slowest_ms), ("p99", |of| of.p99_ms)];

/// Adds the stack's figures for a fault; tells whether one of them misses its goal.
pub(super) fn add(report: &mut Report, fault: Fault, row: &[(Peer, Measured)]) -> bool {
    let stack = row.iter().find(|(peer, _)| *peer == Peer::Stack);
    let Some((_, stack)) = stack else {
        return false;
    };
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    let failed = stack.failed as f64;
    let name = |figure| format!("availability, {}: {figure}", fault.name());
    report.add(name("failed"), failed, "", Some(Goal::AtMost(0.0)));
    let mut missed = failed > 0.0;
    for (figure, of) in QUICK {
        let value = of(stack);
        let others = row.iter().filter(|(peer, _)| *peer != Peer::Stack);
        let good = others.filter(|(_, measured)| measured.failed == 0);
        let best = good
            .map(|(_, measured)| of(measured))
            .min_by(f64::total_cmp);
        // With no other that fails nothing there is nothing to hold it against.
        let most = best.map(|best| limit(best, fault));
        missed |= most.is_some_and(|most| value > most);
        report.add(name(figure), value, "ms", most.map(Goal::AtMost));
    }
    missed
}

/// The most that counts as being as quick, to the millisecond.
fn limit(best: f64, fault: Fault) -> f64 {
    let allowance = fault.allowance().as_secs_f64() * 1000.0;
    (best + AS_QUICK_MS.max(best / 10.0) + allowance).round()
}
