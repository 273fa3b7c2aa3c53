//! What the servers' own headers say of partitions, and that nothing depends on their being there.

use cosmos_core::requests;
use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultedRequests, WriteMode};
use cosmos_tests::{ms, with};
use http::header::{ETAG, IF_NONE_MATCH};
use http_body_util::BodyExt;
use serde_json::Value;

use crate::harness::{
    A, B, World, all_succeeded, for_both, is_lookup, lookups, read_container, regions, status,
};
use crate::partitions::{Keys, range, range_of, read_of, write_of};

const RANGE: &str = "x-ms-documentdb-partitionkeyrangeid";
const CONTENT_PATH: &str = "x-ms-content-path";

#[tokio::test]
async fn answers_name_their_range_and_their_container() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        let (name, keys, _) = Keys::of(&world).await.parted();
        let container = world.send(&client, read_container()).await.result.unwrap();
        let body = container.into_body().collect().await.unwrap().to_bytes();
        let rid = serde_json::from_slice::<Value>(&body).unwrap()["_rid"].clone();
        for request in [read_of(&keys[0]), write_of(&keys[0])] {
            let seen = world.send(&client, request).await;
            assert_eq!(range(&seen), Some(name.clone()));
            let headers = seen.result.as_ref().unwrap().headers();
            assert_eq!(headers[RANGE], *name);
            assert_eq!(headers[CONTENT_PATH], *rid.as_str().unwrap());
        }
        world.check();
    })
    .await;
}

#[tokio::test]
async fn the_map_of_ranges_has_an_etag_that_a_split_changes() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        let ranges = |etag: Option<http::HeaderValue>| async {
            let mut request = requests::read_partition_key_ranges("shop", "orders");
            if let Some(etag) = etag {
                request = request.header(IF_NONE_MATCH, etag);
            }
            let seen = world.send(&client, request.build().unwrap()).await;
            let response = seen.result.unwrap();
            (response.status().as_u16(), response.headers()[ETAG].clone())
        };
        let (code, before) = ranges(None).await;
        assert_eq!(code, 200);
        assert_eq!(ranges(Some(before.clone())).await, (304, before.clone()));
        let moves = world.account.moves();
        moves
            .split_partition("shop", "orders", 0, ms(1))
            .await
            .unwrap();
        let (code, after) = ranges(Some(before.clone())).await;
        assert_eq!(code, 200);
        assert_ne!(after, before);
        world.check();
    })
    .await;
}

/// The first operation reads the container for all; a map that is old costs one read of what has
/// changed, and no operation an attempt.
#[tokio::test]
async fn a_map_is_read_once_and_again_when_an_answer_names_another_range() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Single).await;
        let client = world.client(protocol);
        let keys = Keys::of(&world).await;
        let (parent, of_parent, _) = keys.parted();
        let requests = || keys.all().into_iter().map(|key| read_of(&key));
        all_succeeded("first", &world.send_all(&client, requests()).await);
        // Properties, ranges, and that there are no more of these.
        assert_eq!(lookups(&world), 3, "{}", world.wire());
        let moves = world.account.moves();
        let number = parent.parse().unwrap();
        moves
            .split_partition("shop", "orders", number, ms(1))
            .await
            .unwrap();
        // Well above what an operation would need to be told.
        for _ in 0..3 {
            let seen = world.send_all(&client, requests()).await;
            all_succeeded("after", &seen);
            assert!(seen.iter().all(|seen| regions(seen) == [A]));
        }
        crate::harness::eventually("the map is read", || async {
            let seen = world.send(&client, read_of(&of_parent[0])).await;
            all_succeeded("known", &[seen]);
            lookups(&world) == 5
        })
        .await;
        for key in keys.all() {
            let seen = world.send(&client, read_of(&key)).await;
            assert_eq!(range(&seen), Some(range_of(&world, &key).await));
        }
        assert_eq!(lookups(&world), 5, "{}", world.wire());
        world.check();
    })
    .await;
}

/// A container that cannot be read: its circuits are kept for all of it, and nothing fails for that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_go_on_without_a_partition_while_containers_cannot_be_read() {
    for kind in [
        status(503, 0),
        status(404, 0),
        FaultKind::Hang,
        FaultKind::CutBody,
    ] {
        let kind = &kind;
        for_both(|protocol| async move {
            let world = World::start(WriteMode::Multi).await;
            let client = world.client(protocol);
            let keys = Keys::of(&world).await;
            client.account().refresh().await;
            for region in [A, B, crate::harness::C] {
                let rule = FaultRule::at(region, kind.clone());
                world.set(rule.requests(FaultedRequests::Metadata)).await;
            }
            let requests = || keys.all().into_iter().map(|key| read_of(&key));
            for _ in 0..2 {
                let seen = world.send_all(&client, requests()).await;
                all_succeeded(&format!("{kind:?}"), &seen);
                for seen in &seen {
                    assert_eq!(regions(seen), [A], "{kind:?}");
                    assert!(seen.journal.as_ref().unwrap().range_problem().is_some());
                }
            }
            world.account.faults().clear_all().await;
            crate::harness::eventually("it is read", || async {
                range(&world.send(&client, read_of("key0")).await).is_some()
            })
            .await;
            world.check();
        })
        .await;
    }
}

/// The caller's word is not looked up.
#[tokio::test]
async fn a_client_without_lookup_sends_nothing_of_its_own() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let client = world
            .builder(protocol)
            .partition_lookup(false)
            .build()
            .unwrap();
        let (name, keys, _) = Keys::of(&world).await.parted();
        let seen = world.send(&client, read_of(&keys[0])).await;
        assert_eq!(range(&seen), None);
        let options = cosmos_core::OperationOptions::new().partition_key_range(&*name);
        let named = world.send(&client, with(read_of(&keys[0]), options)).await;
        assert_eq!(range(&named), Some(name));
        all_succeeded("without", &[seen, named]);
        assert!(!world.account.wire_log().iter().any(is_lookup));
        world.check();
    })
    .await;
}
