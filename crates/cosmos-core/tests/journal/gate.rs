//! What may be sent at all.

use cosmos_core::journal::MAX_ATTEMPTS;
use cosmos_core::{Begin, FailureKind, OperationOptions, Outcome, Reason, Route};

use crate::{READ, SPROC, WRITE, answered, made, ms, now, to};

#[test]
fn nothing_is_sent_from_the_deadline_on() {
    let now = now();
    let options = OperationOptions::new().timeout(ms(100));
    let route = Route::new(READ, Some(&options), now);
    assert!(route.begin(now + ms(99), to("East US")).is_ok());
    assert!(!route.journal().deadline_expired());
    assert_eq!(
        route.begin(now + ms(100), to("East US")),
        Err(FailureKind::DeadlineExceeded)
    );
    assert!(route.journal().deadline_expired());
    assert_eq!(
        route.begin(now, to("East US")),
        Err(FailureKind::DeadlineExceeded),
        "once passed, it stays passed"
    );
    assert_eq!(route.journal().attempts().len(), 1);
}

#[test]
fn a_deadline_in_the_past_sends_nothing() {
    let now = now();
    let options = OperationOptions::new().deadline(now);
    let route = Route::new(READ, Some(&options), now + ms(1));
    assert_eq!(
        route.begin(now + ms(1), to("East US")),
        Err(FailureKind::DeadlineExceeded)
    );
}

#[test]
fn a_stored_procedure_is_sent_again_only_if_it_certainly_did_not_run() {
    use FailureKind::{
        AttemptTimeout, BodyCut, BodyTimeout, BodyTooLarge, Closed, Connect, ConnectTimeout,
        Credential, Dns, Io, Lost, Negotiation, NotProcessed, Other, PoolLimit, Refused, Reset,
        Tls,
    };
    let safe = [
        Dns,
        Refused,
        ConnectTimeout,
        Connect,
        Tls,
        Negotiation,
        PoolLimit,
        NotProcessed,
        Credential,
    ]
    .map(Outcome::Failed)
    .into_iter()
    .chain([
        answered(403, 3),
        answered(403, 1008),
        answered(404, 1002),
        answered(410, 0),
        answered(410, 1002),
        answered(429, 0),
        answered(429, 3092),
        answered(449, 0),
    ]);
    for outcome in safe {
        let route = Route::new(SPROC, None, now());
        made(&route, now(), outcome);
        assert!(route.begin(now(), to("East US")).is_ok(), "{outcome:?}");
    }
    let unsafe_ones = [
        Reset,
        Closed,
        Io,
        AttemptTimeout,
        BodyTimeout,
        BodyCut,
        BodyTooLarge,
        Other,
        Lost,
    ]
    .map(Outcome::Failed)
    .into_iter()
    .chain([
        answered(200, 0),
        answered(400, 0),
        answered(403, 0),
        answered(403, 1002),
        answered(404, 0),
        answered(404, 3),
        answered(404, 1008),
        answered(408, 0),
        answered(408, 20008),
        answered(500, 0),
        answered(503, 0),
        answered(503, 1002),
        answered(504, 0),
        Outcome::Abandoned,
    ]);
    for outcome in unsafe_ones {
        let route = Route::new(SPROC, None, now());
        made(&route, now(), outcome);
        assert_eq!(
            route.begin(now(), to("West US 3")),
            Err(FailureKind::MayHaveRun),
            "{outcome:?}"
        );
        // Everything else may be repeated.
        let write = Route::new(WRITE, None, now());
        made(&write, now(), outcome);
        assert!(write.begin(now(), to("East US")).is_ok(), "{outcome:?}");
    }
}

#[test]
fn a_stored_procedure_under_way_is_not_sent_a_second_time() {
    let route = Route::new(SPROC, None, now());
    route.begin(now(), to("East US")).unwrap();
    assert_eq!(
        route.begin(now(), to("East US")),
        Err(FailureKind::MayHaveRun)
    );
}

#[test]
fn one_attempt_in_which_a_stored_procedure_may_have_run_is_enough() {
    let route = Route::new(SPROC, None, now());
    let first = route.begin(now(), to("East US")).unwrap();
    route.end(first, now(), answered(429, 0));
    made(&route, now(), answered(503, 0));
    assert_eq!(
        route.begin(now(), to("East US")),
        Err(FailureKind::MayHaveRun)
    );
}

#[test]
fn the_only_request_allowed_is_the_operations_only_one() {
    let sole = Begin {
        sole: true,
        ..to("East US")
    };
    let route = Route::new(READ, None, now());
    let id = route.begin(now(), sole).unwrap();
    assert!(route.attempt(id).unwrap().sole);
    route.end(id, now(), answered(503, 0));
    assert_eq!(route.begin(now(), sole), Err(FailureKind::Excluded));

    let route = Route::new(READ, None, now());
    assert!(
        !route
            .attempt(made(&route, now(), answered(503, 0)))
            .unwrap()
            .sole
    );
    assert_eq!(route.begin(now(), sole), Err(FailureKind::Excluded));
}

#[test]
fn no_retry_layer_makes_the_journal_grow_without_end() {
    let route = Route::new(READ, None, now());
    assert_eq!(MAX_ATTEMPTS, 1024);
    for _ in 0..1024 {
        made(&route, now(), answered(503, 0));
    }
    assert_eq!(
        route.begin(now(), to("East US")),
        Err(FailureKind::TooManyAttempts)
    );
    assert_eq!(route.journal().attempts().len(), 1024);
    assert_eq!(route.journal().retries(), 1023);
}

#[test]
fn a_second_first_attempt_is_the_work_of_a_foreign_layer() {
    let route = Route::new(READ, None, now());
    let reason = |reason| {
        let begin = Begin {
            reason,
            ..to("East US")
        };
        let id = route.begin(now(), begin).unwrap();
        route.attempt(id).unwrap().reason
    };
    assert_eq!(reason(Reason::First), Reason::First);
    assert_eq!(reason(Reason::First), Reason::Foreign);
    for ours in [
        Reason::Throttle,
        Reason::RetryWith,
        Reason::Reconnect,
        Reason::Failover,
        Reason::BackendFailover,
        Reason::Session,
    ] {
        assert_eq!(reason(ours), ours);
    }
    assert_eq!(reason(Reason::First), Reason::Foreign);
}
