//! Layers that are not ours, in between: they time out, retry and limit, and nothing misbehaves.

use std::time::Duration;

use cosmos_core::{FailureKind, Outcome, Reason};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::foreign::Again;
use cosmos_tests::{Req, Res, account, boxed, create, execute, ms, read, send};
use tower::{BoxError, Layer};

use crate::kinds::{Kind, alone, leaf};

fn lab() -> (ScriptedAccount, tower_cosmos::Account) {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    (regions, account)
}

#[tokio::test(start_paused = true)]
async fn a_foreign_retry_inside_does_not_send_a_stored_procedure_twice() {
    for kind in [
        Kind::Failover,
        Kind::Throttle,
        Kind::Reconnect,
        Kind::Deadline,
    ] {
        let (regions, account) = lab();
        regions.script("A", [Step::status(500, 0)]);
        let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
        let retrying = boxed(tower::retry::RetryLayer::new(Again(3)).layer(placed));
        let stack = kind.wrap(&account, retrying);
        let seen = send(&stack, execute()).await;
        assert_eq!(regions.wire().len(), 1, "{kind:?}");
        assert_eq!(seen.error().kind(), FailureKind::MayHaveRun, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_foreign_retry_outside_begins_a_new_operation() {
    let (regions, account) = lab();
    regions.script("A", [Step::status(404, 0), Step::status(404, 0)]);
    let ours = alone(Kind::Failover, &account, leaf(&regions));
    let stack = boxed(tower::retry::RetryLayer::new(Again(2)).layer(ours));
    let seen = send(&stack, read()).await;
    assert!(seen.status().is_success());
    assert_eq!(regions.wire().regions(), "A A A");
    assert_eq!(
        seen.journal.unwrap().attempts().len(),
        1,
        "the last operation's journal"
    );
}

#[tokio::test(start_paused = true)]
async fn an_attempt_sent_by_a_foreign_layer_says_so() {
    let (regions, account) = lab();
    regions.script("A", [Step::status(404, 0)]);
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let retrying = boxed(tower::retry::RetryLayer::new(Again(1)).layer(placed));
    let stack = Kind::Failover.wrap(&account, retrying);
    let journal = send(&stack, read()).await.journal.unwrap();
    let reasons: Vec<_> = journal
        .attempts()
        .iter()
        .map(|attempt| attempt.reason)
        .collect();
    assert_eq!(reasons, [Reason::First, Reason::Foreign]);
}

#[tokio::test(start_paused = true)]
async fn a_foreign_timeout_inside_is_an_ambiguous_failure_that_moves_and_marks() {
    let (regions, account) = lab();
    regions.script("A", [Step::hang().forever()]);
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let timed = boxed(tower::timeout::TimeoutLayer::new(Duration::from_secs(1)).layer(placed));
    let stack = Kind::Failover.wrap(&account, timed);
    let seen = send(&stack, create()).await;
    assert!(seen.status().is_success());
    assert_eq!(regions.wire().regions(), "A B");
    let journal = seen.journal.unwrap();
    assert_eq!(
        journal.attempts()[0].outcome,
        Outcome::Failed(FailureKind::Lost)
    );
    // The write side is marked, as if the endpoint layer had seen the failure itself.
    assert!(send(&stack, create()).await.status().is_success());
    assert_eq!(regions.wire().regions(), "A B B");
}

#[tokio::test(start_paused = true)]
async fn a_foreign_error_without_an_attempt_is_passed_on() {
    let (regions, account) = lab();
    let broken = boxed(tower::service_fn(|_: Req| async {
        Err::<Res, BoxError>("broken before anything was sent".into())
    }));
    for kind in [
        Kind::Failover,
        Kind::Throttle,
        Kind::Reconnect,
        Kind::Deadline,
    ] {
        let stack = kind.wrap(&account, broken.clone());
        let error = send(&stack, read()).await.result.unwrap_err();
        assert_eq!(error.to_string(), "broken before anything was sent");
    }
    assert!(regions.wire().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_foreign_layer_in_any_position_breaks_nothing() {
    let foreign: [fn(cosmos_tests::Stack) -> cosmos_tests::Stack; 4] = [
        |inner| boxed(tower::timeout::TimeoutLayer::new(Duration::from_secs(60)).layer(inner)),
        |inner| boxed(tower::limit::ConcurrencyLimitLayer::new(3).layer(inner)),
        |inner| boxed(tower::load_shed::LoadShedLayer::new().layer(inner)),
        |inner| boxed(tower::buffer::BufferLayer::new(8).layer(inner)),
    ];
    for position in 0..=Kind::ORDERED.len() {
        for wrap in foreign {
            let (regions, account) = lab();
            account.refresh().await;
            regions.script("A", [Step::status(429, 0).hint("5"), Step::status(503, 0)]);
            let mut stack = Kind::Endpoint.wrap(&account, leaf(&regions));
            for (index, kind) in Kind::ORDERED.iter().rev().enumerate() {
                if index == position {
                    stack = wrap(stack);
                }
                stack = kind.wrap(&account, stack);
            }
            if position == Kind::ORDERED.len() {
                stack = wrap(stack);
            }
            let seen = send(&stack, create()).await;
            assert!(seen.status().is_success(), "{position}");
            assert_eq!(regions.wire().regions(), "A A B", "{position}");
            assert_eq!(
                regions.wire().times_ms()[1],
                5 + regions.wire().times_ms()[0]
            );
            tokio::time::sleep(ms(1)).await;
        }
    }
}
