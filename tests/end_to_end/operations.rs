//! Every kind of operation, accepted as it was signed.

use cosmos_core::requests::{self, RequestBuilder};
use cosmos_testbed::embedded::WriteMode;
use serde_json::json;

use crate::harness::{A, B, BOTH, C, World, execute, key, read_container, regions};

/// Every kind of operation that the embedded account knows, and how it is answered, in this order.
pub(crate) fn kinds() -> Vec<(&'static str, RequestBuilder, u16)> {
    let (d, c, key) = ("shop", "orders", &key());
    let item = |text: &str| json!({ "id": "n", "pk": "p", "text": text });
    let patch = json!({ "operations": [{ "op": "set", "path": "/text", "value": "patched" }] });
    let batch = json!([
        { "operationType": "Upsert", "resourceBody": { "id": "b", "pk": "p" } },
        { "operationType": "Read", "id": "1" },
    ]);
    let query = requests::Query::new("SELECT * FROM c WHERE c.id = @id").parameter("@id", "1");
    vec![
        ("read", requests::read_item(d, c, "1", key), 200),
        ("head", requests::head_item(d, c, "1", key), 200),
        (
            "create",
            requests::create_item(d, c, key, item("created")),
            201,
        ),
        (
            "conflict",
            requests::create_item(d, c, key, item("again")),
            409,
        ),
        (
            "upsert",
            requests::upsert_item(d, c, key, item("upserted")),
            200,
        ),
        (
            "replace",
            requests::replace_item(d, c, "n", key, item("replaced")),
            200,
        ),
        ("patch", requests::patch_item(d, c, "n", key, patch), 200),
        ("delete", requests::delete_item(d, c, "n", key), 204),
        ("not found", requests::read_item(d, c, "n", key), 404),
        (
            "query",
            requests::query_items(d, c, query).partition_key(key),
            200,
        ),
        (
            "read feed",
            requests::read_feed(d, c).partition_key(key),
            200,
        ),
        ("batch", requests::batch(d, c, key, batch), 200),
        (
            "delete by key",
            requests::delete_by_partition_key(d, c, &"other".into()),
            200,
        ),
        ("read container", requests::read_container(d, c), 200),
        ("read database", requests::read_database(d), 200),
        ("list containers", requests::list_containers(d), 200),
        ("ranges", requests::read_partition_key_ranges(d, c), 200),
        ("create database", requests::create_database("new"), 201),
    ]
}

async fn every_kind_is_accepted(mode: WriteMode) {
    for protocol in BOTH {
        let world = World::start(mode).await;
        let client = world.client(protocol);
        for (kind, request, expected) in kinds() {
            let seen = world.send(&client, request.build().expect(kind)).await;
            let code = seen
                .result
                .as_ref()
                .map(|response| response.status().as_u16());
            assert!(
                matches!(code, Ok(code) if code == expected),
                "{kind} over {protocol:?}: {code:?}\n{seen:?}"
            );
            assert_eq!(regions(&seen), [A], "{kind}");
        }
        let seen = world.send(&client, execute()).await;
        assert_eq!(seen.status().code(), 200, "{seen:?}");
        assert_eq!(world.account.procedure_executions().len(), 1);
        world.check();
    }
}

#[tokio::test]
async fn every_kind_of_operation_is_accepted_where_one_region_writes() {
    every_kind_is_accepted(WriteMode::Single).await;
}

#[tokio::test]
async fn every_kind_of_operation_is_accepted_where_every_region_writes() {
    every_kind_is_accepted(WriteMode::Multi).await;
}

#[tokio::test]
async fn a_write_in_a_satellite_region_is_accepted() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world
            .builder(protocol)
            .preferred_regions([C, B, A])
            .build()
            .unwrap();
        for (kind, request, expected) in kinds() {
            let write_of_metadata = kind == "create database";
            let seen = world.send(&client, request.build().expect(kind)).await;
            assert_eq!(seen.status().code(), expected, "{kind}: {seen:?}");
            let region = if write_of_metadata { A } else { C };
            assert_eq!(regions(&seen), [region], "{kind}");
        }
        world.check();
    }
}

#[tokio::test]
async fn writes_go_to_the_hub_and_reads_to_the_preferred_region() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Single).await;
        let client = world
            .builder(protocol)
            .preferred_regions([B, C])
            .build()
            .unwrap();
        let read = world.send(&client, crate::harness::read()).await;
        assert_eq!((read.status().code(), regions(&read)), (200, vec![B]));
        let write = world.send(&client, crate::harness::upsert(1)).await;
        assert_eq!((write.status().code(), regions(&write)), (201, vec![A]));
        let metadata = world.send(&client, read_container()).await;
        assert_eq!(
            (metadata.status().code(), regions(&metadata)),
            (200, vec![B])
        );
        world.check();
    }
}
