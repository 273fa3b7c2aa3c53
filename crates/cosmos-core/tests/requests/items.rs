//! Operations on items.

use bytes::Bytes;
use cosmos_core::operation::{Action, Resource};
use cosmos_core::requests::{self, Json, PartitionKey, Query};
use cosmos_core::signing::ResourceLink;
use serde_json::json;

use crate::wire::{IDS, JSON, KEY, QUERY_JSON, assert_wire};

#[test]
fn operations_on_one_item_name_it_and_its_partition_key() {
    let key = PartitionKey::from("k");
    let json_type = ("content-type", JSON);
    for (id, encoded) in IDS {
        let at = |method: &str| format!("{method} /dbs/{encoded}/colls/{encoded}/docs/{encoded}");
        let check = |builder, method: &str, action, headers: &[_]| {
            let body = assert_wire(builder, &at(method), (action, Resource::Item), headers);
            let expected = if headers.len() > 1 { r#"{"id":1}"# } else { "" };
            assert_eq!(body, expected);
        };
        let item = Json(json!({ "id": 1 }));
        check(
            requests::read_item(id, id, id, &key),
            "GET",
            Action::Read,
            &[KEY],
        );
        check(
            requests::head_item(id, id, id, &key),
            "HEAD",
            Action::Head,
            &[KEY],
        );
        check(
            requests::delete_item(id, id, id, &key),
            "DELETE",
            Action::Delete,
            &[KEY],
        );
        check(
            requests::replace_item(id, id, id, &key, item.clone()),
            "PUT",
            Action::Replace,
            &[KEY, json_type],
        );
        check(
            requests::patch_item(id, id, id, &key, item),
            "PATCH",
            Action::Patch,
            &[KEY, ("content-type", "application/json-patch+json")],
        );
    }
}

#[test]
fn operations_on_many_items_differ_by_their_headers() {
    let key = PartitionKey::from("k");
    let json_type = ("content-type", JSON);
    let query_type = ("content-type", QUERY_JSON);
    let is_query = ("x-ms-documentdb-isquery", "True");
    let bytes = || Bytes::from_static(b"[1]");
    for (id, encoded) in IDS {
        let docs = format!("/dbs/{encoded}/colls/{encoded}/docs");
        let check = |builder, method: &str, action, headers: &[_]| {
            assert_wire(
                builder,
                &format!("{method} {docs}"),
                (action, Resource::Item),
                headers,
            )
        };
        let create = requests::create_item(id, id, &key, bytes());
        assert_eq!(
            check(create, "POST", Action::Create, &[KEY, json_type]),
            "[1]"
        );
        let upsert = requests::upsert_item(id, id, &key, bytes());
        let is_upsert = ("x-ms-documentdb-is-upsert", "True");
        check(upsert, "POST", Action::Upsert, &[KEY, json_type, is_upsert]);
        let batch = requests::batch(id, id, &key, bytes());
        let batch_headers = [
            KEY,
            json_type,
            ("x-ms-cosmos-is-batch-request", "True"),
            ("x-ms-cosmos-batch-atomic", "True"),
            ("x-ms-cosmos-batch-continue-on-error", "False"),
        ];
        assert_eq!(check(batch, "POST", Action::Batch, &batch_headers), "[1]");

        let query = requests::query_items(id, id, "SELECT 1");
        let body = check(query, "POST", Action::Query, &[query_type, is_query]);
        assert_eq!(body, r#"{"query":"SELECT 1","parameters":[]}"#);
        let plan = requests::query_plan(id, id, Query::new("Q"), "OrderBy,Distinct");
        let plan_headers = [
            query_type,
            is_query,
            ("x-ms-cosmos-is-query-plan-request", "True"),
            ("x-ms-cosmos-query-version", "1.0"),
            ("x-ms-cosmos-supported-query-features", "OrderBy,Distinct"),
        ];
        check(plan, "POST", Action::QueryPlan, &plan_headers);

        check(requests::read_feed(id, id), "GET", Action::ReadFeed, &[]);
        let a_im = ("a-im", "Incremental Feed");
        check(
            requests::change_feed(id, id),
            "GET",
            Action::ChangeFeed,
            &[a_im],
        );
    }
}

#[test]
fn signatures_are_for_the_ids_as_they_were_given() {
    for (id, _) in IDS {
        let request = requests::read_item(id, id, id, &PartitionKey::empty())
            .build()
            .unwrap();
        let link = ResourceLink::from_path(request.uri().path());
        assert_eq!(link.resource_type(), "docs");
        assert_eq!(link.link(), format!("dbs/{id}/colls/{id}/docs/{id}"));
    }
}
