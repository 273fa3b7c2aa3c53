//! Every transition of an open circuit: probes, last resorts, and what is old news.

use cosmos_core::health::{Effect, State};

use crate::{Changed, Patient, failure, moved, neutral, seconds, success};

#[test]
fn unhealthy_tentative_lets_one_probe_go_after_60_seconds() {
    let mut patient = Patient::tripped();
    patient.at(59);
    assert!(!patient.health.is_due(patient.now) && !patient.probe(100));
    patient.at(60);
    assert!(patient.health.is_due(patient.now));
    assert!(patient.probe(100));
    assert_eq!(patient.state(), State::HealthyTentative);
    assert!(!patient.health.is_due(patient.now) && !patient.probe(101));
}

#[test]
fn unhealthy_lets_one_probe_go_after_120_seconds() {
    let mut patient = Patient::confirmed();
    patient.at(60 + 119);
    assert!(!patient.probe(200));
    patient.at(60 + 120);
    assert!(patient.probe(200));
    assert_eq!(patient.state(), State::HealthyTentative);
    assert!(!patient.probe(201));
}

#[test]
fn healthy_tentative_with_a_failed_probe_becomes_unhealthy() {
    let mut patient = Patient::probed();
    patient.at(66);
    assert_eq!(
        patient.record(failure(100).probing()),
        moved(State::HealthyTentative, State::Unhealthy)
    );
    assert_eq!(patient.health.since(), Some(patient.now));
    assert_eq!(patient.health.due(), Some(patient.now + seconds(120)));
}

#[test]
fn a_probe_that_fails_from_unhealthy_keeps_it_unhealthy_for_another_120_seconds() {
    let mut patient = Patient::confirmed();
    patient.at(180);
    assert!(patient.probe(200));
    patient.at(181);
    assert_eq!(
        patient.record(failure(200).probing()),
        moved(State::HealthyTentative, State::Unhealthy)
    );
    assert_eq!(patient.health.due(), Some(patient.now + seconds(120)));
}

#[test]
fn healthy_tentative_with_a_neutral_probe_goes_back_and_may_be_probed_at_once() {
    let mut patient = Patient::probed();
    let since = patient.health.since();
    patient.at(61);
    assert_eq!(
        patient.record(neutral(100).probing()),
        moved(State::HealthyTentative, State::UnhealthyTentative)
    );
    assert_eq!(patient.health.since(), since);
    assert!(patient.probe(101));

    let mut patient = Patient::confirmed();
    let since = patient.health.since();
    patient.at(180);
    assert!(patient.probe(200));
    assert_eq!(
        patient.record(neutral(200).probing()),
        moved(State::HealthyTentative, State::Unhealthy)
    );
    assert_eq!(patient.health.since(), since);
    assert!(patient.probe(201));
}

#[test]
fn healthy_tentative_with_a_dropped_probe_goes_back_and_may_be_probed_at_once() {
    let mut patient = Patient::probed();
    let since = patient.health.since();
    patient.release(100);
    assert_eq!(patient.state(), State::UnhealthyTentative);
    assert_eq!(patient.health.since(), since);
    assert!(patient.probe(101));

    let mut patient = Patient::confirmed();
    patient.at(180);
    assert!(patient.probe(200));
    patient.release(200);
    assert_eq!(patient.state(), State::Unhealthy);
    assert!(patient.probe(201));
}

#[test]
fn what_began_before_the_trip_is_old_news_in_every_state() {
    for (mut patient, state) in [
        (Patient::tripped(), State::UnhealthyTentative),
        (Patient::probed(), State::HealthyTentative),
        (Patient::confirmed(), State::Unhealthy),
    ] {
        let before = patient.health;
        for event in [failure(20), success(20), neutral(11), success(1)] {
            assert_eq!(patient.record(event), Effect::Late);
            assert_eq!(patient.record(event.at_last_resort()), Effect::Late);
        }
        assert_eq!(patient.health, before);
        assert_eq!(patient.state(), state);
    }
}

#[test]
fn a_trip_remembers_the_newest_attempt_even_if_that_is_the_one_that_tripped() {
    let mut patient = Patient::new();
    for sequence in 1..=9 {
        patient.record(failure(sequence));
    }
    patient.record(failure(30).when_newest_was(0));
    assert_eq!(patient.record(success(30).at_last_resort()), Effect::Late);
    assert_eq!(
        patient.record(success(31).at_last_resort()),
        moved(State::UnhealthyTentative, State::Healthy)
    );
}

#[test]
fn an_ordinary_outcome_after_the_trip_changes_nothing_in_any_state() {
    for mut patient in [Patient::tripped(), Patient::probed(), Patient::confirmed()] {
        let before = patient.health;
        for event in [failure(500), success(501), neutral(502)] {
            assert_eq!(patient.record(event), Effect::Kept);
        }
        assert_eq!(patient.health, before);
    }
}

#[test]
fn a_last_resort_that_fails_restarts_no_timer() {
    for mut patient in [Patient::tripped(), Patient::probed(), Patient::confirmed()] {
        let before = patient.health;
        patient.at(61);
        for event in [failure(500), neutral(501)] {
            assert_eq!(patient.record(event.at_last_resort()), Effect::Kept);
        }
        assert_eq!(patient.health, before);
    }
}

#[test]
fn a_last_resort_counts_like_any_request_while_healthy() {
    let mut patient = Patient::new();
    for sequence in 1..=10 {
        patient.record(failure(sequence).at_last_resort());
    }
    assert_eq!(patient.state(), State::UnhealthyTentative);
}

#[test]
fn a_probe_without_a_lease_changes_nothing() {
    for mut patient in [Patient::new(), Patient::tripped(), Patient::confirmed()] {
        let before = patient.health;
        for event in [success(300), failure(300), neutral(300)] {
            assert_eq!(patient.record(event.probing()), Effect::Late);
        }
        assert_eq!(patient.health, before);
    }
}
