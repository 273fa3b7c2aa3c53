//! Partitions split and merge, and containers are replaced, while clients read and write.

use std::collections::BTreeSet;
use std::sync::Arc;

use cosmos_client::CosmosClient;
use cosmos_core::requests;
use cosmos_testbed::embedded::WriteMode;
use cosmos_tests::{Req, Seen, ms};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::harness::{
    A, B, World, all_succeeded, attempts, eventually, for_both, is_lookup, lookups,
    no_slot_is_left, regions, status,
};
use crate::load::Load;
use crate::partitions::{Keys, range, range_of, read_of, revision_of, write_of};

/// Reads and writes of all keys in turn.
fn load(world: &Arc<World>, client: &CosmosClient, keys: &Keys) -> [Load; 2] {
    [read_of, write_of].map(|request: fn(&str) -> Req| {
        let keys = keys.all();
        Load::start(world, client, move |number| {
            request(&keys[number % keys.len()])
        })
    })
}

/// The client takes every key to be in the range where the servers have it, before it is told by the
/// answer: operations are for their range, attempts need no other one.
async fn knows_every_range(world: &World, client: &CosmosClient, keys: &Keys) {
    for key in keys.all() {
        let seen = world.send(client, read_of(&key)).await;
        assert_eq!(range(&seen), Some(range_of(world, &key).await), "{key}");
        assert_eq!(attempts(&seen).len(), 1);
    }
}

async fn none_failed(what: &str, load: [Load; 2]) {
    for load in load {
        load.none_failed(what).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_operation_fails_while_a_partition_splits() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        let keys = Keys::of(&world).await;
        let (parent, of_parent, _) = keys.parted();
        knows_every_range(&world, &client, &keys).await;
        let load = load(&world, &client, &keys);
        let moves = world.account.moves();
        let number = parent.parse().unwrap();
        let split = moves.split_partition("shop", "orders", number, ms(400));
        let children: BTreeSet<_> = split.await.unwrap().iter().map(u32::to_string).collect();
        eventually("both children are known", || async {
            let seen = world.send_all(&client, of_parent.iter().map(|key| read_of(key)));
            let known = seen.await.iter().filter_map(range).collect::<BTreeSet<_>>();
            known == children
        })
        .await;
        none_failed("while it split", load).await;
        knows_every_range(&world, &client, &keys).await;
        assert_eq!(
            client.circuits().counters().trips,
            0,
            "a split is no sickness"
        );
        no_slot_is_left(&client).await;
        world.check();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_operation_fails_while_partitions_merge() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        let keys = Keys::of(&world).await;
        knows_every_range(&world, &client, &keys).await;
        let load = load(&world, &client, &keys);
        let moves = world.account.moves();
        let merge = moves.merge_partitions("shop", "orders", (0, 1), ms(400));
        let child = merge.await.unwrap().to_string();
        eventually("the child is known", || async {
            let requests = keys.all().into_iter().map(|key| read_of(&key));
            let seen = world.send_all(&client, requests).await;
            seen.iter().all(|seen| range(seen) == Some(child.clone()))
        })
        .await;
        none_failed("while they merged", load).await;
        knows_every_range(&world, &client, &keys).await;
        no_slot_is_left(&client).await;
        world.check();
    })
    .await;
}

/// Whatever was kept of the old container's partitions goes with it, although their ids are the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_that_is_replaced_under_load_is_known_by_its_answers() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        let keys = Keys::of(&world).await;
        knows_every_range(&world, &client, &keys).await;
        let all = keys.all();
        let writes = Load::start(&world, &client, move |n| write_of(&all[n % all.len()]));
        let moves = world.account.moves();
        let before = lookups(&world);
        let replaced = moves.replace_container("shop", "orders", "/pk", 5);
        replaced.await.unwrap();
        eventually("it is read again", || async { lookups(&world) > before }).await;
        eventually("every range is known", || async {
            let mut known = BTreeSet::new();
            for key in keys.all() {
                let seen = world.send(&client, write_of(&key)).await;
                let range = range(&seen);
                if range != Some(range_of(&world, &key).await) || attempts(&seen).len() != 1 {
                    return false;
                }
                known.extend(range);
            }
            known.len() > 2
        })
        .await;
        writes.none_failed("while it was replaced").await;
        knows_every_range(&world, &client, &keys).await;
        // One read of each kind for all who ask, not one for every operation.
        let log = world.account.wire_log();
        let reads = log
            .iter()
            .filter(|e| is_lookup(e) && !e.path.ends_with("pkranges"));
        assert!(reads.count() <= 4, "{}", world.wire());
        world.check();
    })
    .await;
}

/// The circuit was of a partition of the old container.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_that_a_client_deletes_and_makes_again_starts_healthy() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let breaker = crate::harness::breaker().first_wait(cosmos_tests::s(3600));
        let client = world
            .builder(protocol)
            .circuit_breaker(breaker)
            .build()
            .unwrap();
        let (range, keys, _) = Keys::of(&world).await.parted();
        let rule = cosmos_testbed::embedded::FaultRule::at(A, status(503, 0)).range(&*range);
        let fault = world.set(rule).await;
        while client.circuits().counters().open == 0 {
            all_succeeded("sick", &[world.send(&client, read_of(&keys[0])).await]);
        }
        assert!(world.account.faults().clear(fault).await);
        let definition = json!({
            "id": "orders",
            "partitionKey": { "paths": ["/pk"], "kind": "Hash", "version": 2 }
        });
        for request in [
            requests::delete_container("shop", "orders"),
            requests::create_container("shop", definition),
        ] {
            let seen = world.send(&client, request.build().unwrap()).await;
            all_succeeded("the container", &[seen]);
        }
        let seen = world.send(&client, write_of(&keys[0])).await;
        assert_eq!(regions(&seen), [A], "{:?}", client.circuits().list());
        all_succeeded("the new container", &[seen]);
        world.check();
    })
    .await;
}

fn revision(seen: Seen) -> Option<u64> {
    let body = seen.result.ok()?.into_body();
    let body = futures::executor::block_on(body.collect()).ok()?.to_bytes();
    serde_json::from_slice::<Value>(&body).ok()?["revision"].as_u64()
}

/// The token of the parent is what its children are asked with.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_reads_its_own_write_after_a_split_whether_its_region_lags_or_not() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Single).await;
        // B is preferred, and A is the hub: what A has written is in B only once it is replicated.
        let client = world
            .builder(protocol)
            .preferred_regions([B, A])
            .build()
            .unwrap();
        let (parent, keys, _) = Keys::of(&world).await.parted();
        let moves = world.account.moves();
        for key in &keys {
            all_succeeded("before", &[world.send(&client, read_of(key)).await]);
        }
        for (number, key) in keys.iter().enumerate() {
            let write = world
                .send(&client, revision_of(key, 10 + number as u64))
                .await;
            all_succeeded("the write", &[write]);
        }
        let number = parent.parse().unwrap();
        moves
            .split_partition("shop", "orders", number, ms(50))
            .await
            .unwrap();
        for (number, key) in keys.iter().enumerate() {
            let seen = world.send(&client, read_of(key)).await;
            assert_eq!(revision(seen), Some(10 + number as u64), "{key}");
        }
        // Now the region lags: the children's own writes are found in the hub.
        moves.pause_replication(B).unwrap();
        for (number, key) in keys.iter().enumerate() {
            let write = world
                .send(&client, revision_of(key, 20 + number as u64))
                .await;
            all_succeeded("the write", &[write]);
            let seen = world.send(&client, read_of(key)).await;
            assert_eq!(regions(&seen), [B, A], "{:?}", seen.journal);
            assert_eq!(revision(seen), Some(20 + number as u64), "{key}");
        }
        moves.resume_replication(B).await.unwrap();
        for (number, key) in keys.iter().enumerate() {
            let seen = world.send(&client, read_of(key)).await;
            assert_eq!(regions(&seen), [B], "{:?}", seen.journal);
            assert_eq!(revision(seen), Some(20 + number as u64), "{key}");
        }
        world.check();
    })
    .await;
}
