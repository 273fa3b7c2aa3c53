//! Making a route, finding it again, and what the caller asked for.

use std::time::Duration;

use cosmos_core::{
    Action, Journal, JournalSlot, Operation, OperationOptions, RangeId, Reason, RegionError,
    RegionSet, Resource, Route, Steering,
};
use http::{HeaderValue, Method, Request};

use crate::{READ, answered, made, now, region, to};

fn request(method: Method, uri: &str) -> Request<()> {
    Request::builder().method(method).uri(uri).body(()).unwrap()
}

#[test]
fn the_first_layer_makes_the_route_and_the_others_find_it() {
    let now = now();
    let mut request = request(Method::GET, "/dbs/d/colls/c/docs/1");
    assert!(Route::concerns(&request));
    let outer = Route::enter(&mut request, now).unwrap();
    let inner = Route::enter(&mut request, now + Duration::from_secs(1)).unwrap();
    assert!(outer.first && !inner.first);
    assert_eq!(outer.route.operation(), READ);
    assert_eq!(inner.route.journal().began(), now);
    made(&inner.route, now, answered(503, 0));
    assert_eq!(outer.route.journal().attempts().len(), 1);
    assert!(Route::concerns(&request));
}

#[test]
fn steering_is_a_copy_and_the_operation_is_shared() {
    let mut request = request(Method::GET, "/dbs/d/colls/c/docs/1");
    let mut outer = Route::enter(&mut request, now()).unwrap().route;
    outer.steering.pin = Some(region("East US"));
    let inner = Route::enter(&mut request, now()).unwrap().route;
    assert_eq!(inner.steering.pin, None);
    inner.set_foreign();
    assert!(outer.is_foreign());
}

#[test]
fn a_request_that_is_nothing_of_the_service_stays_as_it_is() {
    let mut request = request(Method::GET, "/health");
    assert!(!Route::concerns(&request));
    assert!(Route::enter(&mut request, now()).is_none());
    assert!(request.extensions().is_empty());
}

#[test]
fn options_say_that_a_request_is_meant_for_the_account() {
    for (method, action) in [(Method::GET, Action::Read), (Method::POST, Action::Replace)] {
        let mut request = request(method, "/new/thing");
        request.extensions_mut().insert(OperationOptions::new());
        assert!(Route::concerns(&request));
        let route = Route::enter(&mut request, now()).unwrap().route;
        assert_eq!(route.operation(), Operation::new(action, Resource::Account));
    }
}

#[test]
fn the_rules_are_what_the_caller_asked_for() {
    let mut request = request(Method::PUT, "/dbs/d/colls/c/docs/1");
    request.extensions_mut().insert(
        OperationOptions::new()
            .exclude_regions(["East US", "west-us_3"])
            .unwrap()
            .exclude(region("Japan East"))
            .strict_exclusions(true)
            .retry_writes(false)
            .partition_key_range("17"),
    );
    let route = Route::enter(&mut request, now()).unwrap().route;
    let rules = route.rules();
    assert_eq!(
        rules.operation,
        Operation::new(Action::Replace, Resource::Item)
    );
    let excluded = ["East US", "West US 3", "Japan East"].map(region);
    assert_eq!(rules.excluded, excluded.into_iter().collect());
    assert!(rules.strict && !rules.retry_writes);
    assert_eq!(route.range(), Some(RangeId::new("17")));
}

#[test]
fn without_options_nothing_is_excluded_and_writes_are_repeated() {
    let route = Route::new(READ, None, now());
    let rules = route.rules();
    assert_eq!(rules.excluded, RegionSet::EMPTY);
    assert!(!rules.strict && rules.retry_writes);
    assert_eq!(route.range(), None);
    assert_eq!(route.deadline(), None);
}

#[test]
fn an_exclusion_that_names_no_region_is_an_error_and_never_lost() {
    let excluding = |name: &str| {
        OperationOptions::new()
            .exclude_regions(["East US", name])
            .err()
    };
    assert_eq!(excluding(" - "), Some(RegionError::Blank));
    assert_eq!(excluding(&"x".repeat(65)), Some(RegionError::TooLong));
    assert_eq!(excluding("westus3"), None);
}

#[test]
fn a_slot_is_filled_by_the_first_layer_and_again_by_the_next_operation() {
    let slot = JournalSlot::new();
    let options = OperationOptions::new().journal_slot(&slot);
    assert!(slot.journal().is_none());

    let first = Route::new(READ, Some(&options), now());
    made(&first, now(), answered(503, 0));
    let kept = slot.journal().unwrap();
    assert_eq!(kept.attempts().len(), 1);

    let second = Route::new(READ, Some(&options), now());
    let seen = || slot.journal().as_ref().map_or(99, Journal::retries);
    assert_eq!(slot.clone().journal().unwrap().attempts().len(), 0);
    made(&second, now(), answered(503, 0));
    made(&second, now(), answered(200, 0));
    assert_eq!(seen(), 1);
    assert_eq!(kept.attempts().len(), 1, "a journal stays what it was");
}

#[test]
fn a_slot_works_for_an_operation_that_was_dropped() {
    let slot = JournalSlot::new();
    let options = OperationOptions::new().journal_slot(&slot);
    let route = Route::new(READ, Some(&options), now());
    route.begin(now(), to("East US")).unwrap();
    drop(route);
    assert_eq!(slot.journal().unwrap().attempts().len(), 1);
}

#[test]
fn an_activity_id_is_made_once() {
    let route = Route::new(READ, None, now());
    let made = route.activity_id(|| HeaderValue::from_static("one"));
    let found = route
        .clone()
        .activity_id(|| HeaderValue::from_static("two"));
    assert_eq!(
        (made, found),
        (
            HeaderValue::from_static("one"),
            HeaderValue::from_static("one")
        )
    );
}

#[test]
fn a_repetition_pins_the_region_and_a_move_clears_the_pin() {
    let route = Route::new(READ, None, now());
    let id = route.begin(now(), to("East US")).unwrap();
    let before = Steering {
        pin: Some(region("West US 3")),
        first_choice: Some(region("Japan East")),
        avoid_shard: Some(3),
        reason: Reason::First,
        paid: Some(region("Japan East")),
        attempt: Some(id),
    };
    let again = before.again(region("East US"), Reason::Throttle);
    assert_eq!(again.pin, Some(region("East US")));
    assert_eq!(again.reason, Reason::Throttle);
    let onward = before.onward(Reason::Failover);
    assert_eq!((onward.pin, onward.reason), (None, Reason::Failover));
    for steering in [again, onward] {
        assert_eq!(steering.first_choice, Some(region("Japan East")));
        assert_eq!((steering.avoid_shard, steering.attempt), (None, None));
    }
}
