//! A region that accepts and never answers, and callers that give up.

use std::sync::Arc;

use cosmos_core::{FailureKind, OperationOptions, Outcome, Phase};
use cosmos_testbed::embedded::{FaultKind, WriteMode};
use cosmos_tests::{ms, with};

use crate::harness::{
    A, ATTEMPT, B, BOTH, SLACK, World, all_succeeded, at, attempts, eventually, execute, mixed,
    no_slot_is_left, read, regions, upsert,
};
use crate::operations::kinds;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_region_costs_an_operation_at_most_one_attempt_limit() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        all_succeeded("before", &world.send_all(&client, mixed(4)).await);
        world.fault(A, FaultKind::Hang).await;
        let seen = world.send_all(&client, mixed(30)).await;
        all_succeeded("hanging", &seen);
        for seen in &seen {
            let at_a: Vec<_> = attempts(seen).into_iter().filter(|a| at(a, A)).collect();
            let [hung] = &at_a[..] else {
                panic!("{:?}", seen.journal);
            };
            assert_eq!(hung.outcome, Outcome::Failed(FailureKind::AttemptTimeout));
            let took = hung.duration.unwrap();
            assert!((ATTEMPT..ATTEMPT + SLACK).contains(&took), "{took:?}");
        }
        no_slot_is_left(&client).await;
        world.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_gives_up_leaves_nothing_behind_and_nothing_is_sent_for_it() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        all_succeeded("before", &world.send_all(&client, mixed(4)).await);
        world.fault(A, FaultKind::Hang).await;
        let before = world.data();
        let calls: Vec<_> = mixed(20)
            .map(|request| {
                let (world, client) = (Arc::clone(&world), client.clone());
                tokio::spawn(async move { world.send(&client, request).await })
            })
            .collect();
        eventually("every request arrives", || async {
            world.data() == before + 20
        })
        .await;
        for call in &calls {
            call.abort();
        }
        for call in calls {
            assert!(call.await.unwrap_err().is_cancelled());
        }
        no_slot_is_left(&client).await;
        // An operation that begins later ends before which late ones would have been seen.
        let options = OperationOptions::new().exclude_regions([A]).unwrap();
        let last = world.send(&client, with(read(), options)).await;
        assert_eq!(regions(&last), [B]);
        tokio::time::sleep(ms(200)).await;
        assert_eq!(world.data(), before + 21, "{}", world.wire());
        let abandoned = world
            .journals()
            .iter()
            .flat_map(cosmos_core::Journal::attempts)
            .filter(|attempt| attempt.outcome == Outcome::Abandoned)
            .inspect(|attempt| assert_eq!(attempt.phase, Phase::Sent))
            .count();
        assert_eq!(abandoned, 20);
        world.check();
    }
}

/// Dropped at any point: the count of slots comes back to zero.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_that_give_up_at_any_point_leave_nothing_behind() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        let mut random = 0x2545_f491_u32;
        for round in 0..400 {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            let polls = random % 12;
            let mut call = std::pin::pin!(world.send(&client, upsert(round % 8)));
            for _ in 0..polls {
                if futures::poll!(call.as_mut()).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        no_slot_is_left(&client).await;
        all_succeeded("after", &world.send_all(&client, mixed(20)).await);
        no_slot_is_left(&client).await;
        world.check();
    }
}

#[tokio::test]
async fn a_deadline_that_passes_in_a_hanging_region_is_408_20008() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.builder(protocol).timeout(ms(250)).build().unwrap();
        for region in [A, B, crate::harness::C] {
            world.fault(region, FaultKind::Hang).await;
        }
        // The regions become known first; then every kind of operation hangs.
        client.account().refresh().await;
        let kinds = kinds()
            .into_iter()
            .map(|(_, request, _)| request.build().unwrap());
        let began = tokio::time::Instant::now();
        for seen in world.send_all(&client, kinds.chain([execute()])).await {
            let status = seen.status();
            assert_eq!((status.code(), status.substatus()), (408, 20008));
            assert!(seen.journal.unwrap().deadline_expired());
        }
        let took = began.elapsed();
        assert!((ms(250)..ms(250) + SLACK).contains(&took), "{took:?}");
        no_slot_is_left(&client).await;
        world.check();
    }
}
