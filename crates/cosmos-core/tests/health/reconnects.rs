//! An attempt and its reconnect are one verdict.

use cosmos_core::Access;
use cosmos_core::health::{Effect, Event, Health, Replaced, Signal, State};

use crate::{Changed, Patient, failure, moved, neutral, success};

#[test]
fn a_reconnect_that_fails_too_adds_nothing() {
    let mut patient = Patient::new();
    for pair in 0..9 {
        let ended = patient.now;
        patient.record(failure(2 * pair + 1));
        patient.record(failure(2 * pair + 2).replacing(2 * pair + 1, ended));
    }
    assert_eq!(patient.reads(), (0, 9, 9));
    patient.record(failure(100));
    assert_eq!(patient.state(), State::UnhealthyTentative);
}

#[test]
fn a_reconnect_that_succeeds_takes_the_failure_back() {
    let mut patient = Patient::new();
    patient.record(failure(1));
    let ended = patient.now;
    patient.record(failure(2));
    assert_eq!(patient.record(success(3).replacing(2, ended)), Effect::Kept);
    // One failure is left, and the success has ended the run.
    assert_eq!(patient.reads(), (1, 1, 0));
}

#[test]
fn a_reconnect_that_ends_as_nothing_takes_the_failure_back() {
    let mut patient = Patient::new();
    patient.record(failure(1));
    patient.record(failure(2));
    patient.record(neutral(3).replacing(2, patient.now));
    assert_eq!(patient.reads(), (0, 1, 1));
}

#[test]
fn the_last_failure_taken_back_leaves_nothing_to_remember() {
    for end in [success(2), neutral(2)] {
        let mut patient = Patient::new();
        patient.record(failure(1));
        patient.record(end.replacing(1, patient.now));
        assert_eq!(patient.health, Health::default());
        // Not even if other requests had succeeded.
        patient.record(failure(3));
        patient.record(success(4));
        patient.record(end.replacing(3, patient.now));
        assert_eq!(patient.health, Health::default());
    }
}

#[test]
fn what_the_other_access_has_failed_stays() {
    let mut patient = Patient::new();
    patient.record(failure(1).by(Access::Write));
    patient.record(failure(2));
    patient.record(neutral(3).replacing(2, patient.now));
    assert_eq!((patient.reads(), patient.writes()), ((0, 0, 0), (0, 1, 1)));
}

#[test]
fn a_failure_of_an_earlier_window_is_not_taken_back() {
    let mut patient = Patient::new();
    patient.record(failure(1));
    let ended = patient.now;
    patient.at(60);
    patient.record(failure(2));
    patient.record(neutral(3).replacing(1, ended));
    assert_eq!(patient.reads(), (0, 1, 1));
    patient.record(success(4).replacing(1, ended));
    assert_eq!(patient.reads(), (1, 1, 0));
}

#[test]
fn a_window_that_has_passed_is_gone_before_anything_is_taken_back() {
    for end in [success(3), neutral(3)] {
        let mut patient = Patient::new();
        patient.record(failure(1));
        patient.record(failure(2));
        let ended = patient.now;
        patient.at(60);
        patient.record(end.replacing(2, ended));
        assert_eq!(patient.health, Health::default());
    }
}

#[test]
fn a_trip_that_the_failure_caused_is_undone() {
    for end in [success(21), neutral(21)] {
        let mut patient = Patient::tripped();
        assert_eq!(
            patient.record(end.replacing(10, patient.now)),
            moved(State::UnhealthyTentative, State::Healthy)
        );
        assert_eq!(patient.health, Health::default());
    }
}

#[test]
fn a_trip_is_undone_even_by_a_reconnect_that_began_before_it_was_recorded() {
    let mut patient = Patient::tripped();
    let effect = patient.record(success(15).replacing(10, patient.now));
    assert_eq!(effect, moved(State::UnhealthyTentative, State::Healthy));
}

#[test]
fn a_trip_with_another_cause_stays() {
    for (sequence, effect) in [(15, Effect::Late), (21, Effect::Kept)] {
        let mut patient = Patient::tripped();
        let before = patient.health;
        for end in [success(sequence), neutral(sequence)] {
            assert_eq!(patient.record(end.replacing(9, patient.now)), effect);
        }
        assert_eq!(patient.health, before);
    }
}

#[test]
fn undoing_a_trip_voids_the_lease() {
    let mut patient = Patient::probed();
    let effect = patient.record(neutral(21).replacing(10, patient.start));
    assert_eq!(effect, moved(State::HealthyTentative, State::Healthy));
    assert_eq!(patient.record(failure(100).probing()), Effect::Late);
    assert_eq!(patient.health, Health::default());
}

#[test]
fn a_trip_that_a_probe_confirmed_is_not_undone() {
    let mut patient = Patient::confirmed();
    let before = patient.health;
    patient.record(success(21).replacing(10, patient.start));
    assert_eq!(patient.health, before);
}

#[test]
fn a_reconnect_that_fails_undoes_no_trip_and_makes_none() {
    let mut patient = Patient::tripped();
    let before = patient.health;
    assert_eq!(
        patient.record(failure(21).replacing(10, patient.now)),
        Effect::Kept
    );
    assert_eq!(patient.health, before);
    let mut patient = Patient::new();
    for sequence in 1..=30 {
        patient.record(failure(sequence).replacing(0, patient.now));
    }
    assert_eq!(patient.health, Health::default());
}

#[test]
fn a_reconnect_of_what_did_not_count_counts_by_itself() {
    for signal in [Signal::Neutral, Signal::Success] {
        let mut patient = Patient::new();
        patient.record(failure(1));
        let replaces = Some(Replaced {
            sequence: 1,
            ended: patient.now,
            signal,
        });
        for end in [failure(2), success(3), neutral(4)] {
            patient.record(Event { replaces, ..end });
        }
        assert_eq!(patient.reads(), (1, 2, 0), "{signal:?}");
        let mut patient = Patient::tripped();
        let replaces = Some(Replaced {
            sequence: 10,
            ended: patient.now,
            signal,
        });
        let end = neutral(21);
        assert_eq!(patient.record(Event { replaces, ..end }), Effect::Kept);
        assert_eq!(patient.state(), State::UnhealthyTentative);
    }
}

#[test]
fn a_last_resort_that_reconnects_closes_like_any() {
    let mut patient = Patient::tripped();
    let ended = patient.now;
    patient.record(failure(25).at_last_resort());
    assert_eq!(
        patient.record(success(26).at_last_resort().replacing(25, ended)),
        moved(State::UnhealthyTentative, State::Healthy)
    );
}

#[test]
fn of_several_reconnects_in_a_row_each_replaces_the_first_attempt() {
    // Two that fail add nothing, and the last takes back what the first has counted.
    for end in [success(4), neutral(4)] {
        let mut patient = Patient::new();
        patient.record(failure(1));
        let ended = patient.now;
        patient.record(failure(2));
        patient.at(1);
        patient.record(failure(3).replacing(2, ended));
        assert_eq!(patient.reads(), (0, 2, 2));
        patient.record(end.replacing(2, ended));
        assert_eq!(patient.reads().1, 1);
    }
    // So does a trip that the first has caused.
    for end in [success(22), neutral(22)] {
        let mut patient = Patient::tripped();
        let ended = patient.now;
        patient.record(failure(21).replacing(10, ended));
        assert_eq!(patient.state(), State::UnhealthyTentative);
        assert_eq!(
            patient.record(end.replacing(10, ended)),
            moved(State::UnhealthyTentative, State::Healthy)
        );
        assert_eq!(patient.health, Health::default());
    }
}

#[test]
fn a_failure_that_was_old_news_is_not_taken_back() {
    let mut patient = Patient::probed();
    patient.record(success(100).probing());
    patient.record(failure(101));
    // It ends in the window, but began before the circuit closed, so it was never counted.
    patient.at(61);
    assert_eq!(patient.record(failure(20)), Effect::Late);
    let ended = patient.now;
    patient.record(neutral(102).replacing(20, ended));
    assert_eq!(patient.reads(), (0, 1, 1));
    patient.record(failure(103).replacing(20, ended));
    assert_eq!(patient.reads(), (0, 1, 1));
    patient.record(success(104).replacing(20, ended));
    assert_eq!(patient.reads(), (1, 1, 0));
}

#[test]
fn the_last_failure_taken_back_leaves_what_closed_the_circuit() {
    let mut patient = Patient::probed();
    patient.record(success(100).probing());
    let closed = patient.health;
    patient.record(failure(101));
    patient.record(neutral(102).replacing(101, patient.now));
    assert_eq!(patient.health, closed);
    assert_eq!(patient.record(failure(20)), Effect::Late);
    // A trip that is taken back leaves nothing.
    for sequence in 103..=112 {
        patient.record(failure(sequence));
    }
    assert_eq!(
        patient.record(success(113).replacing(112, patient.now)),
        moved(State::UnhealthyTentative, State::Healthy)
    );
    assert_eq!(patient.health, Health::default());
}
