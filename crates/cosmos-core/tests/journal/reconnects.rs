//! Which attempt a reconnect repeats, as a breaker hears of it.

use std::sync::Arc;
use std::time::Instant;

use cosmos_core::health::PartitionStandings;
use cosmos_core::{
    Begin, Breaker, Ended, FailureKind, Outcome, Oversight, Partition, Reason, Region, Route,
};
use parking_lot::Mutex;

use crate::{READ, answered, ms, now, region};

const BROKEN: Outcome = Outcome::Failed(FailureKind::Reset);

/// Writes down the number of each attempt that ended, and of the one that it repeats.
#[derive(Debug, Default)]
struct Chains(Mutex<Vec<(u64, Option<u64>)>>);

impl Breaker for Chains {
    fn standings(&self, _: Partition<'_>, _: Instant) -> PartitionStandings {
        PartitionStandings::default()
    }

    fn take_probe(&self, _: Partition<'_>, _: Region, _: u64, _: Instant) -> bool {
        false
    }

    fn renew(&self, _: Partition<'_>, _: Region, _: u64, _: Instant) {}

    fn release(&self, _: Partition<'_>, _: Region, _: u64, _: Instant) {}

    fn ended(&self, ended: &Ended<'_>, _: Instant) -> bool {
        let repeated = ended.reconnects.map(|attempt| attempt.sequence);
        self.0.lock().push((ended.attempt.sequence, repeated));
        false
    }

    fn forget(&self, _: Partition<'_>) {}
}

/// Makes attempts, numbered from 1, and says which of them repeat which.
fn heard(attempts: &[(&str, Reason, Outcome)]) -> Vec<(u64, Option<u64>)> {
    let now = now();
    let route = Route::new(READ, None, now);
    let chains = Arc::new(Chains::default());
    route.plant_breaker(cosmos_core::AccountId::unique(), || chains.clone());
    for (sequence, (name, reason, outcome)) in (1..).zip(attempts) {
        let begin = Begin {
            reason: *reason,
            sequence,
            oversight: Oversight::Circuit,
            ..Begin::new(region(name))
        };
        let id = route.begin(now + ms(sequence), begin).unwrap();
        route.end(id, now + ms(sequence), *outcome);
    }
    chains.0.lock().clone()
}

#[test]
fn a_reconnect_repeats_the_attempt_before_it_in_its_region() {
    let heard = heard(&[
        ("East US", Reason::First, BROKEN),
        ("West US", Reason::Failover, BROKEN),
        ("West US", Reason::Reconnect, answered(503, 0)),
        ("East US", Reason::Reconnect, answered(200, 0)),
    ]);
    assert_eq!(heard, [(1, None), (2, None), (3, Some(2)), (4, Some(1))]);
}

#[test]
fn of_two_reconnects_in_a_row_both_repeat_the_first_that_broke() {
    let heard = heard(&[
        ("East US", Reason::First, BROKEN),
        ("East US", Reason::Reconnect, BROKEN),
        ("West US", Reason::Failover, BROKEN),
        ("East US", Reason::Reconnect, answered(200, 0)),
    ]);
    assert_eq!(heard, [(1, None), (2, Some(1)), (3, None), (4, Some(1))]);
}

#[test]
fn a_new_attempt_in_a_region_begins_a_new_chain() {
    let heard = heard(&[
        ("East US", Reason::First, BROKEN),
        ("East US", Reason::Reconnect, BROKEN),
        ("East US", Reason::Failover, BROKEN),
        ("East US", Reason::Reconnect, answered(200, 0)),
    ]);
    assert_eq!(heard, [(1, None), (2, Some(1)), (3, None), (4, Some(3))]);
}

#[test]
fn a_reconnect_that_nothing_came_before_repeats_nothing() {
    let heard = heard(&[
        ("East US", Reason::First, BROKEN),
        ("West US", Reason::Reconnect, answered(200, 0)),
    ]);
    assert_eq!(heard, [(1, None), (2, None)]);
}
