//! The journal tells what happened on the wire.

use cosmos_core::{Outcome, Phase, Reason};
use cosmos_testbed::embedded::Endpoint;
use cosmos_testbed::embedded::{
    FaultKind, FaultRule, FaultedRequests, Outcome as Served, WriteMode,
};

use crate::harness::{
    A, B, BOTH, C, World, all_succeeded, at, attempts, is_lookup, mixed, named, no_slot_is_left,
    read, regions, status, upsert,
};

/// The data requests that a region saw, oldest first: how each was answered, if it was.
fn served(world: &World, region: &str) -> Vec<Option<(u16, u32)>> {
    let log = world.account.wire_log().into_iter();
    log.filter(|entry| entry.endpoint == Endpoint::region(region))
        .filter(|entry| entry.path != "/" && !is_lookup(entry))
        .map(|entry| match entry.outcome {
            Served::Answered { status, substatus } => Some((status, substatus)),
            _ => None,
        })
        .collect()
}

/// One operation after the other: per region, the attempts are what the region saw.
#[tokio::test]
async fn the_attempts_of_a_region_are_what_the_region_saw() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        let mut all = Vec::new();
        let steps = [
            (A, status(503, 21008), 2),
            (A, FaultKind::Throttle { retry_after_ms: 5 }, 3),
            (B, status(500, 0), 2),
            (A, FaultKind::ResetAfterRequest, 2),
            (A, FaultKind::LoseAnswer, 2),
            (A, FaultKind::Hang, 1),
            (B, status(408, 0), 1),
        ];
        for (region, kind, times) in steps {
            let rule = FaultRule::at(region, kind).requests(FaultedRequests::Data);
            world.set(rule.times(times)).await;
            for request in mixed(6) {
                let seen = world.send(&client, request).await;
                all_succeeded("repaired", std::slice::from_ref(&seen));
                all.extend(attempts(&seen));
            }
        }
        assert!(
            all.windows(2)
                .all(|pair| pair[0].sequence < pair[1].sequence)
        );
        for region in [A, B, C] {
            let expected: Vec<_> = all
                .iter()
                .filter(|attempt| at(attempt, region))
                .map(|attempt| match attempt.outcome {
                    Outcome::Answered(status) => Some((status.code(), status.substatus())),
                    _ => None,
                })
                .collect();
            assert_eq!(
                served(&world, region),
                expected,
                "{region}\n{}",
                world.wire()
            );
        }
        no_slot_is_left(&client).await;
        world.check();
    }
}

#[tokio::test]
async fn every_attempt_names_its_connection_and_how_far_it_got() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        let healthy = world.send_all(&client, mixed(40)).await;
        world.fault(A, FaultKind::ResetAfterRequest).await;
        let broken = world.send(&client, read()).await;
        for attempt in healthy.iter().chain([&broken]).flat_map(attempts) {
            assert!(attempt.shard.is_some(), "{attempt:?}");
            assert_eq!(attempt.phase, Phase::Sent, "{attempt:?}");
        }
        assert_eq!(regions(&broken), [A, A, B]);
        let [first, reconnected, moved] = &attempts(&broken)[..] else {
            panic!("{broken:?}");
        };
        assert_eq!(
            [first.reason, reconnected.reason, moved.reason],
            [Reason::First, Reason::Reconnect, Reason::Failover]
        );
        assert_ne!(first.shard, reconnected.shard, "another connection");
        world.check();
    }
}

#[tokio::test]
async fn an_attempt_that_was_refused_was_not_sent() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        world.fault(A, FaultKind::RefuseConnections).await;
        let seen = world.send(&client, upsert(1)).await;
        let attempts = attempts(&seen);
        for refused in attempts.iter().filter(|attempt| at(attempt, A)) {
            assert_eq!(refused.phase, Phase::Connecting, "{refused:?}");
            assert!(refused.shard.is_some());
            assert!(matches!(refused.outcome, Outcome::Failed(kind) if kind.is_unreachable()));
        }
        let answered = attempts.last().unwrap();
        assert_eq!((answered.region, answered.phase), (named(B), Phase::Sent));
        assert!(!seen.journal.unwrap().may_have_been_applied());
        world.check();
    }
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_may_have_been_applied() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        let rule = FaultRule::at(A, FaultKind::LoseAnswer).requests(FaultedRequests::Data);
        world.set(rule.times(2)).await;
        let seen = world.send(&client, upsert(1)).await;
        assert!(seen.status().is_success());
        assert!(seen.journal.unwrap().may_have_been_applied());
        let stored = world
            .account
            .stored(A, "shop", "orders", r#"["p"]"#, "u1")
            .await
            .unwrap();
        assert!(stored.is_some());
        world.check();
    }
}

#[tokio::test]
async fn a_stored_procedure_that_may_have_run_runs_once() {
    for kind in [
        FaultKind::LoseAnswer,
        FaultKind::CutBody,
        FaultKind::ResetAfterRequest,
        FaultKind::Hang,
        status(503, 0),
        status(408, 0),
    ] {
        for protocol in BOTH {
            let world = World::start(WriteMode::Multi).await;
            let client = world.client(protocol);
            world.fault(A, kind.clone()).await;
            let seen = world.send(&client, crate::harness::execute()).await;
            assert_eq!(regions(&seen), [A], "{kind:?}");
            assert_eq!(world.data(), 1, "{kind:?}");
            assert!(world.account.procedure_executions().len() <= 1);
            world.check();
        }
    }
}
