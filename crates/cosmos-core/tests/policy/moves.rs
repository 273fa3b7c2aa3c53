//! Which budget pays for a move, how far it goes, and the wait before it.

use std::time::Duration;

use cosmos_core::policy::failover::{FailoverLimits, Move, Refresh, next_move, wait};
use cosmos_core::policy::{Jitter, Verdict};
use cosmos_core::{Budget, Region, Spent};

const NONE: Duration = Duration::ZERO;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn spent(failovers: u32, backend: u32, session: u32) -> Spent {
    let mut spent = Spent::default();
    for (budget, count) in [
        (Budget::Failover, failovers),
        (Budget::BackendFailover, backend),
        (Budget::Session, session),
    ] {
        (0..count).for_each(|_| spent.spend(budget));
    }
    spent
}

fn moved(spent: &Spent, verdict: Verdict) -> Option<(Budget, Refresh)> {
    next_move(FailoverLimits::default(), spent, verdict)
        .map(|Move { budget, refresh }| (budget, refresh))
}

#[test]
fn the_generic_budget_pays_for_three_moves() {
    for (verdict, refresh) in [
        (Verdict::Failover, Refresh::None),
        (Verdict::StaleRange, Refresh::Ranges),
        (Verdict::WriteRegionMoved, Refresh::AwaitAccount),
    ] {
        for made in [0, 1, 2] {
            // The other budgets do not count, even if they are spent.
            let moved = moved(&spent(made, 120, 99), verdict);
            assert_eq!(
                moved,
                Some((Budget::Failover, refresh)),
                "{verdict:?} {made}"
            );
        }
        assert_eq!(moved(&spent(3, 0, 0), verdict), None, "{verdict:?}");
        assert_eq!(moved(&spent(4, 0, 0), verdict), None, "{verdict:?}");
    }
}

#[test]
fn the_backend_budget_pays_for_a_hundred_and_twenty_moves() {
    let topology = |made| moved(&spent(3, made, 99), Verdict::TopologyMoved);
    for made in [0, 1, 118, 119] {
        assert_eq!(
            topology(made),
            Some((Budget::BackendFailover, Refresh::AskForAccount)),
            "{made}"
        );
    }
    assert_eq!(topology(120), None);
    assert_eq!(topology(121), None);
}

#[test]
fn other_verdicts_move_nothing() {
    for verdict in [
        Verdict::Surface,
        Verdict::Throttled,
        Verdict::RetryWith,
        Verdict::SessionNotAvailable,
    ] {
        assert_eq!(moved(&Spent::default(), verdict), None, "{verdict:?}");
    }
}

#[test]
fn limits_can_be_set_down_to_none_at_all() {
    let limits = FailoverLimits {
        failovers: 1,
        backend_failovers: 0,
        ..FailoverLimits::default()
    };
    assert!(next_move(limits, &spent(0, 0, 0), Verdict::Failover).is_some());
    assert!(next_move(limits, &spent(1, 0, 0), Verdict::Failover).is_none());
    assert!(next_move(limits, &spent(0, 0, 0), Verdict::TopologyMoved).is_none());
}

fn waits(spent: &Spent, verdict: Verdict) -> (Duration, Duration) {
    let (east, west) = (region("East US"), region("West US 3"));
    let limits = FailoverLimits::default();
    (
        wait(limits, spent, verdict, east, west, Jitter::None),
        wait(limits, spent, verdict, east, east, Jitter::None),
    )
}

fn region(name: &str) -> Region {
    Region::named(name).unwrap()
}

#[test]
fn a_move_to_another_region_costs_no_wait_and_the_same_region_a_growing_one() {
    for (made, same) in [(0, 50), (1, 100), (2, 200)] {
        // The count of the other budgets makes no wait longer.
        assert_eq!(
            waits(&spent(made, 7, 7), Verdict::Failover),
            (NONE, ms(same)),
            "{made}"
        );
    }
}

#[test]
fn a_fresh_range_map_is_waited_for_wherever_the_move_leads() {
    for (made, both) in [(0, 100), (1, 200), (2, 400)] {
        assert_eq!(
            waits(&spent(made, 7, 7), Verdict::StaleRange),
            (ms(both), ms(both)),
            "{made}"
        );
    }
}

#[test]
fn a_write_region_that_moved_costs_no_wait() {
    for made in [0, 1, 2] {
        assert_eq!(
            waits(&spent(made, 0, 0), Verdict::WriteRegionMoved),
            (NONE, NONE)
        );
    }
}

#[test]
fn a_topology_that_moved_costs_a_second_before_every_retry() {
    for made in [0, 1, 60, 119] {
        assert_eq!(
            waits(&spent(3, made, 0), Verdict::TopologyMoved),
            (ms(1000), ms(1000)),
            "{made}"
        );
    }
}

#[test]
fn only_the_first_topology_retry_can_go_without_its_wait() {
    let limits = FailoverLimits {
        immediate_first_retry: true,
        backend_wait: ms(300),
        ..FailoverLimits::default()
    };
    let east = region("East US");
    let wait = |spent: &Spent, verdict| wait(limits, spent, verdict, east, east, Jitter::None);
    assert_eq!(wait(&spent(2, 0, 0), Verdict::TopologyMoved), NONE);
    assert_eq!(wait(&spent(0, 1, 0), Verdict::TopologyMoved), ms(300));
    assert_eq!(wait(&spent(0, 0, 0), Verdict::Failover), ms(50));
}

#[test]
fn waits_of_a_second_have_no_jitter_and_the_others_a_quarter() {
    let east = region("East US");
    let limits = FailoverLimits::default();
    for _ in 0..200 {
        let random = |verdict| {
            wait(
                limits,
                &Spent::default(),
                verdict,
                east,
                east,
                Jitter::Random,
            )
        };
        assert_eq!(random(Verdict::TopologyMoved), ms(1000));
        assert!(
            (Duration::from_micros(37_500)..=Duration::from_micros(62_500))
                .contains(&random(Verdict::Failover))
        );
        assert!((ms(75)..=ms(125)).contains(&random(Verdict::StaleRange)));
    }
}
