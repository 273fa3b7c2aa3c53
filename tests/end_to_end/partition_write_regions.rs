//! The service moves the writes of one partition to another region.

use cosmos_client::CosmosClient;
use cosmos_core::Status;
use cosmos_testbed::embedded::WriteMode;

use crate::harness::{
    A, B, C, World, all_succeeded, eventually, for_both, no_slot_is_left, regions,
};
use crate::load::Load;
use crate::partitions::{Keys, read_of, write_of};

async fn flag(world: &World, client: &CosmosClient, on: bool) {
    world.account.moves().set_per_partition_failover(on);
    eventually("the flag is known", || async {
        client.account().refresh().await;
        let topology = client.account().topology().unwrap();
        topology.has_per_partition_failover() == on
    })
    .await;
}

async fn write(world: &World, client: &CosmosClient, key: &str) -> Vec<&'static str> {
    let seen = world.send(client, write_of(key)).await;
    all_succeeded("the write", std::slice::from_ref(&seen));
    regions(&seen)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_follow_a_partition_that_moved_while_the_accounts_flag_is_on() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Single).await;
        let client = world.client(protocol);
        let (range, moved, others) = Keys::of(&world).await.parted();
        assert_eq!(write(&world, &client, &moved[0]).await, [A]);
        flag(&world, &client, true).await;
        let account = world.account.moves();
        for region in [B, C] {
            account
                .reassign_range("shop", "orders", &range, region)
                .unwrap();
            let found = write(&world, &client, &moved[0]).await;
            assert_eq!(found.last(), Some(&region), "{found:?}");
            // From then on straight there, whatever the partition key; the others stay.
            for key in &moved {
                assert_eq!(write(&world, &client, key).await, [region]);
                let seen = world.send(&client, read_of(key)).await;
                assert_eq!(regions(&seen), [A], "reads stay");
            }
            for key in &others {
                assert_eq!(write(&world, &client, key).await, [A]);
            }
            assert_eq!(client.write_regions().len(), 1);
        }
        // Back home, and found there.
        assert!(account.restore_range("shop", "orders", &range));
        let found = write(&world, &client, &moved[0]).await;
        assert_eq!(found, [C, A]);
        assert_eq!(write(&world, &client, &moved[0]).await, [A]);
        assert!(client.write_regions().is_empty());
        no_slot_is_left(&client).await;
        world.check();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_fails_while_a_partition_moves_under_load() {
    for_both(|protocol| async move {
        let world = World::with(|account| account.per_partition_failover(true)).await;
        let client = world.client(protocol);
        let keys = Keys::of(&world).await;
        let (range, moved, _) = keys.parted();
        let all = keys.all();
        assert_eq!(write(&world, &client, &moved[0]).await, [A]);
        // A load for each move: an operation has three further tries, which a second move in the
        // middle of it can use up.
        for region in [B, C, A] {
            let all = all.clone();
            let load = Load::start(&world, &client, move |n| write_of(&all[n % all.len()]));
            world
                .account
                .moves()
                .reassign_range("shop", "orders", &range, region)
                .unwrap();
            eventually("writes follow", || async {
                write(&world, &client, &moved[0]).await == [region]
            })
            .await;
            load.none_failed("while it moved").await;
        }
        world.check();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_remembered_is_forgotten_once_the_accounts_flag_is_off() {
    for_both(|protocol| async move {
        let world = World::with(|account| account.per_partition_failover(true)).await;
        let client = world.client(protocol);
        let (range, moved, _) = Keys::of(&world).await.parted();
        let account = world.account.moves();
        account.reassign_range("shop", "orders", &range, B).unwrap();
        assert_eq!(write(&world, &client, &moved[0]).await.last(), Some(&B));
        assert_eq!(write(&world, &client, &moved[0]).await, [B]);
        flag(&world, &client, false).await;
        assert!(client.write_regions().is_empty());
        // The hub is all that is asked, and says what it says.
        let seen = world.send(&client, write_of(&moved[0])).await;
        assert_eq!(seen.status(), Status::WRITE_FORBIDDEN);
        assert!(regions(&seen).iter().all(|region| *region == A));
        assert!(account.restore_range("shop", "orders", &range));
        eventually("writes are back", || async {
            let seen = world.send(&client, write_of(&moved[0])).await;
            seen.status().is_success() && regions(&seen) == [A]
        })
        .await;
        world.check();
    })
    .await;
}

/// A client that has it switched off asks the hub alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_without_per_partition_failover_stays_with_the_hub() {
    for_both(|protocol| async move {
        let world = World::with(|account| account.per_partition_failover(true)).await;
        let client = world
            .builder(protocol)
            .per_partition_failover(false)
            .build()
            .unwrap();
        let (range, moved, _) = Keys::of(&world).await.parted();
        let account = world.account.moves();
        account.reassign_range("shop", "orders", &range, B).unwrap();
        let seen = world.send(&client, write_of(&moved[0])).await;
        assert_eq!(seen.status(), Status::WRITE_FORBIDDEN);
        assert!(regions(&seen).iter().all(|region| *region == A));
        world.check();
    })
    .await;
}
