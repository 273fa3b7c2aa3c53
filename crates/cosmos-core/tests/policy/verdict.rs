//! What every outcome asks for.

use cosmos_core::policy::{Verdict, verdict};
use cosmos_core::{FailureKind, Operation, Outcome};

use crate::{FAILURES, READS, SPROC, WRITES, answered};

/// `.` surfaced, `t` throttled, `w` retry with, `F` failover, `R` range map, `W` write region,
/// `T` topology, `N` session.
fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Surface => '.',
        Verdict::Throttled => 't',
        Verdict::RetryWith => 'w',
        Verdict::Failover => 'F',
        Verdict::StaleRange => 'R',
        Verdict::WriteRegionMoved => 'W',
        Verdict::TopologyMoved => 'T',
        Verdict::SessionNotAvailable => 'N',
        other => panic!("{other:?} has no sign"),
    }
}

/// The verdicts of the operation on a single-write and on a multi-write account.
fn signs(operation: Operation, retry_writes: bool, outcome: Outcome) -> String {
    [false, true]
        .map(|multi_write| sign(verdict(operation, retry_writes, multi_write, outcome)))
        .iter()
        .collect()
}

/// One row: reads, writes, writes that the caller does not want repeated, stored procedures.
fn assert_row(outcome: Outcome, [reads, writes, careful, sprocs]: [&str; 4]) {
    for retry_writes in [true, false] {
        for operation in READS {
            assert_eq!(
                signs(operation, retry_writes, outcome),
                reads,
                "{operation:?} {outcome:?}"
            );
        }
        assert_eq!(signs(SPROC, retry_writes, outcome), sprocs, "{outcome:?}");
    }
    for operation in WRITES {
        assert_eq!(
            signs(operation, true, outcome),
            writes,
            "{operation:?} {outcome:?}"
        );
        assert_eq!(
            signs(operation, false, outcome),
            careful,
            "{operation:?} {outcome:?}"
        );
    }
}

#[test]
fn success_and_definite_errors_are_surfaced() {
    for (code, substatus) in [
        (200, 0),
        (201, 0),
        (204, 0),
        (207, 0),
        (304, 0),
        (400, 0),
        (400, 1001),
        (400, 1002),
        (400, 1024),
        (401, 0),
        (401, 5006),
        (403, 0),
        (403, 1002),
        (403, 1005),
        (403, 3092),
        (403, 5300),
        (404, 0),
        (404, 3),
        (404, 1003),
        (404, 1008),
        (404, 1013),
        (404, 1024),
        (405, 0),
        (409, 0),
        (409, 1002),
        (409, 1006),
        (412, 0),
        (412, 2001),
        (413, 0),
        (423, 0),
        (424, 0),
        (451, 0),
    ] {
        assert_row(answered(code, substatus), ["..", "..", "..", ".."]);
    }
}

#[test]
fn a_forbidden_write_is_the_write_regions_or_the_topologys_and_means_nothing_to_a_read() {
    assert_row(answered(403, 3), ["..", "WT", "WT", "WT"]);
}

#[test]
fn a_region_without_the_account_moves_every_operation() {
    assert_row(answered(403, 1008), ["TT", "TT", "TT", "TT"]);
}

#[test]
fn a_session_that_is_not_available_is_the_session_layers_alone() {
    assert_row(answered(404, 1002), ["NN", "NN", "NN", "NN"]);
}

#[test]
fn timeouts_fail_over_except_where_a_write_may_not_be_repeated() {
    for substatus in [0, 1002, 1900, 10002, 20911, 21010, 21013] {
        assert_row(answered(408, substatus), ["FF", "FF", "..", ".."]);
    }
}

#[test]
fn the_clients_own_timeout_is_always_surfaced() {
    assert_row(answered(408, 20008), ["..", "..", "..", ".."]);
}

#[test]
fn gone_fails_over_whatever_the_operation() {
    for substatus in [0, 1022, 1024, 3092, 20001, 21005] {
        assert_row(answered(410, substatus), ["FF", "FF", "FF", "FF"]);
    }
    for substatus in [1000, 1002, 1007, 1008] {
        assert_row(answered(410, substatus), ["RR", "RR", "RR", "RR"]);
    }
}

#[test]
fn throttling_stays_in_the_region_except_3092() {
    for substatus in [0, 3, 1002, 1008, 3075, 3084, 3088, 3200, 3201, 10003] {
        assert_row(answered(429, substatus), ["tt", "tt", "tt", "tt"]);
    }
    assert_row(answered(429, 3092), ["FF", "FF", "FF", "FF"]);
}

#[test]
fn retry_with_stays_in_the_region() {
    for substatus in [0, 1002, 5350, 5352] {
        assert_row(answered(449, substatus), ["ww", "ww", "ww", "ww"]);
    }
}

#[test]
fn every_server_error_fails_over_except_where_a_write_may_not_be_repeated() {
    for (code, substatus) in [
        (500, 0),
        (500, 3010),
        (501, 0),
        (502, 0),
        (503, 0),
        (503, 1002),
        (503, 1007),
        (503, 9002),
        (503, 20003),
        (503, 21008),
        (504, 0),
        (505, 0),
        (507, 0),
        (599, 0),
    ] {
        assert_row(answered(code, substatus), ["FF", "FF", "..", ".."]);
    }
}

#[test]
fn failures_fail_over_where_nothing_was_sent_or_repeating_is_allowed() {
    for kind in FAILURES {
        let row = match kind {
            FailureKind::Dns
            | FailureKind::Refused
            | FailureKind::ConnectTimeout
            | FailureKind::Connect
            | FailureKind::Tls
            | FailureKind::Negotiation
            | FailureKind::PoolLimit
            | FailureKind::NotProcessed => ["FF", "FF", "FF", "FF"],
            FailureKind::Reset
            | FailureKind::Closed
            | FailureKind::Io
            | FailureKind::AttemptTimeout
            | FailureKind::BodyTimeout
            | FailureKind::BodyCut
            | FailureKind::Other
            | FailureKind::Lost => ["FF", "FF", "..", ".."],
            // What this side refused, or what would be as large anywhere else.
            _ => ["..", "..", "..", ".."],
        };
        assert_row(Outcome::Failed(kind), row);
    }
}

#[test]
fn what_has_not_ended_asks_for_nothing() {
    assert_row(Outcome::InFlight, ["..", "..", "..", ".."]);
    assert_row(Outcome::Abandoned, ["..", "..", "..", ".."]);
}
