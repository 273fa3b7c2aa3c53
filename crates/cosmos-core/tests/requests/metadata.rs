//! Operations on the account, databases, containers, partition key ranges, offers and scripts.

use cosmos_core::operation::{Action, Resource};
use cosmos_core::requests::{self, Json, PartitionKey, ScriptKind};
use serde_json::json;

use crate::wire::{IDS, JSON, KEY, QUERY_JSON, assert_wire};

#[test]
fn the_account_and_its_feeds_and_offers() {
    let json_type = ("content-type", JSON);
    let query = [
        ("content-type", QUERY_JSON),
        ("x-ms-documentdb-isquery", "True"),
    ];
    assert_wire(
        requests::read_account(),
        "GET /",
        (Action::Read, Resource::Account),
        &[],
    );

    let kind = |action| (action, Resource::Database);
    assert_wire(
        requests::list_databases(),
        "GET /dbs",
        kind(Action::ReadFeed),
        &[],
    );
    assert_wire(
        requests::query_databases("Q"),
        "POST /dbs",
        kind(Action::Query),
        &query,
    );
    let kind = |action| (action, Resource::Offer);
    assert_wire(
        requests::list_offers(),
        "GET /offers",
        kind(Action::ReadFeed),
        &[],
    );
    assert_wire(
        requests::query_offers("Q"),
        "POST /offers",
        kind(Action::Query),
        &query,
    );
    assert_wire(
        requests::read_offer("H3Vq"),
        "GET /offers/H3Vq",
        kind(Action::Read),
        &[],
    );
    let replace = requests::replace_offer("H3Vq", json!({}));
    assert_wire(
        replace,
        "PUT /offers/H3Vq",
        kind(Action::Replace),
        &[json_type],
    );
}

#[test]
fn databases_containers_and_partition_key_ranges() {
    let json_type = ("content-type", JSON);
    let query = [
        ("content-type", QUERY_JSON),
        ("x-ms-documentdb-isquery", "True"),
    ];
    for (id, encoded) in IDS {
        let database = format!("/dbs/{encoded}");
        let check = |builder, method: &str, action, headers: &[_]| {
            let line = format!("{method} {database}");
            assert_wire(builder, &line, (action, Resource::Database), headers);
        };
        check(requests::read_database(id), "GET", Action::Read, &[]);
        check(requests::delete_database(id), "DELETE", Action::Delete, &[]);
        let create = requests::create_database(id);
        let kind = (Action::Create, Resource::Database);
        let body = assert_wire(create, "POST /dbs", kind, &[json_type]);
        assert_eq!(body, json!({ "id": id }).to_string());

        let feed = format!("{database}/colls");
        let one = format!("{feed}/{encoded}");
        let check = |builder, method: &str, path: &str, action, headers: &[_]| {
            let line = format!("{method} {path}");
            assert_wire(builder, &line, (action, Resource::Container), headers);
        };
        check(
            requests::list_containers(id),
            "GET",
            &feed,
            Action::ReadFeed,
            &[],
        );
        check(
            requests::query_containers(id, "Q"),
            "POST",
            &feed,
            Action::Query,
            &query,
        );
        let create = requests::create_container(id, json!({}));
        check(create, "POST", &feed, Action::Create, &[json_type]);
        check(
            requests::read_container(id, id),
            "GET",
            &one,
            Action::Read,
            &[],
        );
        let replace = requests::replace_container(id, id, json!({}));
        check(replace, "PUT", &one, Action::Replace, &[json_type]);
        check(
            requests::delete_container(id, id),
            "DELETE",
            &one,
            Action::Delete,
            &[],
        );

        assert_wire(
            requests::read_partition_key_ranges(id, id),
            &format!("GET {one}/pkranges"),
            (Action::ReadFeed, Resource::PartitionKeyRange),
            &[("a-im", "Incremental Feed"), ("x-ms-max-item-count", "-1")],
        );
    }
}

#[test]
fn scripts_and_deletions_by_partition_key_have_paths_of_their_own() {
    let key = PartitionKey::from("k");
    let json_type = ("content-type", JSON);
    for (id, encoded) in IDS {
        let container = format!("/dbs/{encoded}/colls/{encoded}");
        let execute = requests::execute_stored_procedure(id, id, id, &key, Json(["x"]));
        let line = format!("POST {container}/sprocs/{encoded}");
        let kind = (Action::Execute, Resource::StoredProcedure);
        assert_eq!(
            assert_wire(execute, &line, kind, &[KEY, json_type]),
            r#"["x"]"#
        );

        let delete = requests::delete_by_partition_key(id, id, &key);
        let line = format!("POST {container}/operations/partitionkeydelete");
        let kind = (Action::DeleteByPartitionKey, Resource::PartitionKeyDelete);
        assert_eq!(assert_wire(delete, &line, kind, &[KEY]), "");

        for (script, resource, keyword) in [
            (
                ScriptKind::StoredProcedure,
                Resource::StoredProcedure,
                "sprocs",
            ),
            (ScriptKind::Trigger, Resource::Trigger, "triggers"),
            (
                ScriptKind::UserDefinedFunction,
                Resource::UserDefinedFunction,
                "udfs",
            ),
        ] {
            let feed = format!("{container}/{keyword}");
            let one = format!("{feed}/{encoded}");
            let check = |builder, method: &str, path: &str, action, headers: &[_]| {
                assert_wire(
                    builder,
                    &format!("{method} {path}"),
                    (action, resource),
                    headers,
                )
            };
            let list = requests::list_scripts(script, id, id);
            check(list, "GET", &feed, Action::ReadFeed, &[]);
            let query = requests::query_scripts(script, id, id, "Q");
            let query_headers = [
                ("content-type", QUERY_JSON),
                ("x-ms-documentdb-isquery", "True"),
            ];
            check(query, "POST", &feed, Action::Query, &query_headers);
            let create = requests::create_script(script, id, id, json!({ "id": id }));
            check(create, "POST", &feed, Action::Create, &[json_type]);
            let read = requests::read_script(script, id, id, id);
            check(read, "GET", &one, Action::Read, &[]);
            let replace = requests::replace_script(script, id, id, id, json!({}));
            check(replace, "PUT", &one, Action::Replace, &[json_type]);
            let delete = requests::delete_script(script, id, id, id);
            check(delete, "DELETE", &one, Action::Delete, &[]);
        }
    }
}
