//! What the builders of requests put on the wire, and that it is classified as what it was meant.
#![allow(missing_docs, clippy::unwrap_used)]

use std::time::{Duration, SystemTime};

use cosmos_core::operation::Resource;
use cosmos_core::requests::{
    self, ConsistencyLevel, Json, PartitionKey, RequestBuilder, RequestError, ScriptKind,
};

use crate::wire::wire;

mod items;
mod metadata;
mod wire;

#[test]
fn setters_set_their_headers_and_the_last_one_counts() {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_493_254_272);
    let built = wire(
        requests::change_feed("d", "c")
            .if_match("\"1\"")
            .if_none_match("*")
            .if_modified_since(time)
            .session_token("0:1#2")
            .consistency_level(ConsistencyLevel::BoundedStaleness)
            .max_item_count(10)
            .max_item_count(-1)
            .continuation("next")
            .prefer_minimal()
            .activity_id("guid")
            .partition_key(&PartitionKey::from("k"))
            .partition_key_range_id("7")
            .effective_partition_key_range("00", "FF")
            .cross_partition_query()
            .full_fidelity()
            .throughput(400)
            .autoscale_throughput(4000)
            .header("x-custom", "1")
            .header("X-Custom", "2"),
    );
    let expected = [
        ("a-im", "Full-Fidelity Feed"),
        ("if-match", "\"1\""),
        ("if-modified-since", "Thu, 27 Apr 2017 00:51:12 GMT"),
        ("if-none-match", "*"),
        ("prefer", "return=minimal"),
        ("x-custom", "2"),
        ("x-ms-activity-id", "guid"),
        ("x-ms-consistency-level", "BoundedStaleness"),
        ("x-ms-continuation", "next"),
        ("x-ms-cosmos-changefeed-wire-format-version", "2021-09-15"),
        (
            "x-ms-cosmos-offer-autopilot-settings",
            "{\"maxThroughput\":4000}",
        ),
        ("x-ms-documentdb-partitionkey", "[\"k\"]"),
        ("x-ms-documentdb-partitionkeyrangeid", "7"),
        ("x-ms-documentdb-query-enablecrosspartition", "True"),
        ("x-ms-end-epk", "FF"),
        ("x-ms-max-item-count", "-1"),
        ("x-ms-offer-throughput", "400"),
        ("x-ms-read-key-type", "EffectivePartitionKeyRange"),
        ("x-ms-session-token", "0:1#2"),
        ("x-ms-start-epk", "00"),
    ];
    let shown: Vec<_> = built
        .headers
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    assert_eq!(shown, expected);
    assert!(built.operation.is_partition_scoped());
}

#[test]
fn mistakes_are_told_when_the_request_is_built() {
    use RequestError::{Body, EmptyId, HeaderName, HeaderValue, IllegalId, MaxItemCount, Path};
    let key = PartitionKey::empty();
    let error = |builder: RequestBuilder| builder.build().unwrap_err();
    let read = || requests::read_item("d", "c", "i", &key);

    assert!(matches!(error(read().max_item_count(0)), MaxItemCount(0)));
    assert!(matches!(error(read().max_item_count(-2)), MaxItemCount(-2)));
    assert!(matches!(error(read().header("a b", "1")), HeaderName));
    assert!(matches!(error(read().if_match("a\nb")), HeaderValue(name) if name == "if-match"));
    assert!(matches!(
        error(requests::read_item("d", "c", "", &key).max_item_count(0)),
        EmptyId(Resource::Item)
    ));
    assert!(matches!(
        error(requests::create_database("a/b")),
        IllegalId(Resource::Database)
    ));
    assert!(matches!(
        error(requests::read_offer("")),
        EmptyId(Resource::Offer)
    ));
    assert!(matches!(
        error(requests::read_script(ScriptKind::Trigger, "d", "c", "#")),
        IllegalId(Resource::Trigger)
    ));
    let long = "x".repeat(70_000);
    assert!(matches!(
        error(requests::read_item("d", "c", &long, &key)),
        Path(_)
    ));
    let no_json = std::collections::BTreeMap::from([(vec![1], 1)]);
    assert!(matches!(
        error(requests::create_item("d", "c", &key, Json(&no_json))),
        Body(_)
    ));
}

#[test]
fn a_builder_does_not_show_a_signature() {
    let builder = requests::read_account().header("authorization", "hunter2");
    assert!(!format!("{builder:?}").contains("hunter2"));
}
