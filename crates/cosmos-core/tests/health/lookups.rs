//! The table as its users see it.

use cosmos_core::health::{BreakerOptions, Circuits, Counters, Event, PartitionStandings, State};
use cosmos_core::policy::Jitter;
use cosmos_core::selection::{Standing, Standings};
use cosmos_core::{Access, Partition, RangeId, RegionSet};

use crate::{Changed, carts, exact, failure, neutral, region, seconds, start, success, trip};

fn circuits() -> Circuits {
    Circuits::new(exact())
}

#[test]
fn nothing_is_kept_until_a_partition_fails() {
    let (circuits, range, now) = (circuits(), RangeId::from(7), start());
    for event in [success(1), neutral(2), success(3).at_last_resort()] {
        assert_eq!(circuits.record(carts(&range), &event, now), None);
    }
    assert_eq!(circuits.counters(), Counters::default());
    assert!(circuits.list(now).is_empty());
    assert!(circuits.standings(carts(&range), now).is_good());
    assert_eq!(
        circuits.standings(carts(&range), now),
        PartitionStandings::default()
    );
}

#[test]
fn a_trip_makes_the_region_bad_then_due_for_this_partition_alone() {
    let (circuits, range, now) = (circuits(), RangeId::from(7), start());
    let (a, b) = (region("A"), region("B"));
    for sequence in 1..=9 {
        assert_eq!(
            circuits.record(carts(&range), &failure(sequence), now),
            None
        );
    }
    assert!(circuits.standings(carts(&range), now).is_good());
    let transition = circuits.record(carts(&range), &failure(10), now).unwrap();
    assert_eq!(&*transition.container, "dbs/shop/colls/carts");
    assert_eq!(transition.range, Some(range.clone()));
    assert_eq!(transition.region, a);
    assert_eq!(transition.from, State::Healthy);
    assert_eq!(transition.to, State::UnhealthyTentative);

    let standings = circuits.standings(carts(&range), now + seconds(59));
    assert_eq!(standings.bad(), RegionSet::from_iter([a]));
    assert!(standings.due().is_empty() && !standings.is_good());
    for access in [Access::Read, Access::Write] {
        assert_eq!(standings.standing(a, access), Standing::Bad);
        assert_eq!(standings.standing(b, access), Standing::Good);
    }
    let standings = circuits.standings(carts(&range), now + seconds(60));
    assert_eq!(standings.due(), RegionSet::from_iter([a]));
    assert!(standings.bad().is_empty() && !standings.is_good());
    assert_eq!(standings.standing(a, Access::Read), Standing::Due);

    let other = RangeId::from(8);
    for partition in [
        carts(&other),
        Partition {
            container: "dbs/shop/colls/carts",
            range: None,
        },
        Partition {
            container: "dbs/shop/colls/other",
            range: Some(&range),
        },
        Partition::METADATA,
    ] {
        assert!(circuits.standings(partition, now).is_good());
    }
}

#[test]
fn regions_of_one_partition_are_apart() {
    let (circuits, range, now) = (circuits(), RangeId::from(7), start());
    let (a, b, c) = (region("A"), region("B"), region("C"));
    trip(&circuits, carts(&range), a, now);
    trip(&circuits, carts(&range), b, now + seconds(30));
    let event = Event {
        region: c,
        ..failure(1)
    };
    circuits.record(carts(&range), &event, now);
    let standings = circuits.standings(carts(&range), now + seconds(60));
    assert_eq!(standings.due(), RegionSet::from_iter([a]));
    assert_eq!(standings.bad(), RegionSet::from_iter([b]));
    assert_eq!(standings.standing(c, Access::Read), Standing::Good);
    let counters = circuits.counters();
    assert_eq!((counters.tracked, counters.open, counters.trips), (3, 2, 2));
}

#[test]
fn one_probe_is_granted_and_its_success_closes() {
    let (circuits, range, now) = (circuits(), RangeId::from(7), start());
    let a = region("A");
    let probe = |sequence, at| {
        circuits
            .take_probe(carts(&range), a, sequence, now + seconds(at))
            .is_some()
    };
    assert!(!probe(99, 0));
    trip(&circuits, carts(&range), a, now);
    assert!(!probe(99, 59));
    assert!(probe(100, 60));
    assert!(!probe(101, 60));
    let during = circuits.standings(carts(&range), now + seconds(60));
    assert_eq!(during.standing(a, Access::Read), Standing::Bad);
    let closed = circuits
        .record(carts(&range), &success(100).probing(), now + seconds(61))
        .unwrap();
    assert_eq!(
        (closed.from, closed.to),
        (State::HealthyTentative, State::Healthy)
    );
    let counters = circuits.counters();
    assert_eq!((counters.tracked, counters.open), (1, 0));
    assert_eq!((counters.probes, counters.closed), (1, 1));
    let list = circuits.list(now);
    assert_eq!((list[0].state, list[0].due), (State::Healthy, None));
    assert_eq!(list[0].since, Some(now + seconds(61)));
    assert_eq!((list[0].reads.success, list[0].reads.failure), (0, 0));
    // Whatever is heard of it once its window has passed.
    circuits.record(carts(&range), &neutral(101), now + seconds(61 + 59));
    assert_eq!(circuits.counters().tracked, 1);
    circuits.record(carts(&range), &neutral(102), now + seconds(61 + 60));
    assert_eq!(circuits.counters().tracked, 0);
    assert!(circuits.list(now).is_empty());
}

#[test]
fn a_lease_can_be_given_back_and_taken_again() {
    let (circuits, range, now) = (circuits(), RangeId::from(7), start());
    let a = region("A");
    let later = now + seconds(60);
    circuits.release(carts(&range), a, 1, now);
    trip(&circuits, carts(&range), a, now);
    assert!(circuits.take_probe(carts(&range), a, 100, later).is_some());
    circuits.release(carts(&range), region("B"), 100, later);
    circuits.release(carts(&range), a, 99, later);
    assert!(circuits.take_probe(carts(&range), a, 101, later).is_none());
    circuits.release(carts(&range), a, 100, later);
    assert!(circuits.take_probe(carts(&range), a, 101, later).is_some());
    assert_eq!(circuits.counters().probes, 2);
}

#[test]
fn only_what_leaves_healthy_is_a_trip_and_only_what_gets_there_closes() {
    let (circuits, range, now) = (circuits(), RangeId::from(7), start());
    let a = region("A");
    let later = now + seconds(60);
    trip(&circuits, carts(&range), a, now);
    for (sequence, end, to) in [
        (100, neutral(100), State::UnhealthyTentative),
        (101, failure(101), State::Unhealthy),
    ] {
        assert!(
            circuits
                .take_probe(carts(&range), a, sequence, later)
                .is_some()
        );
        let transition = circuits.record(carts(&range), &end.probing(), later);
        assert_eq!(transition.unwrap().to, to);
        let counters = circuits.counters();
        assert_eq!((counters.trips, counters.closed, counters.open), (1, 0, 1));
    }
}

#[test]
fn outcomes_that_come_too_late_are_counted_as_such() {
    let (circuits, range, now) = (circuits(), RangeId::from(7), start());
    trip(&circuits, carts(&range), region("A"), now);
    for event in [success(3), failure(10), failure(99).probing()] {
        assert_eq!(circuits.record(carts(&range), &event, now), None);
    }
    // From after the trip, so not late, but of no account.
    assert_eq!(circuits.record(carts(&range), &failure(11), now), None);
    assert_eq!(circuits.counters().late, 3);
}

#[test]
fn a_reset_connection_that_a_reconnect_mended_leaves_nothing() {
    let (circuits, range, now) = (circuits(), RangeId::from(7), start());
    circuits.record(carts(&range), &failure(1), now);
    assert_eq!(circuits.counters().tracked, 1);
    let event = success(2).replacing(1, now);
    circuits.record(carts(&range), &event, now);
    assert_eq!(circuits.counters().tracked, 0);
    // Nor does one that tripped.
    trip(&circuits, carts(&range), region("A"), now);
    let event = success(20).replacing(10, now);
    let undone = circuits.record(carts(&range), &event, now).unwrap();
    assert_eq!(
        (undone.from, undone.to),
        (State::UnhealthyTentative, State::Healthy)
    );
    let counters = circuits.counters();
    assert_eq!((counters.tracked, counters.open), (0, 0));
}

#[test]
fn metadata_is_counted_and_told_but_never_open() {
    let (circuits, now) = (circuits(), start());
    for round in 1..=3 {
        for sequence in 1..=9 {
            assert_eq!(
                circuits.record(Partition::METADATA, &failure(sequence), now),
                None
            );
        }
        assert_eq!(circuits.counters().tracked, 1);
        let told = circuits
            .record(Partition::METADATA, &failure(10), now)
            .unwrap();
        assert_eq!((&*told.container, told.range), ("", None));
        assert_eq!(
            (told.from, told.to),
            (State::Healthy, State::UnhealthyTentative)
        );
        assert!(circuits.standings(Partition::METADATA, now).is_good());
        assert!(
            circuits
                .take_probe(Partition::METADATA, region("A"), 99, now + seconds(999))
                .is_none()
        );
        let counters = circuits.counters();
        assert_eq!((counters.tracked, counters.open), (0, 0));
        assert_eq!(counters.trips, round);
    }
}

#[test]
fn metadata_whose_first_failure_is_one_too_many_is_told_at_once() {
    let settings = BreakerOptions::new().reads_tolerated(1).build().unwrap();
    let (circuits, now) = (Circuits::new(settings), start());
    for _ in 0..3 {
        let told = circuits.record(Partition::METADATA, &failure(1), now);
        assert_eq!(told.unwrap().to, State::UnhealthyTentative);
        let counters = circuits.counters();
        assert_eq!((counters.tracked, counters.open), (0, 0));
    }
    // A partition's circuit opens.
    let range = RangeId::from(7);
    assert!(circuits.record(carts(&range), &failure(1), now).is_some());
    assert_eq!(circuits.counters().open, 1);
}

#[test]
fn a_forgotten_container_is_healthy_and_others_are_not_touched() {
    let (circuits, now, a) = (circuits(), start(), region("A"));
    let ranges: Vec<RangeId> = (0..50).map(RangeId::from).collect();
    let other = Partition {
        container: "dbs/shop/colls/other",
        range: Some(&ranges[0]),
    };
    let whole = Partition {
        container: "dbs/shop/colls/carts",
        range: None,
    };
    for range in &ranges {
        trip(&circuits, carts(range), a, now);
    }
    trip(&circuits, other, a, now);
    trip(&circuits, whole, a, now);
    assert_eq!(circuits.list(now).len(), 52);
    circuits.forget_container("dbs/shop/colls/carts");
    assert_eq!(circuits.list(now).len(), 1);
    for range in &ranges {
        assert!(circuits.standings(carts(range), now).is_good());
        let later = now + seconds(60);
        assert!(circuits.take_probe(carts(range), a, 100, later).is_none());
        circuits.release(carts(range), a, 100, later);
    }
    assert!(circuits.standings(whole, now).is_good());
    assert!(!circuits.standings(other, now).is_good());
    // Its successor begins anew, and is swept of what was.
    for _ in 0..100 {
        for range in &ranges {
            circuits.record(carts(range), &failure(1), now + seconds(1));
            circuits.record(
                carts(range),
                &success(2).replacing(1, now + seconds(1)),
                now,
            );
        }
    }
    assert!(circuits.standings(carts(&ranges[0]), now).is_good());
    // Of the shards of other containers' entries only those are swept that are used.
    assert!(
        circuits.counters().tracked <= 2,
        "{:?}",
        circuits.counters()
    );
    assert!(circuits.counters().open <= 2, "{:?}", circuits.counters());
    circuits.forget_container("dbs/nowhere/colls/none");
}

#[test]
fn a_container_that_is_forgotten_twice_is_forgotten() {
    let (circuits, now, a) = (circuits(), start(), region("A"));
    let range = RangeId::from(7);
    for _ in 0..3 {
        trip(&circuits, carts(&range), a, now);
        assert!(!circuits.standings(carts(&range), now).is_good());
        assert_eq!(circuits.list(now).len(), 1);
        circuits.forget_container("dbs/shop/colls/carts");
        assert!(circuits.standings(carts(&range), now).is_good());
        assert!(circuits.list(now).is_empty());
    }
}

#[test]
fn a_range_that_was_split_is_forgotten_in_all_regions() {
    let (circuits, now) = (circuits(), start());
    let (range, other) = (RangeId::from(7), RangeId::new("8-odd"));
    for name in ["A", "B", "C"] {
        trip(&circuits, carts(&range), region(name), now);
        trip(&circuits, carts(&other), region(name), now);
    }
    circuits.forget_range("dbs/shop/colls/carts", &range);
    assert!(circuits.standings(carts(&range), now).is_good());
    assert!(!circuits.standings(carts(&other), now).is_good());
    let counters = circuits.counters();
    assert_eq!((counters.tracked, counters.open), (3, 3));
    circuits.forget_range("dbs/shop/colls/carts", &RangeId::from(99));
    circuits.forget_range("dbs/shop/colls/carts", &other);
    assert_eq!(
        (circuits.counters().tracked, circuits.counters().open),
        (0, 0)
    );
}

#[test]
fn the_list_says_everything_that_is_kept() {
    let (circuits, now) = (circuits(), start());
    let (a, b) = (region("A"), region("B"));
    let range = RangeId::from(7);
    trip(&circuits, carts(&range), a, now);
    let event = Event {
        region: b,
        ..failure(1)
    };
    circuits.record(carts(&range), &event, now + seconds(1));
    circuits.record(carts(&range), &event.by(Access::Write), now + seconds(2));
    let mut list = circuits.list(now + seconds(3));
    list.sort_by_key(|circuit| circuit.region.name());
    let [first, second] = &list[..] else {
        panic!("{list:?}")
    };
    assert_eq!(&*first.container, "dbs/shop/colls/carts");
    assert_eq!(first.range, Some(range));
    assert_eq!((first.region, first.state), (a, State::UnhealthyTentative));
    assert_eq!(first.since, Some(now));
    assert_eq!(first.due, Some(now + seconds(60)));
    assert_eq!((first.reads.failure, first.writes.failure), (0, 0));
    assert_eq!((second.region, second.state), (b, State::Healthy));
    assert_eq!(second.since, Some(now + seconds(1)));
    assert_eq!(second.due, None);
    assert_eq!((second.reads.failure, second.writes.failure), (1, 1));
    assert_eq!(State::HealthyTentative.name(), "healthy_tentative");
    let names: Vec<&str> = list.iter().map(|circuit| circuit.state.name()).collect();
    assert_eq!(names, ["unhealthy_tentative", "healthy"]);
    assert_eq!(State::Unhealthy.name(), "unhealthy");
}

#[test]
fn the_settings_are_those_given() {
    let settings = BreakerOptions::new()
        .capacity(3)
        .jitter(Jitter::None)
        .build()
        .unwrap();
    let circuits = Circuits::new(settings);
    assert_eq!(circuits.settings(), &settings);
    assert!(format!("{circuits:?}").contains("capacity: 3"));
}
