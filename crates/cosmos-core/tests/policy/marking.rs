//! What outcomes do to the marks of an endpoint that no breaker manages.

use cosmos_core::policy::marking::{Cause, Effect, effect};
use cosmos_core::{Access, FailureKind, Operation, Outcome, Oversight};

use crate::{FAILURES, READS, SPROC, WRITES, answered};

const BOTH: Effect = Effect::Mark {
    cause: Cause::Answer,
    read: true,
    write: true,
};
const UNREACHABLE: Effect = Effect::Mark {
    cause: Cause::Unreachable,
    read: true,
    write: true,
};
const READ_SIDE: Effect = Effect::Mark {
    cause: Cause::Answer,
    read: true,
    write: false,
};
const WRITE_SIDE: Effect = Effect::Mark {
    cause: Cause::Answer,
    read: false,
    write: true,
};
const CLEAR_READ: Effect = Effect::Clear(Access::Read);
const CLEAR_WRITE: Effect = Effect::Clear(Access::Write);

fn writes() -> impl Iterator<Item = Operation> {
    WRITES.into_iter().chain([SPROC])
}

fn assert_row(outcome: Outcome, of_reads: Effect, of_writes: Effect) {
    for operation in READS {
        assert_eq!(
            effect(operation, outcome, Oversight::Endpoint, false),
            of_reads,
            "{operation:?} {outcome:?}"
        );
    }
    for operation in writes() {
        assert_eq!(
            effect(operation, outcome, Oversight::Endpoint, false),
            of_writes,
            "{operation:?} {outcome:?}"
        );
    }
}

#[test]
fn a_forbidden_write_marks_the_write_side_and_says_nothing_to_a_read() {
    assert_row(answered(403, 3), CLEAR_READ, WRITE_SIDE);
}

#[test]
fn a_region_without_the_account_is_marked_for_everything() {
    assert_row(answered(403, 1008), BOTH, BOTH);
}

#[test]
fn answers_that_send_requests_elsewhere_mark_the_side_of_their_class() {
    for (code, substatus) in [
        (408, 0),
        (408, 1900),
        (410, 0),
        (410, 1022),
        (429, 3092),
        (500, 0),
        (501, 0),
        (502, 0),
        (503, 0),
        (503, 9002),
        (504, 0),
        (507, 0),
    ] {
        assert_row(answered(code, substatus), READ_SIDE, WRITE_SIDE);
    }
}

#[test]
fn stale_ranges_and_throttled_barriers_mark_nothing() {
    for (code, substatus) in [
        (410, 1000),
        (410, 1002),
        (410, 1007),
        (410, 1008),
        (408, 21010),
        (408, 21011),
        (408, 21013),
    ] {
        assert_row(answered(code, substatus), Effect::Reached, Effect::Reached);
    }
    for substatus in [21009, 21014] {
        assert_row(answered(408, substatus), READ_SIDE, WRITE_SIDE);
    }
}

#[test]
fn the_clients_own_timeout_says_nothing_of_the_endpoint() {
    assert_row(answered(408, 20008), Effect::None, Effect::None);
}

#[test]
fn any_other_answer_clears_the_side_of_its_class() {
    for (code, substatus) in [
        (200, 0),
        (201, 0),
        (204, 0),
        (304, 0),
        (400, 0),
        (401, 0),
        (403, 0),
        (403, 5300),
        (404, 0),
        (404, 1002),
        (404, 1008),
        (409, 0),
        (412, 0),
        (413, 0),
        (429, 0),
        (429, 3200),
        (449, 0),
    ] {
        assert_row(answered(code, substatus), CLEAR_READ, CLEAR_WRITE);
    }
}

#[test]
fn an_endpoint_that_cannot_be_reached_is_marked_and_an_ambiguous_failure_marks_its_side() {
    for kind in FAILURES {
        let (of_reads, of_writes) = match kind {
            FailureKind::Dns
            | FailureKind::Refused
            | FailureKind::ConnectTimeout
            | FailureKind::Connect
            | FailureKind::Tls
            | FailureKind::Negotiation => (UNREACHABLE, UNREACHABLE),
            FailureKind::Reset
            | FailureKind::Closed
            | FailureKind::Io
            | FailureKind::AttemptTimeout
            | FailureKind::BodyTimeout
            | FailureKind::BodyCut
            | FailureKind::Other
            | FailureKind::Lost => (READ_SIDE, WRITE_SIDE),
            _ => (Effect::None, Effect::None),
        };
        assert_row(Outcome::Failed(kind), of_reads, of_writes);
    }
}

#[test]
fn what_has_not_ended_marks_nothing() {
    assert_row(Outcome::InFlight, Effect::None, Effect::None);
    assert_row(Outcome::Abandoned, Effect::None, Effect::None);
}
