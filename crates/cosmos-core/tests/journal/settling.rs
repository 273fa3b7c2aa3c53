//! Ends, drops, and who hears of them.

use std::sync::Arc;

use cosmos_core::{
    AttemptObserver, Begin, FailureKind, OperationOptions, Outcome, Phase, Reason, Route,
};

use crate::{Heard, READ, WRITE, answered, made, ms, now, outcomes, region, to};

const LOST: Outcome = Outcome::Failed(FailureKind::Lost);

#[test]
fn an_attempt_is_kept_as_it_was_begun_noted_and_ended() {
    let now = now();
    let route = Route::new(READ, None, now);
    let begin = Begin {
        reason: Reason::Session,
        sequence: 42,
        trial: true,
        ..Begin::new(region("West US 3"))
    };
    let id = route.begin(now + ms(5), begin).unwrap();
    let fresh = route.attempt(id).unwrap();
    assert_eq!(fresh.outcome, Outcome::InFlight);
    assert_eq!((fresh.shard, fresh.phase), (None, Phase::Unknown));
    assert_eq!(fresh.duration, None);

    route.note_phase(id, Phase::Sent);
    route.note_shard(id, 7);
    route.end(id, now + ms(12), answered(404, 1002));
    let ended = route.attempt(id).unwrap();
    assert_eq!(ended.region, region("West US 3"));
    assert_eq!((ended.reason, ended.sequence), (Reason::Session, 42));
    assert!(ended.trial && !ended.sole);
    assert_eq!((ended.shard, ended.phase), (Some(7), Phase::Sent));
    assert_eq!((ended.began, ended.duration), (now + ms(5), Some(ms(7))));
    assert_eq!(ended.outcome, answered(404, 1002));
}

#[test]
fn the_first_end_wins_and_is_told_once() {
    let now = now();
    let route = Route::new(WRITE, None, now);
    let heard = Heard::by(&route);
    let id = route.begin(now, to("East US")).unwrap();
    assert!(heard.outcomes().is_empty(), "beginning is not told");
    route.end(id, now + ms(3), answered(201, 0));
    route.end(id, now + ms(4), answered(503, 0));
    route.end(id, now + ms(5), Outcome::Abandoned);
    assert_eq!(outcomes(&route), [answered(201, 0)]);
    assert_eq!(route.attempt(id).unwrap().duration, Some(ms(3)));
    let told = heard.0.lock();
    let [(operation, attempt, at)] = told.as_slice() else {
        panic!("told {told:?}")
    };
    assert_eq!((*operation, *at), (WRITE, now + ms(3)));
    assert_eq!(
        (attempt.region, attempt.duration),
        (region("East US"), Some(ms(3)))
    );
}

#[test]
fn a_dropped_attempt_is_told_as_dropped_and_once_more_when_it_turns_out_to_be_a_failure() {
    let now = now();
    let route = Route::new(READ, None, now);
    let heard = Heard::by(&route);
    let position = route.position();
    made(&route, now, Outcome::Abandoned);
    assert_eq!(heard.outcomes(), [Outcome::Abandoned]);
    let last = route.conclude(position, now + ms(9)).unwrap();
    assert_eq!(last.outcome, LOST);
    assert_eq!(heard.outcomes(), [Outcome::Abandoned, LOST]);
    assert_eq!(heard.0.lock()[1].2, now + ms(9));
    // The layers outside conclude the same attempt, and tell nothing.
    assert_eq!(route.conclude(position, now + ms(9)).unwrap().outcome, LOST);
    assert_eq!(heard.outcomes().len(), 2);
}

#[test]
fn only_what_was_begun_under_the_call_is_settled() {
    let now = now();
    let route = Route::new(READ, None, now);
    made(&route, now, Outcome::Abandoned);
    let position = route.position();
    made(&route, now, Outcome::Abandoned);
    made(&route, now, answered(503, 0));
    made(&route, now, Outcome::Abandoned);
    made(&route, now, Outcome::Failed(FailureKind::Refused));
    let last = route.conclude(position, now).unwrap();
    assert_eq!(last.outcome, Outcome::Failed(FailureKind::Refused));
    assert_eq!(
        outcomes(&route),
        [
            Outcome::Abandoned,
            LOST,
            answered(503, 0),
            LOST,
            Outcome::Failed(FailureKind::Refused)
        ]
    );
}

#[test]
fn a_call_that_sent_nothing_has_no_attempt_and_settles_nothing() {
    let now = now();
    let route = Route::new(READ, None, now);
    assert!(route.conclude(route.position(), now).is_none());
    made(&route, now, Outcome::Abandoned);
    assert!(route.conclude(route.position(), now).is_none());
    assert_eq!(outcomes(&route), [Outcome::Abandoned]);
}

#[test]
fn an_attempt_under_way_is_not_settled() {
    let now = now();
    let route = Route::new(READ, None, now);
    let heard = Heard::by(&route);
    let position = route.position();
    let id = route.begin(now, to("East US")).unwrap();
    assert_eq!(
        route.conclude(position, now).unwrap().outcome,
        Outcome::InFlight
    );
    route.end(id, now, answered(200, 0));
    assert_eq!(
        route.conclude(position, now).unwrap().outcome,
        answered(200, 0)
    );
    assert_eq!(heard.outcomes(), [answered(200, 0)]);
}

#[test]
fn what_the_deadline_dropped_is_no_failure() {
    let now = now();
    let options = OperationOptions::new().timeout(ms(100));
    let route = Route::new(READ, Some(&options), now);
    let heard = Heard::by(&route);
    let position = route.position();
    made(&route, now, Outcome::Abandoned);
    assert_eq!(
        route.conclude(position, now + ms(100)).unwrap().outcome,
        Outcome::Abandoned
    );
    assert!(route.journal().deadline_expired());
    assert_eq!(heard.outcomes(), [Outcome::Abandoned]);
}

#[test]
fn the_first_account_that_was_met_hears_and_is_asked() {
    let now = now();
    let route = Route::new(READ, None, now);
    made(&route, now, answered(200, 0));
    assert!(route.lists(region("West US 3")), "no account was met");
    let heard = Heard::by(&route);
    let never_asked = || -> Arc<dyn AttemptObserver> { panic!("there is one already") };
    route.clone().observe(never_asked);
    made(&route.clone(), now, answered(404, 0));
    assert_eq!(heard.outcomes(), [answered(404, 0)]);
    assert!(route.lists(region("East US")));
    assert!(!route.lists(region("West US 3")));
}

#[test]
fn ids_of_another_operation_name_nothing() {
    let now = now();
    let long = Route::new(READ, None, now);
    made(&long, now, answered(503, 0));
    let second = made(&long, now, answered(503, 0));
    let short = Route::new(READ, None, now);
    short.end(second, now, answered(200, 0));
    short.note_shard(second, 1);
    short.note_phase(second, Phase::Sent);
    assert!(short.attempt(second).is_none());
    assert!(short.journal().attempts().is_empty());
}
