//! The account moves while clients read and write.

use std::sync::Arc;
use std::time::Duration;

use cosmos_client::{CosmosClient, Protocol};
use cosmos_testbed::embedded::WriteMode;
use cosmos_tests::{ms, s};
use tokio::time::Instant;

use crate::harness::{
    A, B, C, INTERVAL, World, all_succeeded, eventually, for_both, named, no_slot_is_left, read,
    regions, upsert,
};
use crate::load::Load;

fn writers(client: &CosmosClient) -> usize {
    client
        .account()
        .topology()
        .map_or(0, |topology| topology.writable().count())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_operation_fails_while_an_announced_failover_takes_its_steps() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Single).await;
        let client = world
            .builder(protocol)
            .account(|account| account.background_period(ms(200)))
            .build()
            .unwrap();
        let moves = world.account.moves();
        world.settles_at(&client, A, || upsert(1)).await;
        let (writes, reads) = (Load::writes(&world, &client), Load::reads(&world, &client));
        moves.announce_failover(B).unwrap();
        eventually("both are listed", || async { writers(&client) == 2 }).await;
        moves.begin_failover(B).unwrap();
        world.settles_at(&client, B, || upsert(1)).await;
        moves.complete_failover();
        eventually("one is listed", || async { writers(&client) == 1 }).await;
        writes.none_failed("writes").await;
        reads.none_failed("reads").await;
        let after = world.send(&client, upsert(1)).await;
        assert_eq!(regions(&after), [B]);
        no_slot_is_left(&client).await;
        world.check();
    })
    .await;
}

/// Nothing reads the account document in between: the first 403/3 has it read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_operation_fails_in_a_failover_that_the_client_hears_of_by_403_3() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Single).await;
        let client = world.client(protocol);
        let moves = world.account.moves();
        world.settles_at(&client, A, || upsert(1)).await;
        let (writes, reads) = (Load::writes(&world, &client), Load::reads(&world, &client));
        // The document may be read again.
        tokio::time::sleep(INTERVAL).await;
        moves.announce_failover(B).unwrap();
        moves.begin_failover(B).unwrap();
        world.settles_at(&client, B, || upsert(1)).await;
        moves.complete_failover();
        let began = Instant::now();
        eventually("some more", || async { began.elapsed() > 2 * INTERVAL }).await;
        writes.none_failed("writes").await;
        reads.none_failed("reads").await;
        world.check();
    })
    .await;
}

/// Writes that began longer after a failover than this do not fail.
async fn writes_follow_the_hub(world: &Arc<World>, client: &CosmosClient, recovery: Duration) {
    world.settles_at(client, A, || upsert(1)).await;
    let (writes, reads) = (Load::writes(world, client), Load::reads(world, client));
    world.account.moves().fail_over(B).unwrap();
    let moved = Instant::now();
    world.settles_at(client, B, || upsert(1)).await;
    assert!(moved.elapsed() <= recovery, "{:?}", moved.elapsed());
    let at_b = Instant::now();
    eventually("some more", || async { at_b.elapsed() > ms(300) }).await;
    reads.none_failed("reads").await;
    let writes = writes.stop().await;
    let late: Vec<_> = writes
        .into_iter()
        .filter(|(began, _)| *began >= at_b)
        .map(|(_, seen)| seen)
        .collect();
    assert!(!late.is_empty());
    all_succeeded("writes", &late);
    assert!(late.iter().all(|seen| regions(seen) == [B]));
    no_slot_is_left(client).await;
    world.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_follow_a_failover_at_once_within_the_refresh_interval() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Single).await;
        let client = world.client(protocol);
        writes_follow_the_hub(&world, &client, INTERVAL + s(1)).await;
    })
    .await;
}

/// The account document was read just now, so this takes all of the five seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_default_settings_writes_follow_a_failover_within_six_seconds() {
    let world = World::start(WriteMode::Single).await;
    let endpoint = world.account.endpoint();
    let client = CosmosClient::builder(endpoint, world.credential())
        .build()
        .unwrap();
    writes_follow_the_hub(&world, &client, s(6)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_is_removed_and_added_again_costs_no_operation() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let client = world
            .builder(protocol)
            .preferred_regions([B, A])
            .account(|account| account.background_period(ms(200)))
            .build()
            .unwrap();
        let moves = world.account.moves();
        world.settles_at(&client, B, read).await;
        let (writes, reads) = (Load::writes(&world, &client), Load::reads(&world, &client));
        moves.begin_removal(B).unwrap();
        world.settles_at(&client, A, read).await;
        moves.remove_region(B).unwrap();
        let lists = |region| {
            let topology = client.account().topology().unwrap();
            topology.lists(named(region))
        };
        eventually("B has left", || async { !lists(B) }).await;
        let seen = world.send(&client, read()).await;
        assert_eq!(regions(&seen), [A]);
        moves.add_region(B).unwrap();
        world.settles_at(&client, B, read).await;
        world.settles_at(&client, B, || upsert(1)).await;
        writes.none_failed("writes").await;
        reads.none_failed("reads").await;
        world.check();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_goes_offline_and_comes_back_costs_no_operation() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let client = world
            .builder(protocol)
            .preferred_regions([B, A])
            .account(|account| account.background_period(ms(200)))
            .build()
            .unwrap();
        let moves = world.account.moves();
        world.settles_at(&client, B, read).await;
        let (writes, reads) = (Load::writes(&world, &client), Load::reads(&world, &client));
        moves.take_offline(B).await.unwrap();
        world.settles_at(&client, A, read).await;
        world.settles_at(&client, A, || upsert(1)).await;
        moves.bring_online(B).await.unwrap();
        world.settles_at(&client, B, read).await;
        world.settles_at(&client, B, || upsert(1)).await;
        writes.none_failed("writes").await;
        reads.none_failed("reads").await;
        world.check();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_goes_offline_is_followed_by_the_next_region() {
    let world = World::start(WriteMode::Single).await;
    let client = world.client(Protocol::Http2);
    world.settles_at(&client, A, || upsert(1)).await;
    let reads = Load::reads(&world, &client);
    world.account.moves().take_offline(A).await.unwrap();
    let hub = world.account.hub();
    world.settles_at(&client, &hub, || upsert(1)).await;
    reads.none_failed("reads").await;
    world.check();
}

#[tokio::test]
async fn a_preferred_region_is_used_once_the_account_has_it() {
    const D: &str = "Japan East";
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Single).await;
        let client = world
            .builder(protocol)
            .preferred_regions([D, C])
            .account(|account| account.background_period(ms(200)))
            .build()
            .unwrap();
        world.settles_at(&client, C, read).await;
        world.account.moves().add_region(D).unwrap();
        world.settles_at(&client, D, read).await;
        world.check();
    })
    .await;
}
