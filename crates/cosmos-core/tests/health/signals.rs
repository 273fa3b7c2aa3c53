//! What each outcome says about the health of a partition.

use std::time::Duration;

use cosmos_core::health::{Signal, signal};
use cosmos_core::{Action, FailureKind, Operation, Outcome, Resource, Status};

use crate::seconds;

const READ: Operation = Operation::new(Action::Read, Resource::Item);
const WRITE: Operation = Operation::new(Action::Create, Resource::Item);

/// How long nothing else than the outcome matters.
const SHORT: Duration = Duration::from_millis(10);

fn of(operation: Operation, code: u16, substatus: u32) -> Signal {
    let outcome = Outcome::Answered(Status::new(code, substatus));
    signal(operation, outcome, SHORT, None)
}

fn assert_both(expected: Signal, statuses: &[(u16, u32)]) {
    for &(code, substatus) in statuses {
        for operation in [READ, WRITE] {
            let found = of(operation, code, substatus);
            assert_eq!(found, expected, "{operation:?}: {code}/{substatus}");
        }
    }
}

#[test]
fn an_answer_with_authority_is_a_success() {
    let statuses = [
        (200, 0),
        (201, 0),
        (204, 0),
        (207, 0),
        (299, 0),
        (304, 0),
        (404, 0),
        (404, 1003),
        (409, 0),
        (412, 0),
    ];
    assert_both(Signal::Success, &statuses);
}

#[test]
fn what_the_specification_lowers_a_failover_for_is_a_failure() {
    let statuses = [
        (408, 0),
        (408, 10002),
        (408, 21009),
        (408, 21014),
        (410, 0),
        (410, 1022),
        (429, 3092),
        (500, 0),
        (501, 0),
        (502, 0),
        (503, 0),
        (503, 20001),
        (504, 0),
        (599, 0),
        (403, 1008),
    ];
    assert_both(Signal::Failure, &statuses);
}

#[test]
fn what_says_nothing_of_the_partition_is_neutral() {
    let statuses = [
        (100, 0),
        (199, 0),
        (300, 0),
        (400, 0),
        (401, 0),
        (403, 0),
        (404, 1002),
        (408, 21010),
        (408, 21011),
        (408, 21012),
        (408, 21013),
        (410, 1000),
        (410, 1002),
        (410, 1007),
        (410, 1008),
        (413, 0),
        (429, 0),
        (429, 3200),
        (449, 0),
        (418, 0),
    ];
    assert_both(Signal::Neutral, &statuses);
}

#[test]
fn a_region_that_may_not_write_fails_writes_only() {
    assert_eq!(of(WRITE, 403, 3), Signal::Failure);
    let execute = Operation::new(Action::Execute, Resource::StoredProcedure);
    assert_eq!(of(execute, 403, 3), Signal::Failure);
    assert_eq!(of(READ, 403, 3), Signal::Neutral);
}

#[test]
fn failures_of_the_way_to_the_region_count_and_this_sides_own_do_not() {
    use FailureKind as Kind;
    let counted = [
        Kind::Dns,
        Kind::Refused,
        Kind::ConnectTimeout,
        Kind::Connect,
        Kind::Tls,
        Kind::Negotiation,
        Kind::NotProcessed,
        Kind::Reset,
        Kind::Closed,
        Kind::Io,
        Kind::AttemptTimeout,
        Kind::BodyTimeout,
        Kind::BodyCut,
        Kind::Other,
        Kind::Lost,
    ];
    let own = [
        Kind::PoolLimit,
        Kind::Credential,
        Kind::BodyTooLarge,
        Kind::DeadlineExceeded,
        Kind::MayHaveRun,
        Kind::Excluded,
        Kind::NoTopology,
        Kind::TooManyAttempts,
        Kind::RequestBody,
        Kind::InvalidRequest,
        Kind::ClientClosed,
    ];
    // However long it took.
    for waited in [SHORT, seconds(60)] {
        for kind in counted {
            let found = signal(READ, Outcome::Failed(kind), waited, None);
            assert_eq!(found, Signal::Failure, "{kind}");
        }
        for kind in own {
            let found = signal(READ, Outcome::Failed(kind), waited, Some(SHORT));
            assert_eq!(found, Signal::Neutral, "{kind}");
        }
    }
}

#[test]
fn an_attempt_under_way_says_nothing() {
    let found = signal(READ, Outcome::InFlight, seconds(60), Some(SHORT));
    assert_eq!(found, Signal::Neutral);
}

#[test]
fn an_attempt_that_was_cut_off_fails_only_if_it_had_waited_long_enough() {
    let timed_out = Outcome::Answered(Status::CLIENT_OPERATION_TIMEOUT);
    let millis = Duration::from_millis;
    for outcome in [Outcome::Abandoned, timed_out] {
        for (waited, patience, expected) in [
            (millis(999), None, Signal::Neutral),
            (millis(1000), None, Signal::Failure),
            (millis(1000), Some(seconds(60)), Signal::Failure),
            (millis(999), Some(seconds(60)), Signal::Neutral),
            (millis(99), Some(millis(200)), Signal::Neutral),
            (millis(100), Some(millis(200)), Signal::Failure),
            (Duration::MAX, Some(Duration::MAX), Signal::Failure),
        ] {
            let found = signal(READ, outcome, waited, patience);
            assert_eq!(found, expected, "{outcome:?} {waited:?} {patience:?}");
        }
    }
}
