//! What a circuit remembers once it has closed, and for how long.

use cosmos_core::health::{Circuits, Effect, Health, Signal, State};
use cosmos_core::{Access, RangeId};

use crate::{
    Changed, Patient, carts, exact, failure, moved, neutral, region, seconds, start, success,
};

#[test]
fn healthy_tentative_with_a_successful_probe_becomes_healthy_and_is_kept_for_a_window() {
    let mut patient = Patient::probed();
    patient.at(61);
    assert_eq!(
        patient.record(success(100).probing()),
        moved(State::HealthyTentative, State::Healthy)
    );
    assert!(patient.health.is_tracked() && !patient.health.is_open());
    assert_eq!(patient.health.since(), Some(patient.now));
    assert_eq!(patient.health.due(), None);
    assert_eq!((patient.reads(), patient.writes()), ((0, 0, 0), (0, 0, 0)));
    let closed = patient;
    // No count is left: it takes ten failures again.
    for sequence in 101..=109 {
        patient.record(failure(sequence));
    }
    assert_eq!(patient.state(), State::Healthy);
    patient.record(failure(110));
    assert_eq!(patient.state(), State::UnhealthyTentative);
    // It is gone when its window is.
    let mut patient = closed;
    patient.at(61 + 59);
    assert!(!patient.health.is_stale(&patient.settings, patient.now));
    patient.record(neutral(101));
    assert_eq!(patient.health, closed.health);
    patient.at(61 + 60);
    assert!(patient.health.is_stale(&patient.settings, patient.now));
    patient.record(neutral(101));
    assert_eq!(patient.health, Health::default());
}

#[test]
fn a_last_resort_that_succeeds_after_the_trip_closes_the_circuit_from_every_state() {
    for (mut patient, state) in [
        (Patient::tripped(), State::UnhealthyTentative),
        (Patient::probed(), State::HealthyTentative),
        (Patient::confirmed(), State::Unhealthy),
    ] {
        assert_eq!(
            patient.record(success(21).at_last_resort()),
            moved(state, State::Healthy)
        );
        assert_eq!(patient.health.since(), Some(patient.now));
        assert_eq!(patient.record(failure(20)), Effect::Late);
        assert_eq!(patient.record(failure(21)), Effect::Kept);
        assert_eq!(patient.reads(), (0, 1, 1));
    }
}

#[test]
fn a_last_resort_that_closes_the_circuit_voids_the_lease() {
    for late in [success(100), failure(100), neutral(100)] {
        let mut patient = Patient::probed();
        patient.record(success(101).at_last_resort());
        let closed = patient.health;
        assert_eq!(patient.record(late.probing()), Effect::Late);
        patient.release(100);
        assert_eq!(patient.health, closed, "{late:?}");
    }
}

#[test]
fn what_began_before_the_circuit_closed_is_old_news_for_a_window() {
    let mut patient = Patient::probed();
    patient.record(success(100).probing());
    let closed = patient;
    // A flood of what was in flight when it tripped, and of what was sent there since.
    for sequence in 1..100 {
        for late in [failure(sequence), success(sequence), neutral(sequence)] {
            for late in [late, late.by(Access::Write), late.at_last_resort()] {
                assert_eq!(patient.record(late), Effect::Late);
            }
        }
    }
    patient.at(60 + 59);
    for sequence in 1..100 {
        let settled = failure(sequence).settling(Signal::Neutral);
        assert_eq!(patient.record(settled), Effect::Late);
    }
    assert_eq!(patient.health, closed.health);
    // What is newer counts, in between as well.
    for sequence in 101..=109 {
        assert_eq!(patient.record(failure(sequence)), Effect::Kept);
        assert_eq!(patient.record(success(sequence - 50)), Effect::Late);
    }
    assert_eq!(patient.reads(), (0, 9, 9));
    assert_eq!(
        patient.record(failure(110)),
        moved(State::Healthy, State::UnhealthyTentative)
    );
    // After a window nobody remembers what was old.
    let mut patient = closed;
    patient.at(60 + 60);
    assert_eq!(patient.record(failure(20)), Effect::Kept);
    assert_eq!(patient.reads(), (0, 1, 1));
    assert_eq!(patient.health.since(), Some(patient.now));
}

#[test]
fn a_circuit_that_trips_and_closes_again_remembers_the_newer_success() {
    let mut patient = Patient::probed();
    patient.record(success(100).probing());
    for sequence in 101..=110 {
        patient.record(failure(sequence).when_newest_was(120));
    }
    assert_eq!(patient.state(), State::UnhealthyTentative);
    patient.record(success(121).at_last_resort());
    assert_eq!(patient.record(failure(120)), Effect::Late);
    assert_eq!(patient.record(failure(121)), Effect::Kept);
    assert_eq!(patient.reads(), (0, 1, 1));
}

#[test]
fn a_probe_that_is_numbered_before_the_trip_makes_no_news_of_what_is_older_than_that() {
    // Its number was drawn before, and then it was held up.
    let mut patient = Patient::tripped();
    patient.at(60);
    assert!(patient.probe(15));
    patient.record(success(15).probing());
    assert_eq!(patient.record(failure(20)), Effect::Late);
    assert_eq!(patient.record(failure(21)), Effect::Kept);
}

#[test]
fn successes_count_from_when_the_circuit_closed() {
    let mut patient = Patient::probed();
    patient.record(success(100).probing());
    for sequence in 101..=103 {
        patient.record(success(sequence));
    }
    patient.record(failure(104));
    assert_eq!(patient.reads(), (3, 1, 1));
}

#[test]
fn a_flood_from_before_the_trip_that_comes_after_the_circuit_closed_is_late() {
    let (circuits, range, now) = (Circuits::new(exact()), RangeId::from(7), start());
    let a = region("A");
    let later = now + seconds(60);
    for sequence in 1..=10 {
        let event = failure(sequence).when_newest_was(50);
        circuits.record(carts(&range), &event, now);
    }
    assert!(circuits.take_probe(carts(&range), a, 100, later).is_some());
    circuits.record(carts(&range), &success(100).probing(), later);
    for sequence in 11..=50 {
        assert_eq!(
            circuits.record(carts(&range), &failure(sequence), later),
            None
        );
    }
    assert!(circuits.standings(carts(&range), later).is_good());
    let counters = circuits.counters();
    assert_eq!((counters.trips, counters.closed), (1, 1));
    assert_eq!((counters.late, counters.open), (40, 0));
}
