//! Every transition of the machine, one test each.

use cosmos_core::Access;
use cosmos_core::health::{BreakerOptions, BreakerSettings, Effect, Health, State};
use cosmos_core::policy::Jitter;

use crate::{Changed, Patient, failure, moved, neutral, seconds, success};

#[test]
fn a_partition_that_never_failed_is_healthy_and_costs_nothing() {
    let mut patient = Patient::new();
    patient.record(success(1));
    patient.record(neutral(2));
    assert_eq!(patient.health, Health::default());
    assert_eq!(patient.state(), State::Healthy);
    assert!(!patient.health.is_tracked() && !patient.health.is_open());
    assert!(!patient.probe(3));
}

#[test]
fn healthy_with_ten_reads_failed_in_a_row_becomes_unhealthy_tentative() {
    let mut patient = Patient::new();
    for sequence in 1..=9 {
        assert_eq!(patient.record(failure(sequence)), Effect::Kept);
    }
    assert_eq!(patient.reads(), (0, 9, 9));
    patient.at(7);
    assert_eq!(
        patient.record(failure(10)),
        moved(State::Healthy, State::UnhealthyTentative)
    );
    assert_eq!(patient.health.since(), Some(patient.now));
    assert_eq!(patient.health.due(), Some(patient.now + seconds(60)));
    // Both counts are zeroed.
    assert_eq!((patient.reads(), patient.writes()), ((0, 0, 0), (0, 0, 0)));
}

#[test]
fn healthy_with_five_writes_failed_in_a_row_becomes_unhealthy_tentative() {
    let mut patient = Patient::new();
    for sequence in 1..=4 {
        assert_eq!(
            patient.record(failure(sequence).by(Access::Write)),
            Effect::Kept
        );
    }
    assert_eq!(
        patient.record(failure(5).by(Access::Write)),
        moved(State::Healthy, State::UnhealthyTentative)
    );
}

#[test]
fn reads_and_writes_are_counted_apart() {
    let mut patient = Patient::new();
    for sequence in 1..=4 {
        patient.record(failure(sequence).by(Access::Write));
    }
    for sequence in 5..=13 {
        patient.record(failure(sequence));
    }
    assert_eq!(patient.state(), State::Healthy);
    assert_eq!((patient.reads(), patient.writes()), ((0, 9, 9), (0, 4, 4)));
    // A success of one says nothing of the other.
    patient.record(success(14));
    assert_eq!((patient.reads(), patient.writes()), ((1, 9, 0), (0, 4, 4)));
}

#[test]
fn healthy_with_ninety_percent_of_a_hundred_failed_becomes_unhealthy_tentative() {
    let mut patient = Patient::new();
    // Nine failures and a success, ten times: never ten in a row.
    let mut sequence = 0;
    for _ in 0..10 {
        for _ in 0..9 {
            sequence += 1;
            assert_eq!(patient.record(failure(sequence)), Effect::Kept);
        }
        sequence += 1;
        assert_eq!(patient.record(success(sequence)), Effect::Kept);
    }
    assert_eq!(patient.reads(), (10, 90, 0));
    assert_eq!(
        patient.record(failure(101)),
        moved(State::Healthy, State::UnhealthyTentative)
    );
}

#[test]
fn a_hundred_requests_with_less_than_ninety_percent_failed_stay_healthy() {
    let mut patient = Patient::new();
    let mut sequence = 0;
    for _ in 0..50 {
        for _ in 0..8 {
            sequence += 1;
            patient.record(failure(sequence));
        }
        sequence += 1;
        patient.record(success(sequence));
    }
    assert_eq!(patient.state(), State::Healthy);
    assert_eq!(patient.reads(), (50, 400, 0));
}

#[test]
fn the_percentage_needs_exactly_its_minimum_of_requests() {
    let settings = BreakerOptions::new()
        .min_requests(10)
        .failure_percentage(60)
        .build()
        .unwrap();
    let trips_at = |failures: u64, successes: u64| {
        let mut patient = Patient::with(settings);
        // One failure first: successes before it are not kept.
        patient.record(failure(1));
        for sequence in 0..successes {
            patient.record(success(2 + sequence));
        }
        for sequence in 1..failures {
            patient.record(failure(20 + sequence));
        }
        patient.state() == State::UnhealthyTentative
    };
    assert!(trips_at(6, 4));
    assert!(!trips_at(5, 5));
    assert!(!trips_at(5, 4));
    assert!(trips_at(7, 3));
}

#[test]
fn healthy_with_a_success_forgets_the_failures_in_a_row() {
    let mut patient = Patient::new();
    for sequence in 1..=9 {
        patient.record(failure(sequence));
    }
    assert_eq!(patient.record(success(10)), Effect::Kept);
    assert_eq!(patient.reads(), (1, 9, 0));
    for sequence in 11..=19 {
        patient.record(failure(sequence));
    }
    assert_eq!(patient.state(), State::Healthy);
    patient.record(failure(20));
    assert_eq!(patient.state(), State::UnhealthyTentative);
}

#[test]
fn healthy_with_a_neutral_outcome_changes_nothing() {
    let mut patient = Patient::new();
    patient.record(failure(1));
    assert_eq!(patient.record(neutral(2)), Effect::Kept);
    assert_eq!(patient.reads(), (0, 1, 1));
}

#[test]
fn healthy_with_a_window_that_has_passed_counts_anew_for_both_accesses() {
    let mut patient = Patient::new();
    for sequence in 1..=9 {
        patient.record(failure(sequence));
    }
    patient.record(failure(10).by(Access::Write));
    patient.at(59);
    patient.record(failure(11).by(Access::Write));
    assert_eq!((patient.reads(), patient.writes()), ((0, 9, 9), (0, 2, 2)));
    patient.at(60);
    assert_eq!(patient.record(failure(12)), Effect::Kept);
    assert_eq!((patient.reads(), patient.writes()), ((0, 1, 1), (0, 0, 0)));
    assert_eq!(patient.health.since(), Some(patient.now));
}

#[test]
fn healthy_with_a_window_that_has_passed_and_no_new_failure_is_forgotten() {
    for event in [success(2), neutral(2)] {
        let mut patient = Patient::new();
        patient.record(failure(1));
        patient.at(60);
        assert!(patient.health.is_stale(&patient.settings, patient.now));
        patient.record(event);
        assert!(!patient.health.is_tracked(), "{event:?}");
    }
}

#[test]
fn an_open_circuit_that_nobody_probes_is_forgotten_ten_minutes_after_it_was_due() {
    let mut patient = Patient::tripped();
    patient.at(60 + 599);
    assert!(!patient.health.is_stale(&patient.settings, patient.now));
    patient.at(60 + 600);
    assert!(patient.health.is_stale(&patient.settings, patient.now));
    assert!(patient.probe(100));
    assert!(!patient.health.is_stale(&patient.settings, patient.now));
}

#[test]
fn waits_are_lengthened_by_up_to_a_quarter_so_that_probes_spread() {
    let settings = BreakerSettings::default();
    assert_eq!(settings.jitter(), Jitter::Random);
    let mut waits = Vec::new();
    for _ in 0..100 {
        let mut patient = Patient::with(settings);
        for sequence in 1..=10 {
            patient.record(failure(sequence));
        }
        let first = patient.health.due().unwrap() - patient.now;
        patient.at(75);
        assert!(patient.probe(100));
        patient.record(failure(100).probing());
        let next = patient.health.due().unwrap() - patient.now;
        assert!((seconds(60)..=seconds(75)).contains(&first), "{first:?}");
        assert!((seconds(120)..=seconds(150)).contains(&next), "{next:?}");
        waits.push((first, next));
    }
    waits.sort_unstable();
    waits.dedup();
    assert!(waits.len() > 90, "{} different waits", waits.len());
    assert!(waits.iter().any(|(first, _)| *first > seconds(70)));
    assert!(waits.iter().any(|(_, next)| *next > seconds(140)));
}

#[test]
fn time_that_runs_backwards_between_threads_breaks_nothing() {
    let mut patient = Patient::new();
    patient.at(50);
    patient.record(failure(1));
    patient.at(10);
    patient.record(failure(2));
    assert_eq!(patient.reads(), (0, 2, 2));
    let mut patient = Patient::probed();
    patient.at(20);
    patient.release(100);
    patient.record(failure(100).probing());
    assert!(patient.health.is_open());
}
