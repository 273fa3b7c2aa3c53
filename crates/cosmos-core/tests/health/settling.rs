//! A dropped attempt that is settled later: an inner layer had given up on it.

use cosmos_core::health::{Effect, Health, Signal, State};

use crate::{Changed, Patient, failure, moved, neutral, success};

#[test]
fn a_failure_is_not_counted_twice() {
    let mut patient = Patient::new();
    patient.record(failure(1));
    patient.record(failure(1).settling(Signal::Failure));
    assert_eq!(patient.reads(), (0, 1, 1));
    // Nor is it counted late.
    let mut patient = Patient::new();
    patient.record(failure(1).settling(Signal::Failure));
    assert_eq!(patient.health, Health::default());
}

#[test]
fn what_counted_as_nothing_is_a_failure_once_it_is_settled() {
    let mut patient = Patient::new();
    for sequence in 1..=9 {
        patient.record(failure(sequence));
    }
    assert_eq!(patient.record(neutral(10)), Effect::Kept);
    assert_eq!(
        patient.record(failure(10).settling(Signal::Neutral)),
        moved(State::Healthy, State::UnhealthyTentative)
    );
}

#[test]
fn what_is_settled_after_the_trip_is_old_news_if_it_began_before() {
    let mut patient = Patient::tripped();
    let before = patient.health;
    let settled = failure(12).settling(Signal::Neutral);
    assert_eq!(patient.record(settled), Effect::Late);
    assert_eq!(patient.record(settled.at_last_resort()), Effect::Late);
    let settled = failure(30).settling(Signal::Neutral);
    assert_eq!(patient.record(settled), Effect::Kept);
    assert_eq!(patient.record(settled.at_last_resort()), Effect::Kept);
    assert_eq!(patient.health, before);
}

#[test]
fn a_probe_whose_lease_was_only_given_back_fails_when_it_is_settled() {
    for by_record in [false, true] {
        let mut patient = Patient::probed();
        patient.at(61);
        if by_record {
            patient.record(neutral(100).probing());
        } else {
            patient.release(100);
        }
        // However late: nobody else has probed.
        patient.at(90);
        assert_eq!(
            patient.record(failure(100).probing().settling(Signal::Neutral)),
            moved(State::UnhealthyTentative, State::Unhealthy)
        );
        assert_eq!(patient.health.since(), Some(patient.now));
        assert!(!patient.probe(101));
    }
}

#[test]
fn a_probe_that_is_settled_after_another_took_the_lease_changes_nothing() {
    let mut patient = Patient::probed();
    patient.release(100);
    assert!(patient.probe(101));
    let settled = failure(100).probing().settling(Signal::Neutral);
    assert_eq!(patient.record(settled), Effect::Late);
    assert_eq!(patient.state(), State::HealthyTentative);
    // Nor after that one has ended, either way.
    patient.release(101);
    assert_eq!(patient.record(settled), Effect::Late);
    assert_eq!(patient.state(), State::UnhealthyTentative);
    assert!(patient.probe(102));
    patient.record(success(102).probing());
    let closed = patient.health;
    assert_eq!(patient.record(settled), Effect::Late);
    assert_eq!(patient.health, closed);
}

#[test]
fn a_probe_that_failed_when_it_was_dropped_does_not_fail_again() {
    let mut patient = Patient::probed();
    patient.record(failure(100).probing());
    let before = patient.health;
    patient.at(62);
    assert_eq!(
        patient.record(failure(100).probing().settling(Signal::Failure)),
        Effect::Kept
    );
    assert_eq!(patient.health, before);
    let settled = failure(100).probing().settling(Signal::Neutral);
    assert_eq!(patient.record(settled), Effect::Late);
    assert_eq!(patient.health, before);
}

#[test]
fn a_probe_whose_lease_ran_out_is_settled_if_nobody_has_taken_it_since() {
    let settled = failure(100).probing().settling(Signal::Neutral);
    for given_back in [false, true] {
        let mut patient = Patient::probed();
        patient.at(70);
        if given_back {
            patient.release(100);
        }
        let mut taken = patient;
        assert_eq!(
            patient.record(settled),
            moved(State::UnhealthyTentative, State::Unhealthy)
        );
        assert!(taken.probe(101));
        assert_eq!(taken.record(settled), Effect::Late);
        assert_eq!(taken.state(), State::HealthyTentative);
    }
}

#[test]
fn a_lease_that_was_given_back_gives_no_other_verdict() {
    let mut patient = Patient::probed();
    patient.release(100);
    let before = patient.health;
    for late in [success(100), failure(100), neutral(100)] {
        assert_eq!(patient.record(late.probing()), Effect::Late);
    }
    assert_eq!(patient.health, before);
}

#[test]
fn a_dropped_reconnect_took_its_failure_back_and_counts_once_it_is_settled() {
    let mut patient = Patient::new();
    patient.record(failure(1));
    let ended = patient.now;
    patient.record(failure(2));
    patient.record(neutral(3).replacing(2, ended));
    assert_eq!(patient.reads(), (0, 1, 1));
    let settled = failure(3).replacing(2, ended).settling(Signal::Neutral);
    patient.record(settled);
    assert_eq!(patient.reads(), (0, 2, 2));
}

#[test]
fn a_dropped_reconnect_that_counted_as_failed_added_nothing_and_adds_nothing() {
    let mut patient = Patient::new();
    let ended = patient.now;
    patient.record(failure(1));
    let reconnect = failure(2).replacing(1, ended);
    patient.record(reconnect);
    patient.record(reconnect.settling(Signal::Failure));
    assert_eq!(patient.reads(), (0, 1, 1));
}
