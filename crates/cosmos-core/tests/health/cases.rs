//! What went wrong in other breakers.

use cosmos_core::RangeId;
use cosmos_core::health::{BreakerOptions, Circuits, Effect, Event, Health, Signal, State, signal};
use cosmos_core::policy::Jitter;
use cosmos_core::selection::{AllGood, Choice, History, Scope, Standing, Standings, View, choose};
use cosmos_core::{
    Access, Action, Endpoint, FailureKind, Operation, Outcome, RegionSet, Resource, Status,
    Steering, Topology,
};

use crate::{
    Changed, Patient, carts, exact, failure, moved, neutral, region, seconds, start, success, trip,
};

const READ: Operation = Operation::new(Action::Read, Resource::Item);

fn of(code: u16, substatus: u32) -> Signal {
    let outcome = Outcome::Answered(Status::new(code, substatus));
    signal(READ, outcome, seconds(0), None)
}

/// B3
#[test]
fn a_cancelled_probe_gives_its_slot_back_every_time() {
    let mut patient = Patient::tripped();
    patient.at(60);
    for sequence in 100..200 {
        assert!(patient.probe(sequence), "{sequence}");
        patient.release(sequence);
    }
    assert!(patient.probe(200));
    assert_eq!(
        patient.record(success(200).probing()),
        moved(State::HealthyTentative, State::Healthy)
    );
}

/// B4
#[test]
fn a_probe_that_never_ends_does_not_keep_others_away() {
    let mut patient = Patient::probed();
    patient.at(67);
    assert!(patient.probe(101));
    // The first answers after all.
    assert_eq!(patient.record(success(100).probing()), Effect::Late);
    assert_eq!(patient.state(), State::HealthyTentative);
    patient.record(failure(101).probing());
    assert_eq!(patient.record(success(100).probing()), Effect::Late);
    assert_eq!(patient.state(), State::Unhealthy);
}

/// B5
#[test]
fn every_outcome_of_a_probe_settles_it() {
    for (code, substatus, closes) in [
        (404, 0, true),
        (409, 0, true),
        (412, 0, true),
        (304, 0, true),
        (429, 0, false),
        (400, 0, false),
        (401, 0, false),
        (404, 1002, false),
        (449, 0, false),
    ] {
        let mut patient = Patient::probed();
        let event = Event {
            signal: of(code, substatus),
            ..success(100).probing()
        };
        patient.record(event);
        if closes {
            assert_eq!(patient.state(), State::Healthy, "{code}/{substatus}");
        } else {
            assert!(patient.probe(101), "{code}/{substatus}");
        }
    }
}

/// B6
#[test]
fn when_the_wait_ends_one_of_five_hundred_goes() {
    let (circuits, range, now) = (Circuits::new(exact()), RangeId::from(0), start());
    trip(&circuits, carts(&range), region("A"), now);
    let later = now + seconds(60);
    let went = (0..500).filter(|request| {
        let standings = circuits.standings(carts(&range), later);
        standings.standing(region("A"), Access::Read) == Standing::Due
            && circuits
                .take_probe(carts(&range), region("A"), 100 + request, later)
                .is_some()
    });
    assert_eq!(went.count(), 1);
}

/// B7
#[test]
fn a_failed_probe_means_a_whole_new_wait() {
    let mut patient = Patient::probed();
    patient.record(failure(100).probing());
    // Other requests succeed in another region, which is another circuit.
    patient.at(60 + 119);
    assert_eq!(patient.state(), State::Unhealthy);
    assert!(!patient.probe(101));
    patient.at(60 + 120);
    assert!(patient.probe(101));
}

/// B9
#[test]
fn a_hundred_impatient_callers_do_not_condemn_a_region() {
    let mut patient = Patient::new();
    for sequence in 1..=100 {
        let cut_off = signal(
            READ,
            Outcome::Abandoned,
            std::time::Duration::from_millis(1),
            Some(seconds(5)),
        );
        patient.record(crate::event(sequence, cut_off));
    }
    assert_eq!(patient.health, Health::default());
}

/// B10
#[test]
fn requests_while_open_extend_nothing() {
    let mut patient = Patient::tripped();
    let before = patient.health;
    for sequence in 0..1000 {
        patient.at(sequence % 60);
        assert!(!patient.probe(100 + sequence));
        patient.record(failure(100 + sequence));
        patient.record(failure(100 + sequence).at_last_resort());
    }
    assert_eq!(patient.health, before);
    patient.at(60);
    assert!(patient.probe(5000));
}

/// B11
#[test]
fn failures_of_ten_minutes_ago_are_forgotten() {
    let settings = BreakerOptions::new()
        .reads_tolerated(5)
        .window(seconds(300))
        .jitter(Jitter::None)
        .build()
        .unwrap();
    let mut patient = Patient::with(settings);
    for sequence in 1..=4 {
        patient.record(failure(sequence));
    }
    patient.at(600);
    assert_eq!(patient.record(failure(5)), Effect::Kept);
    assert_eq!(patient.state(), State::Healthy);
}

/// B12
#[test]
fn one_failure_is_not_a_hundred_percent() {
    let mut patient = Patient::new();
    patient.record(failure(1));
    assert_eq!(patient.state(), State::Healthy);
}

/// B18
#[test]
fn a_split_is_no_failure_and_its_children_begin_healthy() {
    let (circuits, now) = (Circuits::new(exact()), start());
    let [parent, left, right] = [0, 1, 2].map(RangeId::from);
    for sequence in 1..=50 {
        let event = crate::event(sequence, of(410, 1002));
        circuits.record(carts(&parent), &event, now);
    }
    assert_eq!(circuits.counters().tracked, 0);
    trip(&circuits, carts(&parent), region("A"), now);
    circuits.forget_range("dbs/shop/colls/carts", &parent);
    for range in [&parent, &left, &right] {
        assert!(circuits.standings(carts(range), now).is_good());
    }
    // What was under way on the parent comes to nothing worse than a count.
    let late = failure(60);
    assert_eq!(circuits.record(carts(&parent), &late, now), None);
}

/// B19
#[test]
fn failures_after_the_trip_are_no_surprise() {
    let (circuits, range, now) = (Circuits::new(exact()), RangeId::from(0), start());
    let transitions = (1..=20).filter_map(|sequence| {
        let event = failure(sequence).when_newest_was(20);
        circuits.record(carts(&range), &event, now)
    });
    assert_eq!(transitions.count(), 1);
    assert_eq!(circuits.counters().late, 10);
}

/// B20
#[test]
fn probes_that_never_reached_the_region_do_not_wedge_recovery() {
    let mut patient = Patient::tripped();
    // A look-up fails before anything is sent: nothing was learned, the next may go at once.
    patient.at(60);
    for sequence in [100, 101] {
        assert!(patient.probe(sequence));
        let outcome = Outcome::Failed(FailureKind::Credential);
        let event = crate::event(sequence, signal(READ, outcome, seconds(0), None));
        patient.record(event.probing());
    }
    // The name does not resolve: that is a failure.
    assert!(patient.probe(102));
    let outcome = Outcome::Failed(FailureKind::Dns);
    let event = crate::event(102, signal(READ, outcome, seconds(0), None));
    patient.record(event.probing());
    assert_eq!(patient.state(), State::Unhealthy);
    patient.at(60 + 120);
    assert!(patient.probe(103));
    patient.record(success(103).probing());
    assert_eq!(patient.state(), State::Healthy);
}

/// B22
#[test]
fn a_late_success_does_not_erase_a_newer_verdict() {
    let mut patient = Patient::probed();
    patient.at(67);
    assert!(patient.probe(101));
    patient.record(failure(101).probing());
    let marked_again = patient.health;
    patient.record(success(100).probing());
    assert_eq!(patient.health, marked_again);
    assert_eq!(patient.state(), State::Unhealthy);
}

/// B24
#[test]
fn with_every_region_open_requests_still_go_somewhere() {
    let (circuits, range, now) = (Circuits::new(exact()), RangeId::from(0), start());
    let document = r#"{"writableLocations": [{"name": "A", "databaseAccountEndpoint": "https://a/"}],
        "readableLocations": [{"name": "A", "databaseAccountEndpoint": "https://a/"},
            {"name": "B", "databaseAccountEndpoint": "https://b/"},
            {"name": "C", "databaseAccountEndpoint": "https://c/"}]}"#;
    let global = "https://account/".parse::<Endpoint>().unwrap();
    let topology = Topology::parse(document.as_bytes(), &global, &[]).unwrap();
    let chosen = |at| -> Choice {
        let standings = circuits.standings(carts(&range), now + seconds(at));
        choose(&View {
            topology: &topology,
            scope: Scope::Listed,
            operation: READ,
            excluded: RegionSet::EMPTY,
            strict: false,
            steering: Steering::default(),
            history: &History::default(),
            marks: &AllGood,
            circuits: Some(&standings),
        })
        .unwrap()
    };
    for (tripped, expected) in [("A", "B"), ("B", "C"), ("C", "A")] {
        trip(&circuits, carts(&range), region(tripped), now);
        assert_eq!(chosen(0).region, region(expected));
        assert!(!chosen(0).probe);
    }
    let due = chosen(60);
    assert!(due.probe && due.region == region("A"));
    // As a last resort A answers: its circuit closes at once.
    let answered = success(100).at_last_resort();
    circuits.record(carts(&range), &answered, now);
    assert!(!chosen(0).probe);
    assert_eq!(circuits.counters().open, 2);
}

/// B25
#[test]
fn fifty_trips_do_not_lengthen_the_wait() {
    let mut patient = Patient::tripped();
    let mut sequence = 1000;
    for _ in 0..50 {
        patient.now = patient.health.due().unwrap();
        assert!(patient.probe(sequence));
        patient.record(failure(sequence).probing());
        assert_eq!(patient.health.due(), Some(patient.now + seconds(120)));
        sequence += 1;
    }
    patient.now = patient.health.due().unwrap();
    assert!(patient.probe(sequence));
    patient.record(success(sequence).probing());
    for failed in 0..10 {
        patient.record(failure(sequence + 1 + failed));
    }
    assert_eq!(patient.health.due(), Some(patient.now + seconds(60)));
}

/// B28
#[test]
fn one_try_is_one_count() {
    let settings = BreakerOptions::new().reads_tolerated(6).build().unwrap();
    let mut patient = Patient::with(settings);
    for sequence in 1..=5 {
        // Each with a reconnect that fails, too, and is reported again when it is settled.
        let ended = patient.now;
        patient.record(failure(10 * sequence));
        let reconnect = failure(10 * sequence + 1).replacing(10 * sequence, ended);
        patient.record(reconnect);
        patient.record(reconnect.settling(Signal::Failure));
        assert_eq!(patient.state(), State::Healthy);
    }
    patient.record(failure(100));
    assert_eq!(patient.state(), State::UnhealthyTentative);
}

/// L2
#[test]
fn what_has_expired_is_removed_and_not_only_hidden() {
    let (circuits, now) = (Circuits::new(exact()), start());
    for number in 0..10_000 {
        circuits.record(carts(&RangeId::from(number)), &failure(1), now);
    }
    for number in 0..20_000 {
        let range = RangeId::from(20_000 + number);
        circuits.record(carts(&range), &neutral(2), now + seconds(60));
    }
    assert_eq!(circuits.counters().tracked, 0);
}
