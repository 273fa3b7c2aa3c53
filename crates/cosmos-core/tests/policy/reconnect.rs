//! One more try over another connection.

use std::time::Instant;

use cosmos_core::policy::reconnect::reconnects;
use cosmos_core::{Attempt, Begin, FailureKind, Operation, Outcome, Region, Route};

use crate::{FAILURES, READ, READS, SPROC, WRITES, answered};

fn attempt(outcome: Outcome, trial: bool, sole: bool) -> Attempt {
    #[allow(clippy::disallowed_methods)]
    let now = Instant::now();
    let route = Route::new(READ, None, now);
    let begin = Begin {
        trial,
        sole,
        ..Begin::new(Region::named("East US").unwrap())
    };
    let id = route.begin(now, begin).unwrap();
    route.end(id, now, outcome);
    route.attempt(id).unwrap()
}

fn again(operation: Operation, retry_writes: bool, outcome: Outcome) -> bool {
    reconnects(operation, retry_writes, &attempt(outcome, false, false))
}

#[test]
fn connections_refused_or_lost_are_tried_again_and_nothing_else() {
    for kind in FAILURES {
        let outcome = Outcome::Failed(kind);
        // Reads and writes, writes not to be repeated, stored procedures.
        let (most, careful) = match kind {
            FailureKind::Refused | FailureKind::Connect | FailureKind::NotProcessed => (true, true),
            FailureKind::Reset | FailureKind::Closed | FailureKind::Io => (true, false),
            _ => (false, false),
        };
        for operation in READS {
            assert_eq!(
                again(operation, true, outcome),
                most,
                "{operation:?} {kind}"
            );
            assert_eq!(
                again(operation, false, outcome),
                most,
                "{operation:?} {kind}"
            );
        }
        for operation in WRITES {
            assert_eq!(
                again(operation, true, outcome),
                most,
                "{operation:?} {kind}"
            );
            assert_eq!(
                again(operation, false, outcome),
                careful,
                "{operation:?} {kind}"
            );
        }
        assert_eq!(again(SPROC, true, outcome), careful, "{kind}");
        assert_eq!(again(SPROC, false, outcome), careful, "{kind}");
    }
}

#[test]
fn an_answer_or_an_attempt_without_one_is_no_lost_connection() {
    for outcome in [
        answered(200, 0),
        answered(503, 0),
        answered(429, 0),
        Outcome::InFlight,
        Outcome::Abandoned,
    ] {
        assert!(!again(READ, true, outcome), "{outcome:?}");
    }
}

#[test]
fn a_trial_and_the_only_request_allowed_are_not_repeated() {
    let refused = Outcome::Failed(FailureKind::Refused);
    assert!(reconnects(READ, true, &attempt(refused, false, false)));
    assert!(!reconnects(READ, true, &attempt(refused, true, false)));
    assert!(!reconnects(READ, true, &attempt(refused, false, true)));
}
