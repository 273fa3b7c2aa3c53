//! Whose the lease of a probe is, and until when its holder is heard.

use cosmos_core::RangeId;
use cosmos_core::health::{Circuits, Effect, State};

use crate::{
    Changed, Patient, carts, exact, failure, moved, neutral, region, seconds, start, success, trip,
};

#[test]
fn only_its_holder_gives_a_lease_back() {
    let mut patient = Patient::probed();
    patient.release(99);
    assert_eq!(patient.state(), State::HealthyTentative);
    assert!(!patient.probe(101));
    // Nothing to give back elsewhere, either.
    let mut patient = Patient::tripped();
    patient.release(0);
    assert!(!patient.probe(101));
    let mut patient = Patient::new();
    patient.release(1);
    assert!(!patient.health.is_tracked());
}

#[test]
fn a_lease_that_was_taken_stays_with_its_holder() {
    let mut patient = Patient::probed();
    for stranger in [success(101), failure(101), neutral(101)] {
        assert_eq!(patient.record(stranger.probing()), Effect::Late);
    }
    assert_eq!(patient.state(), State::HealthyTentative);
    assert_eq!(
        patient.record(success(100).probing()),
        moved(State::HealthyTentative, State::Healthy)
    );
}

#[test]
fn a_lease_that_was_taken_again_after_seven_seconds_has_no_verdict_of_the_first() {
    for late in [success(100), failure(100), neutral(100)] {
        let mut patient = Patient::probed();
        patient.at(60 + 6);
        assert!(!patient.probe(101));
        patient.at(60 + 7);
        assert_eq!(patient.state(), State::UnhealthyTentative);
        assert!(patient.probe(101));
        let before = patient.health;
        assert_eq!(patient.record(late.probing()), Effect::Late);
        patient.release(100);
        assert_eq!(patient.health, before);
        assert_eq!(
            patient.record(success(101).probing()),
            moved(State::HealthyTentative, State::Healthy)
        );
    }
}

#[test]
fn a_probe_that_gives_signs_of_life_keeps_its_lease() {
    let mut patient = Patient::probed();
    for seconds in [66, 72, 78] {
        patient.at(seconds);
        patient.renew(100);
        // Not a stranger's.
        patient.renew(99);
        assert_eq!(patient.state(), State::HealthyTentative);
        assert!(!patient.probe(101));
    }
    patient.at(78 + 6);
    assert!(!patient.probe(101));
    patient.at(78 + 7);
    assert!(patient.probe(101));
    // It is another's by now.
    let taken = patient.health;
    patient.at(78 + 8);
    patient.renew(100);
    assert_eq!(patient.health, taken);
}

#[test]
fn a_verdict_after_seven_seconds_counts_if_nobody_has_taken_the_lease_since() {
    for seconds_late in [0, 1, 500] {
        let mut patient = Patient::probed();
        patient.at(67 + seconds_late);
        assert_eq!(patient.state(), State::UnhealthyTentative);
        assert!(patient.health.is_due(patient.now));
        let void = patient;
        assert_eq!(
            patient.record(success(100).probing()),
            moved(State::UnhealthyTentative, State::Healthy)
        );
        let mut patient = void;
        assert_eq!(
            patient.record(failure(100).probing()),
            moved(State::UnhealthyTentative, State::Unhealthy)
        );
        assert_eq!(patient.health.since(), Some(patient.now));
        assert_eq!(patient.health.due(), Some(patient.now + seconds(120)));
        // Once.
        assert_eq!(patient.record(success(100).probing()), Effect::Late);
        let mut patient = void;
        assert_eq!(patient.record(neutral(100).probing()), Effect::Kept);
        assert_eq!(patient.record(success(100).probing()), Effect::Late);
        assert!(patient.probe(101));
        // Of strangers nothing is heard.
        let mut patient = void;
        for stranger in [success(101), failure(101), neutral(101)] {
            assert_eq!(patient.record(stranger.probing()), Effect::Late);
        }
        assert_eq!(patient.health, void.health);
    }
}

#[test]
fn a_late_failure_of_a_probe_from_unhealthy_means_a_whole_new_wait() {
    let mut patient = Patient::confirmed();
    patient.at(180);
    assert!(patient.probe(200));
    patient.at(190);
    assert_eq!(patient.record(failure(200).probing()), Effect::Kept);
    assert_eq!(patient.health.since(), Some(patient.now));
    assert_eq!(patient.health.due(), Some(patient.now + seconds(120)));
}

#[test]
fn a_lease_that_is_given_back_after_it_ran_out_keeps_nobody_waiting() {
    for by_record in [false, true] {
        let mut patient = Patient::probed();
        patient.at(90);
        let due = patient.health.due();
        if by_record {
            patient.record(neutral(100).probing());
        } else {
            patient.release(100);
        }
        assert_eq!(patient.state(), State::UnhealthyTentative);
        assert_eq!(patient.health.due(), due);
        // Nor is it kept the longer for it.
        patient.at(67 + 600);
        assert!(patient.health.is_stale(&patient.settings, patient.now));
        assert!(patient.probe(101));
    }
}

#[test]
fn a_late_verdict_of_a_probe_is_told_and_counted_like_any() {
    for (event, to, open) in [
        (success(100), State::Healthy, 0),
        (failure(100), State::Unhealthy, 1),
    ] {
        let (circuits, range, now) = (Circuits::new(exact()), RangeId::from(7), start());
        trip(&circuits, carts(&range), region("A"), now);
        let _ = circuits.take_probe(carts(&range), region("A"), 100, now + seconds(60));
        let told = circuits
            .record(carts(&range), &event.probing(), now + seconds(70))
            .unwrap();
        assert_eq!((told.from, told.to), (State::UnhealthyTentative, to));
        let counters = circuits.counters();
        assert_eq!((counters.open, counters.late), (open, 0));
        assert_eq!(counters.closed, u64::from(to == State::Healthy));
    }
}
