//! What can be read of an operation, and what cannot.

use cosmos_core::{
    AttemptObserver, Begin, FailureKind, JournalSlot, OperationOptions, Outcome, Reason, Region,
    Route, TransportError,
};
use http::{HeaderValue, Request};

use crate::{Heard, READ, WRITE, answered, made, ms, now, region, to};

#[test]
fn it_prints_one_line_for_each_attempt() {
    let now = now();
    let route = Route::new(READ, None, now);
    let first = Begin {
        reason: Reason::First,
        ..to("East US")
    };
    let id = route.begin(now, first).unwrap();
    route.end(id, now + ms(12), answered(503, 1002));
    let id = route.begin(now + ms(12), to("West US 3")).unwrap();
    route.end(id, now + ms(1500), Outcome::Failed(FailureKind::Reset));
    let global = Begin {
        region: Region::GLOBAL,
        reason: Reason::BackendFailover,
        ..first
    };
    let id = route.begin(now + ms(2500), global).unwrap();
    route.end(id, now + ms(2501), Outcome::Abandoned);
    route.begin(now + ms(9000), first).unwrap();
    let text = route.journal().to_string();
    assert_eq!(
        text.lines().map(str::trim_end).collect::<Vec<_>>(),
        [
            "  1. + 0.000ns eastus         first            503/1002 after 12.000ms",
            "  2. +12.000ms westus3        failover         reset after 1.488s",
            "  3. +  2.500s global         backend_failover abandoned after 1.000ms",
            "  4. +  9.000s eastus         foreign          in flight",
        ]
    );
    let unsent = Route::new(READ, None, now);
    assert_eq!(
        unsent.journal().to_string(),
        "nothing was sent: nothing yet"
    );
    unsent.note_problem("every region is excluded");
    assert_eq!(
        unsent.journal().to_string(),
        "nothing was sent: every region is excluded"
    );
}

#[test]
fn a_route_or_journal_prints_no_header_and_no_url() {
    let slot = JournalSlot::new();
    let mut request = Request::builder()
        .method("GET")
        .uri("https://acct.documents.azure.com/dbs/d/colls/c/docs/SECRET")
        .header("authorization", "SECRET")
        .header("x-ms-documentdb-partitionkey", "[\"SECRET\"]")
        .header("x-ms-session-token", "SECRET")
        .body("SECRET")
        .unwrap();
    request
        .extensions_mut()
        .insert(OperationOptions::new().journal_slot(&slot));
    let route = Route::enter(&mut request, now()).unwrap().route;
    route.activity_id(|| HeaderValue::from_static("SECRET"));
    let _heard = Heard::by(&route);
    made(&route, now(), answered(503, 0));
    let journal = route.journal();
    let error = TransportError::new(FailureKind::Reset)
        .with_region(region("East US"))
        .with_journal(journal.clone());
    for text in [
        format!("{route:?}"),
        format!("{journal:?}"),
        format!("{journal}"),
        format!("{slot:?}"),
        format!("{error:?}"),
        format!("{error}"),
        format!("{:?}", route.rules()),
    ] {
        assert!(!text.contains("SECRET"), "{text}");
        assert!(!text.is_empty());
    }
    assert!(format!("{route:?}").contains("503"));
    assert!(format!("{journal:?}").contains("503"));
    assert!(format!("{slot:?}").contains("503"));
    assert_eq!(error.to_string(), "reset (eastus)");
    assert_eq!(error.journal().unwrap().attempts().len(), 1);
}

#[test]
fn it_tells_whether_an_earlier_attempt_may_have_been_applied() {
    for (outcome, applied) in [
        (answered(408, 0), true),
        (answered(500, 0), true),
        (answered(503, 0), true),
        (Outcome::Failed(FailureKind::Reset), true),
        (Outcome::Failed(FailureKind::BodyCut), true),
        (Outcome::Failed(FailureKind::Lost), true),
        (Outcome::Abandoned, true),
        (Outcome::Failed(FailureKind::Refused), false),
        (Outcome::Failed(FailureKind::NotProcessed), false),
        (answered(201, 0), false),
        (answered(403, 3), false),
        (answered(404, 1002), false),
        (answered(409, 0), false),
        (answered(410, 0), false),
        (answered(429, 0), false),
        (answered(449, 0), false),
    ] {
        let route = Route::new(WRITE, None, now());
        made(&route, now(), outcome);
        made(&route, now(), answered(429, 0));
        assert_eq!(
            route.journal().may_have_been_applied(),
            applied,
            "{outcome:?}"
        );
    }
    let route = Route::new(WRITE, None, now());
    assert!(!route.journal().may_have_been_applied());
    assert_eq!(route.journal().retries(), 0);
    route.begin(now(), to("East US")).unwrap();
    assert!(route.journal().may_have_been_applied());
    assert_eq!(route.journal().retries(), 0);
}

#[test]
fn a_journal_can_be_read_while_the_account_is_told() {
    #[derive(Debug)]
    struct Reads(Route);
    impl AttemptObserver for Reads {
        fn ended(
            &self,
            _: cosmos_core::Operation,
            _: &cosmos_core::Attempt,
            _: bool,
            _: std::time::Instant,
        ) {
            assert_eq!(self.0.journal().attempts().len(), 1);
        }

        fn lists(&self, _: Region) -> bool {
            self.0.journal().attempts().is_empty()
        }
    }
    let route = Route::new(READ, None, now());
    let reader = std::sync::Arc::new(Reads(route.clone()));
    route.observe(|| reader);
    let position = route.position();
    made(&route, now(), Outcome::Abandoned);
    let _ = route.conclude(position, now());
    assert!(!route.lists(region("East US")));
}

#[test]
fn reasons_have_the_names_that_logs_and_tables_use() {
    for (reason, name) in [
        (Reason::First, "first"),
        (Reason::Throttle, "throttle"),
        (Reason::RetryWith, "retry_with"),
        (Reason::Reconnect, "reconnect"),
        (Reason::Failover, "failover"),
        (Reason::BackendFailover, "backend_failover"),
        (Reason::Session, "session"),
        (Reason::Foreign, "foreign"),
    ] {
        assert_eq!(reason.name(), name);
    }
}
