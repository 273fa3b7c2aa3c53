//! What layers share beside attempts: headers, problems, the hub-only request, verdicts.

use std::sync::Arc;
use std::time::Instant;

use cosmos_core::policy::Verdict;
use cosmos_core::{
    AnswerListener, Attempt, AttemptObserver, FailureKind, Operation, Outcome, Reason, Region,
    Route, Status,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;

use crate::{READ, SPROC, WRITE, answered, made, now, to};

const NAME: HeaderName = HeaderName::from_static("x-ms-session-token");

fn value(text: &'static str) -> HeaderValue {
    HeaderValue::from_static(text)
}

#[test]
fn a_header_that_was_asked_for_is_on_every_attempt_and_the_callers_own_stays() {
    let route = Route::new(READ, None, now());
    route.put_header(NAME, value("first"));
    route.clone().put_header(NAME, value("second"));
    let mut map = HeaderMap::new();
    route.add_headers(&mut map);
    route.add_headers(&mut map);
    assert_eq!(map.get_all(NAME).iter().collect::<Vec<_>>(), ["first"]);
    let other = HeaderName::from_static("x-ms-noretry-449");
    route.put_header(other.clone(), value("True"));
    route.add_headers(&mut map);
    assert_eq!((map.len(), &map[other]), (2, &value("True")));
    let mut own = HeaderMap::from_iter([(NAME, value("own"))]);
    route.add_headers(&mut own);
    assert_eq!(own[NAME], "own");
}

#[test]
fn a_region_that_is_asked_for_the_hub_and_is_not_it_says_so_with_write_forbidden() {
    let route = Route::new(READ, None, now());
    assert!(!route.is_hub_only());
    assert_eq!(route.verdict(false, answered(403, 3)), Verdict::Surface);
    route.set_hub_only();
    assert!(route.is_hub_only());
    assert_eq!(
        route.verdict(false, answered(403, 3)),
        Verdict::WriteRegionMoved
    );
    assert_eq!(route.verdict(false, answered(403, 0)), Verdict::Surface);
    let mut map = HeaderMap::new();
    route.add_headers(&mut map);
    assert_eq!(map["x-ms-cosmos-hub-region-processing-only"], "True");
}

#[test]
fn a_verdict_is_the_specifications_for_the_operation_and_the_account() {
    let write = Route::new(WRITE, None, now());
    assert_eq!(
        write.verdict(true, answered(403, 3)),
        Verdict::TopologyMoved
    );
    assert_eq!(
        write.verdict(false, answered(403, 3)),
        Verdict::WriteRegionMoved
    );
    let sproc = Route::new(SPROC, None, now());
    assert_eq!(sproc.verdict(true, answered(503, 0)), Verdict::Surface);
}

#[test]
fn the_retries_after_404_1002_are_fixed_by_the_first() {
    let route = Route::new(READ, None, now());
    assert_eq!(route.with_spent(|spent| spent.fix_session_limit(3)), 3);
    assert_eq!(
        route.clone().with_spent(|spent| spent.fix_session_limit(9)),
        3
    );
}

#[test]
fn the_last_problem_is_kept() {
    let route = Route::new(READ, None, now());
    assert_eq!(route.journal().problem(), None);
    route.note_problem("one");
    route.note_problem("two");
    assert_eq!(route.journal().problem().as_deref(), Some("two"));
}

#[test]
fn an_alternative_is_noted_on_its_attempt() {
    let route = Route::new(READ, None, now());
    let first = route.begin(now(), to("East US")).unwrap();
    assert!(!route.attempt(first).unwrap().has_alternative);
    route.note_alternative(first);
    assert!(route.attempt(first).unwrap().has_alternative);
}

#[test]
fn once_the_only_request_was_made_nothing_else_is_sent() {
    let route = Route::new(READ, None, now());
    let sole = cosmos_core::Begin {
        sole: true,
        ..to("East US")
    };
    let id = route.begin(now(), sole).unwrap();
    route.end(id, now(), answered(503, 0));
    let another = route.begin(now(), to("West US 3"));
    assert_eq!(
        another,
        Err(FailureKind::Excluded),
        "whatever a refresh has changed"
    );
}

#[test]
fn an_attempt_is_passed_on_once_by_each_endpoint_layer_below() {
    let route = Route::new(READ, None, now());
    assert!(route.passed().is_none(), "it is no attempt yet");
    let id = route.begin(now(), to("East US")).unwrap();
    let placed = route.placed(id);
    let passed = placed.passed().unwrap();
    assert!(placed.passed().is_none(), "sent again in between");
    assert!(passed.passed().is_some(), "a third endpoint layer");
    route.end(id, now(), answered(200, 0));
    assert!(passed.passed().is_none(), "over");
}

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<Status>>);

impl AnswerListener for Heard {
    fn answered(&self, _: Operation, status: Status, _: &HeaderMap) {
        self.0.lock().push(status);
    }
}

#[test]
fn the_first_listener_hears_every_answer() {
    let [first, second]: [Arc<Heard>; 2] = Default::default();
    let route = Route::new(READ, None, now());
    route.answered(Status::new(500, 0), &HeaderMap::new());
    route.listen(|| first.clone());
    route.listen(|| second.clone());
    route.answered(Status::new(503, 0), &HeaderMap::new());
    route
        .clone()
        .answered(Status::new(200, 0), &HeaderMap::new());
    assert_eq!(*first.0.lock(), [Status::new(503, 0), Status::new(200, 0)]);
    assert!(second.0.lock().is_empty());
}

/// Overrules everything.
#[derive(Debug)]
struct Overruling;

impl AttemptObserver for Overruling {
    fn ended(&self, _: Operation, _: &Attempt, _: bool, _: Instant) {}

    fn lists(&self, _: Region) -> bool {
        true
    }

    fn reclassify(&self, _: Operation, _: Outcome, _: Verdict) -> Verdict {
        Verdict::Throttled
    }
}

#[test]
fn an_integrator_may_overrule_every_verdict_but_that_on_the_clients_own_timeout() {
    let route = Route::new(READ, None, now());
    route.observe(|| Arc::new(Overruling));
    assert_eq!(route.verdict(false, answered(200, 0)), Verdict::Throttled);
    assert_eq!(route.verdict(false, answered(408, 0)), Verdict::Throttled);
    assert_eq!(route.verdict(false, answered(408, 20008)), Verdict::Surface);
}

#[test]
fn a_reason_holds_for_the_one_attempt_that_it_was_given_for() {
    let route = Route::new(READ, None, now());
    assert_eq!(route.reason(), Reason::First);
    made(&route, now(), answered(503, 0));
    assert_eq!(
        route.reason(),
        Reason::Foreign,
        "sent again by a layer that is not ours"
    );
    let steered = route.steered(route.steering.onward(Reason::Failover));
    assert_eq!(steered.reason(), Reason::Failover);
    made(&route, now(), answered(503, 0));
    assert_eq!(steered.reason(), Reason::Foreign);
}

#[test]
fn a_request_that_is_steered_anew_was_passed_on_by_nobody() {
    let route = Route::new(READ, None, now());
    let id = route.begin(now(), to("East US")).unwrap();
    let passed = route.placed(id).passed().unwrap();
    let again = passed.steered(passed.steering);
    assert!(
        again.passed().is_none(),
        "the attempt was passed on already"
    );
}
