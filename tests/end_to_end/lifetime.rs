//! Closing a client, and dropping it.

use cosmos_client::Protocol;
use cosmos_core::FailureKind;
use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultScope, WriteMode};
use cosmos_tests::{ms, s};
use futures::future::{join, join_all};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::harness::{A, BOTH, World, all_succeeded, eventually, mixed, read, upsert};

#[tokio::test]
async fn a_closed_client_and_its_clones_refuse_at_once() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Single).await;
        let client = world.client(protocol);
        let clone = client.clone();
        all_succeeded("open", &world.send_all(&clone, mixed(8)).await);
        let before = world.data();
        client.close();
        for closed in [&client, &clone, &client.clone()] {
            assert!(closed.is_closed());
            for seen in world.send_all(closed, mixed(2)).await {
                assert_eq!(seen.error().kind(), FailureKind::ClientClosed);
            }
        }
        assert_eq!(world.data(), before);
        world.check();
    }
}

#[tokio::test]
async fn a_client_that_is_closed_before_it_knows_the_regions_refuses_at_once() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Single).await;
        world
            .set(FaultRule::new(FaultScope::Global, FaultKind::Hang))
            .await;
        let client = world
            .builder(protocol)
            .account(|account| account.read_timeout(s(60)))
            .timeout(s(60))
            .build()
            .unwrap();
        // One is waiting for the regions already.
        let waiting = world.send(&client, read());
        let (waited, ()) = join(waiting, async {
            eventually("the account is read", || async {
                world.account.global_counts().account_reads > 0
            })
            .await;
            client.close();
            let began = Instant::now();
            let seen = world.send(&client.clone(), upsert(1)).await;
            assert_eq!(seen.error().kind(), FailureKind::ClientClosed);
            assert!(began.elapsed() < ms(200));
            world.account.faults().clear_all().await;
            // A hung request is never answered; this ends it.
            world
                .set(FaultRule::new(
                    FaultScope::Global,
                    FaultKind::RefuseConnections,
                ))
                .await;
        })
        .await;
        assert_eq!(waited.error().kind(), FailureKind::ClientClosed);
        assert_eq!(world.data(), 0);
        world.check();
    }
}

#[tokio::test]
async fn operations_under_way_send_nothing_more_once_the_client_is_closed() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        all_succeeded("open", &world.send_all(&client, mixed(4)).await);
        world.fault(A, FaultKind::Hang).await;
        let before = world.data();
        let (seen, ()) = join(world.send_all(&client, mixed(8)), async {
            eventually("all are sent", || async { world.data() == before + 8 }).await;
            client.close();
        })
        .await;
        for seen in seen {
            assert!(seen.result.is_err(), "{seen:?}");
        }
        assert_eq!(world.data(), before + 8);
        world.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_clients_leave_no_task_and_no_connection() {
    let world = World::start(WriteMode::Multi).await;
    // The account's own tasks: one for each connection, too.
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for protocol in BOTH {
        for batch in 0..20 {
            let clients: Vec<_> = (0..25).map(|_| world.client(protocol)).collect();
            let used = clients.iter().step_by(2);
            let seen = join_all(used.map(|client| world.send(client, read()))).await;
            all_succeeded("used", &seen);
            if batch % 5 == 4 {
                // Dropped with a call under way, or just over.
                let _ = futures::poll!(Box::pin(world.send(&clients[0], upsert(1))));
            }
        }
    }
    eventually("every task ends", || async { tasks() <= before }).await;
    world.check();
}

#[tokio::test]
async fn a_client_that_is_dropped_while_it_waits_for_the_regions_leaves_no_task() {
    let world = World::start(WriteMode::Single).await;
    world
        .set(FaultRule::new(FaultScope::Global, FaultKind::Hang))
        .await;
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for _ in 0..20 {
        let client = world.client(Protocol::Http2);
        let waited = tokio::time::timeout(ms(2), world.send(&client, read())).await;
        assert!(waited.is_err());
    }
    world.account.faults().clear_all().await;
    eventually("every task ends", || async { tasks() <= before }).await;
    world.check();
}
