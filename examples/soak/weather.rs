//! What the account does to its clients: spells of random faults and moves, and calm in between.

use std::error::Error;
use std::time::Duration;

use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultScope, FaultedRequests};
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout_at};

use crate::control::Control;
use crate::moves::Moves;
use crate::serve::REGIONS;

/// How long the account is calm between two spells.
const CALM: Duration = Duration::from_secs(4);

/// Now and then it is calm for longer, so that what the client keeps of failures can go.
const LONG_CALM: Duration = Duration::from_secs(20);
const LONG_CALM_EVERY: u64 = 12;

/// How long after the last fault an operation may still fail: marks, circuits and topology of this
/// client are a second or two old by then.
const SETTLED: Duration = Duration::from_secs(2);

/// Since when the account is calm.
#[derive(Debug, Default)]
pub(crate) struct Weather(Mutex<Option<Instant>>);

impl Weather {
    /// Whether an operation of this time has no excuse to fail.
    pub(crate) fn was_fine(&self, from: Instant) -> bool {
        // It is set anew with each calm: one that began before `from` lasts until now.
        self.0.lock().is_some_and(|since| since + SETTLED <= from)
    }

    fn set(&self, calm_since: Option<Instant>) {
        *self.0.lock() = calm_since;
    }
}

/// Has the account misbehave until then, and be well in the end. Gives the number of spells.
pub(crate) async fn run(
    control: &Control,
    weather: &Weather,
    mut random: fastrand::Rng,
    until: Instant,
) -> Result<u64, Box<dyn Error>> {
    let mut moves = Moves::default();
    let mut spells = 0;
    weather.set(Some(Instant::now()));
    while timeout_at(until, sleep(calm_after(spells))).await.is_ok() {
        weather.set(None);
        for _ in 0..random.u32(0..3) {
            let rule = fault(&mut random, &moves);
            control.set_fault(&json!(rule)).await?;
        }
        let undo = if random.bool() {
            moves.make(control, &mut random).await?
        } else {
            Vec::new()
        };
        let spell = Duration::from_millis(random.u64(1_000..5_000));
        let _ = timeout_at(until, sleep(spell)).await;
        control.clear_faults().await?;
        for back in undo {
            control.make(&back).await?;
        }
        weather.set(Some(Instant::now()));
        spells += 1;
    }
    Ok(spells)
}

fn calm_after(spells: u64) -> Duration {
    if spells % LONG_CALM_EVERY == LONG_CALM_EVERY - 1 {
        LONG_CALM
    } else {
        CALM
    }
}

fn fault(random: &mut fastrand::Rng, moves: &Moves) -> FaultRule {
    let region = REGIONS[random.usize(0..REGIONS.len())];
    let scope = match random.u32(0..10) {
        0 => FaultScope::AllRegions,
        1 => FaultScope::Global,
        2 => FaultScope::Everywhere,
        _ => FaultScope::Region(region.to_owned()),
    };
    let requests = match random.u32(0..8) {
        0 => FaultedRequests::Every,
        1 | 2 => FaultedRequests::Writes,
        3 | 4 => FaultedRequests::Reads,
        5 => FaultedRequests::Metadata,
        6 => FaultedRequests::AccountReads,
        _ => FaultedRequests::Data,
    };
    let rule = FaultRule::new(scope, kind(random)).requests(requests);
    let rule = match random.u32(0..4) {
        0 => rule.probability(random.f64()),
        1 => rule.times(random.u64(1..50)),
        _ => rule,
    };
    // One sick partition.
    if random.u32(0..3) == 0 {
        rule.range(moves.some_range(random).to_string())
    } else {
        rule
    }
}

fn kind(random: &mut fastrand::Rng) -> FaultKind {
    let status = |status, substatus| FaultKind::Status {
        status,
        substatus: (substatus != 0).then_some(substatus),
        retry_after_ms: None,
    };
    let kinds = [
        status(503, 21008),
        status(500, 0),
        status(408, 0),
        status(410, 0),
        status(410, 1002),
        status(429, 3092),
        status(403, 3),
        status(403, 1008),
        status(404, 1002),
        status(449, 0),
        FaultKind::Throttle {
            retry_after_ms: random.u64(1..400),
        },
        FaultKind::Delay(Duration::from_millis(random.u64(1..300))),
        FaultKind::Hang,
        FaultKind::RefuseConnections,
        FaultKind::ResetAfterRequest,
        FaultKind::LoseAnswer,
        FaultKind::CutBody,
        FaultKind::GoAway,
    ];
    let chosen = random.usize(0..kinds.len());
    kinds[chosen].clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_operations_that_began_well_into_a_calm_have_no_excuse() {
        let weather = Weather::default();
        assert!(!weather.was_fine(Instant::now()));
        let calm = Instant::now();
        weather.set(Some(calm));
        assert!(!weather.was_fine(calm));
        assert!(weather.was_fine(calm + SETTLED));
    }

    #[test]
    fn a_rule_is_understood_by_the_control_endpoint() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..200 {
            let rule = fault(&mut random, &Moves::default());
            let text = json!(rule).to_string();
            assert_eq!(serde_json::from_str::<FaultRule>(&text).ok(), Some(rule));
        }
    }
}
