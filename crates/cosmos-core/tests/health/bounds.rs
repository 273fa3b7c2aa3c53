//! However many partitions there are: the table stays within its bounds, and goes back to nothing.

use cosmos_core::health::{BreakerOptions, BreakerSettings, Circuits, State};
use cosmos_core::policy::Jitter;
use cosmos_core::{Partition, RangeId};

use crate::{carts, exact, failure, neutral, region, seconds, start, success, trip};

fn capacity(entries: u32) -> BreakerSettings {
    BreakerOptions::new()
        .capacity(entries)
        .jitter(Jitter::None)
        .build()
        .unwrap()
}

#[test]
fn a_million_partitions_stay_under_the_cap_and_what_does_not_fit_is_counted() {
    let (circuits, now) = (Circuits::new(exact()), start());
    for number in 0..1_000_000 {
        let range = RangeId::from(number);
        assert_eq!(circuits.record(carts(&range), &failure(1), now), None);
    }
    let counters = circuits.counters();
    assert_eq!(counters.tracked, 200_000);
    assert_eq!(counters.untracked, 800_000);
    assert_eq!(counters.open, 0);
}

#[test]
fn names_longer_than_any_real_one_are_not_kept() {
    let (circuits, now) = (Circuits::new(exact()), start());
    let long_range = RangeId::new(&"x".repeat(257));
    let long_link = "x".repeat(2 * 255 * 4 + 17);
    let range = RangeId::from(1);
    let partition = Partition {
        container: &long_link,
        range: Some(&range),
    };
    circuits.record(carts(&long_range), &failure(1), now);
    circuits.record(partition, &failure(1), now);
    assert_eq!(circuits.counters().tracked, 0);
    assert_eq!(circuits.counters().untracked, 2);
    let range = RangeId::new(&"x".repeat(256));
    circuits.record(carts(&range), &failure(1), now);
    let partition = Partition {
        container: &long_link[1..],
        range: None,
    };
    circuits.record(partition, &failure(1), now);
    assert_eq!(circuits.counters().tracked, 2);
}

#[test]
fn open_circuits_survive_whoever_asks_for_room() {
    let (circuits, now) = (Circuits::new(capacity(200)), start());
    for number in 0..150 {
        trip(&circuits, carts(&RangeId::from(number)), region("A"), now);
    }
    for number in 150..10_000 {
        let range = RangeId::from(number);
        circuits.record(carts(&range), &failure(1), now + seconds(1));
    }
    let counters = circuits.counters();
    assert_eq!((counters.tracked, counters.open), (200, 150));
    assert_eq!(counters.untracked, 9800);
    // Still there after the healthy ones have made room for others, many times over.
    for number in 10_000..100_000 {
        let range = RangeId::from(number);
        let at = now + seconds(u64::from(number) / 1000);
        circuits.record(carts(&range), &failure(1), at);
    }
    assert_eq!(circuits.counters().open, 150);
    for number in 0..150 {
        let standings = circuits.standings(carts(&RangeId::from(number)), now);
        assert!(standings.bad().contains(region("A")), "{number}");
    }
}

#[test]
fn a_healthy_partition_whose_window_has_passed_makes_room() {
    let (circuits, now) = (Circuits::new(capacity(64)), start());
    for number in 0..64 {
        circuits.record(carts(&RangeId::from(number)), &failure(1), now);
    }
    for number in 100..200 {
        let range = RangeId::from(number);
        circuits.record(carts(&range), &failure(1), now + seconds(59));
    }
    assert_eq!(circuits.counters().untracked, 100);
    for number in 200..400 {
        let range = RangeId::from(number);
        circuits.record(carts(&range), &failure(1), now + seconds(60));
    }
    let counters = circuits.counters();
    assert!(counters.tracked <= 64, "{counters:?}");
    let fresh = circuits
        .list(now)
        .iter()
        .filter(|circuit| circuit.since == Some(now + seconds(60)))
        .count();
    assert!(fresh >= 48, "{fresh} of 64");
}

#[test]
fn a_partition_that_finds_no_room_is_healthy_even_if_one_failure_is_too_many() {
    let settings = BreakerOptions::new()
        .capacity(1)
        .reads_tolerated(1)
        .build()
        .unwrap();
    let (circuits, now) = (Circuits::new(settings), start());
    let (first, second) = (RangeId::from(1), RangeId::from(2));
    assert!(circuits.record(carts(&first), &failure(1), now).is_some());
    assert!(circuits.record(carts(&second), &failure(2), now).is_none());
    assert!(circuits.standings(carts(&second), now).is_good());
    let counters = circuits.counters();
    assert_eq!((counters.open, counters.trips), (1, 1));
    assert_eq!(counters.untracked, 1);
}

#[test]
fn the_table_goes_back_to_nothing() {
    let (circuits, now) = (Circuits::new(exact()), start());
    for number in 0..50_000 {
        circuits.record(carts(&RangeId::from(number)), &failure(1), now);
        if number % 100 == 0 {
            trip(&circuits, carts(&RangeId::from(number)), region("B"), now);
        }
    }
    let counters = circuits.counters();
    assert_eq!((counters.tracked, counters.open), (50_500, 500));
    // Traffic that has nothing to say sweeps: two entries for each outcome, whatever it is.
    let sweep = |at| {
        for number in 0..60_000 {
            let event = if number % 2 == 0 {
                success(1)
            } else {
                neutral(1)
            };
            let range = RangeId::from(1_000_000 + number);
            circuits.record(carts(&range), &event, now + seconds(at));
        }
        circuits.counters()
    };
    assert_eq!(sweep(59).tracked, 50_500);
    let counters = sweep(60);
    assert_eq!((counters.tracked, counters.open), (500, 500));
    // The open ones were due at 60 s.
    let counters = sweep(60 + 599);
    assert_eq!((counters.tracked, counters.open), (500, 500));
    let counters = sweep(60 + 600);
    assert_eq!((counters.tracked, counters.open), (0, 0));
    assert!(circuits.list(now).is_empty());
}

#[test]
fn ten_thousand_partitions_that_trip_and_heal_leave_nothing() {
    let (circuits, now) = (Circuits::new(exact()), start());
    for number in 0..10_000 {
        let range = RangeId::from(number);
        trip(&circuits, carts(&range), region("A"), now);
        let later = now + seconds(60);
        assert!(
            circuits
                .take_probe(carts(&range), region("A"), 100, later)
                .is_some()
        );
        let event = crate::Changed::probing(success(100));
        let closed = circuits.record(carts(&range), &event, later).unwrap();
        assert_eq!(closed.to, State::Healthy);
    }
    // Each is remembered for a window, so that what failed before counts no more.
    let counters = circuits.counters();
    assert_eq!((counters.tracked, counters.open), (10_000, 0));
    let sweep = |at| {
        for number in 0..10_000 {
            let range = RangeId::from(1_000_000 + number);
            circuits.record(carts(&range), &neutral(1), now + seconds(at));
        }
        circuits.counters().tracked
    };
    assert_eq!(sweep(60 + 59), 10_000);
    assert_eq!(sweep(60 + 60), 0);
    assert!(circuits.list(now).is_empty());
}

#[test]
fn circuits_that_have_closed_make_room_once_their_window_has_passed() {
    let (circuits, now) = (Circuits::new(capacity(100)), start());
    let later = now + seconds(60);
    for number in 0..100 {
        let range = RangeId::from(number);
        trip(&circuits, carts(&range), region("A"), now);
        let _ = circuits.take_probe(carts(&range), region("A"), 100, later);
        let event = crate::Changed::probing(success(100));
        circuits.record(carts(&range), &event, later);
    }
    let fresh = |at| {
        for number in 1000..1400 {
            circuits.record(
                carts(&RangeId::from(number)),
                &failure(1),
                now + seconds(at),
            );
        }
        let counters = circuits.counters();
        assert!(
            counters.tracked <= 100 && counters.open == 0,
            "{counters:?}"
        );
        let list = circuits.list(now);
        list.iter()
            .filter(|circuit| circuit.reads.failure > 0)
            .count()
    };
    assert!(fresh(60 + 60) >= 80, "{:?}", circuits.counters());
}

/// Found by the simulation: what was kept of a partition that nobody asks for any more stayed until
/// something else fell into its part of the table.
#[test]
fn what_nobody_asks_for_goes_while_others_are_asked_for() {
    let (circuits, now) = (Circuits::new(exact()), start());
    for number in 0..20 {
        let range = RangeId::from(number);
        circuits.record(carts(&range), &failure(u64::from(number)), now);
    }
    let busy = RangeId::from(1_000);
    let later = now + seconds(3600);
    circuits.record(carts(&busy), &failure(100), later);
    // Every other attempt of the account is somebody else's.
    for sequence in (101..10_000).step_by(2) {
        circuits.record(carts(&busy), &success(sequence), later);
    }
    let left: Vec<_> = circuits.list(later).into_iter().map(|c| c.range).collect();
    assert_eq!(left, [Some(busy)]);
}
