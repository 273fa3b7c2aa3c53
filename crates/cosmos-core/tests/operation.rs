//! Every request that the service knows, and what it is classified as.
#![allow(missing_docs, clippy::unwrap_used)]

use cosmos_core::operation::Action::{
    Create, Delete, Execute, Head, Patch, Read, ReadFeed, Replace,
};
use cosmos_core::operation::{Action, Operation, Resource};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proptest::prelude::*;

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|&(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect()
}

fn classify(method: &str, path: &str, pairs: &[(&'static str, &'static str)]) -> Option<Operation> {
    Operation::classify(
        &Method::from_bytes(method.as_bytes()).unwrap(),
        path,
        &headers(pairs),
    )
}

#[track_caller]
fn assert_is(method: &str, path: &str, action: Action, resource: Resource) {
    assert_eq!(
        classify(method, path, &[]),
        Some(Operation::new(action, resource)),
        "{method} {path}"
    );
}

/// Requests whose headers say nothing.
const PLAIN: &[(&str, &str, Action, Resource)] = &[
    ("GET", "/", Read, Resource::Account),
    ("GET", "", Read, Resource::Account),
    ("HEAD", "/", Head, Resource::Account),
    ("GET", "/dbs", ReadFeed, Resource::Database),
    ("POST", "/dbs", Create, Resource::Database),
    ("GET", "/dbs/d", Read, Resource::Database),
    ("DELETE", "/dbs/d", Delete, Resource::Database),
    ("GET", "/dbs/d/colls", ReadFeed, Resource::Container),
    ("POST", "/dbs/d/colls", Create, Resource::Container),
    ("GET", "/dbs/d/colls/c", Read, Resource::Container),
    ("PUT", "/dbs/d/colls/c", Replace, Resource::Container),
    ("DELETE", "/dbs/d/colls/c", Delete, Resource::Container),
    (
        "GET",
        "/dbs/d/colls/c/pkranges",
        ReadFeed,
        Resource::PartitionKeyRange,
    ),
    ("GET", "/dbs/d/colls/c/docs", ReadFeed, Resource::Item),
    ("POST", "/dbs/d/colls/c/docs", Create, Resource::Item),
    ("GET", "/dbs/d/colls/c/docs/1", Read, Resource::Item),
    ("HEAD", "/dbs/d/colls/c/docs/1", Head, Resource::Item),
    ("PUT", "/dbs/d/colls/c/docs/1", Replace, Resource::Item),
    ("PATCH", "/dbs/d/colls/c/docs/1", Patch, Resource::Item),
    ("DELETE", "/dbs/d/colls/c/docs/1", Delete, Resource::Item),
    (
        "POST",
        "/dbs/d/colls/c/sprocs",
        Create,
        Resource::StoredProcedure,
    ),
    (
        "POST",
        "/dbs/d/colls/c/sprocs/s",
        Execute,
        Resource::StoredProcedure,
    ),
    (
        "PUT",
        "/dbs/d/colls/c/sprocs/s",
        Replace,
        Resource::StoredProcedure,
    ),
    ("GET", "/dbs/d/colls/c/triggers/t", Read, Resource::Trigger),
    ("POST", "/dbs/d/colls/c/triggers", Create, Resource::Trigger),
    (
        "DELETE",
        "/dbs/d/colls/c/udfs/u",
        Delete,
        Resource::UserDefinedFunction,
    ),
    (
        "GET",
        "/dbs/d/colls/c/conflicts",
        ReadFeed,
        Resource::Conflict,
    ),
    (
        "GET",
        "/dbs/d/colls/c/conflicts/x",
        Read,
        Resource::Conflict,
    ),
    (
        "DELETE",
        "/dbs/d/colls/c/conflicts/x",
        Delete,
        Resource::Conflict,
    ),
    ("POST", "/dbs/d/users", Create, Resource::User),
    ("PUT", "/dbs/d/users/u", Replace, Resource::User),
    (
        "GET",
        "/dbs/d/users/u/permissions",
        ReadFeed,
        Resource::Permission,
    ),
    (
        "GET",
        "/dbs/d/users/u/permissions/p",
        Read,
        Resource::Permission,
    ),
    (
        "GET",
        "/dbs/d/clientencryptionkeys/k",
        Read,
        Resource::ClientEncryptionKey,
    ),
    ("GET", "/offers", ReadFeed, Resource::Offer),
    ("GET", "/offers/H3Vq", Read, Resource::Offer),
    ("PUT", "/offers/H3Vq", Replace, Resource::Offer),
];

#[test]
fn path_and_method_tell_reads_and_plain_writes() {
    for &(method, path, action, resource) in PLAIN {
        assert_is(method, path, action, resource);
        if !path.is_empty() && path != "/" {
            assert_is(method, &format!("{path}/"), action, resource);
            assert_is(method, &format!("{path}?a=/dbs/x&b=%2F"), action, resource);
        }
    }
    assert_is(
        "POST",
        "/dbs/d/colls/c/operations/partitionkeydelete",
        Action::DeleteByPartitionKey,
        Resource::PartitionKeyDelete,
    );
}

#[test]
fn headers_tell_what_a_post_is_and_the_plan_beats_the_query_beats_the_batch() {
    const PLAN: (&str, &str) = ("x-ms-cosmos-is-query-plan-request", "True");
    const QUERY: (&str, &str) = ("x-ms-documentdb-isquery", "TRUE");
    const TYPE: (&str, &str) = ("content-type", "Application/Query+JSON; charset=utf-8");
    const BATCH: (&str, &str) = ("x-ms-cosmos-is-batch-request", "true");
    const UPSERT: (&str, &str) = ("x-ms-documentdb-is-upsert", "true");
    let post = |path, pairs: &[_]| classify("POST", path, pairs).map(Operation::action);

    let docs = "/dbs/d/colls/c/docs";
    assert_eq!(
        post(docs, &[PLAN, QUERY, TYPE, BATCH, UPSERT]),
        Some(Action::QueryPlan)
    );
    assert_eq!(post(docs, &[QUERY, BATCH, UPSERT]), Some(Action::Query));
    assert_eq!(post(docs, &[TYPE]), Some(Action::Query));
    assert_eq!(post(docs, &[BATCH, UPSERT]), Some(Action::Batch));
    assert_eq!(post(docs, &[UPSERT]), Some(Action::Upsert));
    let denied = [
        ("x-ms-documentdb-isquery", "false"),
        ("x-ms-documentdb-is-upsert", "False"),
    ];
    assert_eq!(post(docs, &denied), Some(Action::Create));

    for feed in ["/dbs", "/dbs/d/colls", "/offers", "/dbs/d/colls/c/sprocs"] {
        assert_eq!(post(feed, &[QUERY, TYPE]), Some(Action::Query), "{feed}");
    }
    assert_eq!(
        post("/dbs/d/colls/c/conflicts", &[TYPE]),
        Some(Action::Query)
    );
}

#[test]
fn no_header_makes_the_execution_of_a_script_look_safe_to_repeat() {
    for name in [
        "x-ms-cosmos-is-query-plan-request",
        "x-ms-documentdb-isquery",
        "x-ms-cosmos-is-batch-request",
        "x-ms-documentdb-is-upsert",
        "a-im",
    ] {
        let operation = classify("POST", "/dbs/d/colls/c/sprocs/s", &[(name, "true")]).unwrap();
        assert!(
            operation.is_stored_procedure_execution() && operation.is_write(),
            "{name}"
        );
    }
}

#[test]
fn a_im_makes_a_change_feed_of_items_only() {
    let a_im = [("a-im", "Incremental Feed")];
    let get = |path| classify("GET", path, &a_im).map(Operation::action);
    assert_eq!(get("/dbs/d/colls/c/docs"), Some(Action::ChangeFeed));
    assert_eq!(get("/dbs/d/colls/c/pkranges"), Some(Action::ReadFeed));
    assert_eq!(get("/dbs/d/colls/c/docs/1"), Some(Action::Read));
}

#[test]
fn keywords_count_at_their_places_only() {
    for id in [
        "docs",
        "sprocs",
        "dbs",
        "operations",
        "partitionkeydelete",
        "a%2Fdocs%2Fb",
        "日本",
    ] {
        let container = format!("/dbs/{id}/colls/{id}");
        assert_is("GET", &container, Action::Read, Resource::Container);
        assert_is(
            "POST",
            &format!("{container}/docs"),
            Action::Create,
            Resource::Item,
        );
        assert_is(
            "GET",
            &format!("{container}/docs/{id}"),
            Action::Read,
            Resource::Item,
        );
        let script = format!("{container}/sprocs/{id}");
        assert_is("POST", &script, Action::Execute, Resource::StoredProcedure);
    }
}

#[test]
fn what_the_service_does_not_know_is_nothing_of_cosmos() {
    for (method, path) in [
        ("GET", "/health"),
        ("GET", "//"),
        ("GET", "//dbs"),
        ("GET", "*"),
        ("GET", "/DBS/d"),
        ("POST", "/"),
        ("GET", "/dbs/d/tables"),
        ("GET", "/dbs//colls"),
        ("GET", "/dbs/d/colls/c/blobs/b"),
        ("GET", "/dbs/d/colls/c/permissions"),
        ("GET", "/dbs/d/clientencryptionkeys/k/docs"),
        ("GET", "/dbs/d/colls/c/docs/1/attachments"),
        ("GET", "/dbs/d/colls/c/operations/partitionkeydelete"),
        ("POST", "/dbs/d/colls/c/operations/other"),
        ("GET", "/offers/a/b"),
        ("POST", "/offers"),
        ("POST", "/dbs/d/colls/c/docs/1"),
        ("POST", "/dbs/d/colls/c/pkranges"),
        ("PUT", "/dbs/d/colls/c/docs"),
        ("PUT", "/dbs/d"),
        ("PATCH", "/dbs/d/colls/c"),
        ("DELETE", "/dbs/d/colls/c/docs"),
        ("OPTIONS", "/dbs"),
        ("MERGE", "/dbs/d"),
    ] {
        assert_eq!(classify(method, path, &[]), None, "{method} {path}");
    }
}

#[test]
fn a_partition_key_or_a_range_id_scopes_data_to_a_partition() {
    let scoped = |method, path, name| {
        classify(method, path, &[(name, "[\"a\"]")])
            .unwrap()
            .is_partition_scoped()
    };
    let (key, range) = (
        "x-ms-documentdb-partitionkey",
        "x-ms-documentdb-partitionkeyrangeid",
    );
    assert!(scoped("GET", "/dbs/d/colls/c/docs/1", key));
    assert!(scoped("GET", "/dbs/d/colls/c/docs", range));
    assert!(scoped("POST", "/dbs/d/colls/c/sprocs/s", key));
    assert!(!scoped("GET", "/dbs/d/colls/c", key));
    assert!(!scoped("GET", "/dbs/d/colls/c/docs", "x-ms-version"));
}

proptest! {
    #[test]
    fn anything_can_be_classified(method in "[A-Z]{1,8}", path in "\\PC*") {
        let _ = classify(&method, &path, &[]);
    }

    #[test]
    fn paths_made_of_keywords_never_panic_and_reads_are_never_writes(
        segments in prop::collection::vec(
            prop::sample::select(vec![
                "dbs", "colls", "docs", "sprocs", "pkranges", "operations", "partitionkeydelete",
                "offers", "users", "permissions", "conflicts", "x", "", "%2F", "%",
            ]),
            0..9,
        ),
        method in prop::sample::select(vec!["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
    ) {
        let path = format!("/{}", segments.join("/"));
        if let Some(operation) = classify(method, &path, &[]) {
            prop_assert_eq!(operation.is_read(), matches!(method, "GET" | "HEAD"));
            prop_assert_ne!(operation.is_metadata(), operation.is_document());
        }
    }
}

#[test]
fn a_path_names_its_container_with_its_ids_decoded() {
    let container = |path| Operation::container_of(path);
    let named = Some("dbs/shop/colls/a b%c".to_owned());
    for path in [
        "/dbs/shop/colls/a%20b%25c",
        "/dbs/shop/colls/a%20b%25c/docs/1",
        "/dbs/shop/colls/a%20b%25c/sprocs/s/",
    ] {
        assert_eq!(container(path), named, "{path}");
    }
    for path in [
        "/",
        "/dbs/shop",
        "/dbs/shop/colls",
        "/dbs/shop/users/u",
        "/offers/x",
    ] {
        assert_eq!(container(path), None, "{path}");
    }
}
