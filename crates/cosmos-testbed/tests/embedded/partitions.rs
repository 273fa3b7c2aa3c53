//! What an account tells of its partitions and containers, and which of them a fault meets.

use std::time::Duration;

use cosmos_testbed::EmbeddedAccount;
use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultedRequests};
use http::Method;

use crate::client::{Ask, EAST, WEST, at, start};

const RANGE: &str = "x-ms-documentdb-partitionkeyrangeid";
const CONTENT_PATH: &str = "x-ms-content-path";

async fn container(account: &EmbeddedAccount) -> String {
    let ask = Ask::new(
        Method::GET,
        "/dbs/shop/colls/orders",
        "colls",
        "dbs/shop/colls/orders",
    );
    let read = ask.to(account, &at(account, EAST)).await;
    assert_eq!(read.code(), (200, 0));
    read.json()["_rid"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn answers_name_the_range_and_the_container_that_gave_them() {
    let account = start().await;
    let east = at(&account, EAST);
    let rid = container(&account).await;
    let range = account
        .range_of("shop", "orders", r#"["a"]"#)
        .await
        .unwrap();
    let created = Ask::create("1", r#"["a"]"#).to(&account, &east).await;
    let read = Ask::read("1", r#"["a"]"#)
        .to(&account, &at(&account, WEST))
        .await;
    for reply in [created, read] {
        assert_eq!(reply.headers[CONTENT_PATH], *rid);
        assert_eq!(reply.headers[RANGE], *range);
    }
    assert!(account.range_of("shop", "none", r#"["a"]"#).await.is_err());
}

#[tokio::test]
async fn a_container_that_is_replaced_is_empty_and_another_one() {
    let account = start().await;
    let east = at(&account, EAST);
    assert_eq!(
        Ask::create("1", r#"["a"]"#)
            .to(&account, &east)
            .await
            .code(),
        (201, 0)
    );
    let before = container(&account).await;
    let moves = account.moves();
    moves
        .replace_container("shop", "orders", "/pk", 7)
        .await
        .unwrap();
    let after = container(&account).await;
    assert_ne!(after, before);
    for region in [EAST, WEST] {
        let read = Ask::read("1", r#"["a"]"#)
            .to(&account, &at(&account, region))
            .await;
        assert_eq!(read.code(), (404, 0), "{region}");
    }
    let created = Ask::create("1", r#"["a"]"#).to(&account, &east).await;
    assert_eq!(created.headers[CONTENT_PATH], *after);
    for unknown in [("none", "orders"), ("shop", "none")] {
        let replaced = moves
            .replace_container(unknown.0, unknown.1, "/pk", 1)
            .await;
        assert!(replaced.is_err(), "{unknown:?}");
    }
    assert!(
        moves
            .replace_container("shop", "orders", "/pk", 0)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_fault_of_one_ranges_writes_leaves_its_reads_and_other_ranges_alone() {
    let account = start().await;
    let east = at(&account, EAST);
    let mut ranges = Vec::new();
    for number in 0..20 {
        let key = format!(r#"["{number}"]"#);
        ranges.push(account.range_of("shop", "orders", &key).await.unwrap());
        assert_eq!(
            Ask::create("1", &key).to(&account, &east).await.code(),
            (201, 0)
        );
    }
    let sick = ranges[0].clone();
    assert!(ranges.iter().any(|range| *range != sick));
    let kind = FaultKind::Status {
        status: 503,
        substatus: None,
        retry_after_ms: None,
    };
    let rule = FaultRule::at(EAST, kind)
        .range(&*sick)
        .requests(FaultedRequests::Writes);
    account.faults().set(rule).await.unwrap();
    for (number, range) in ranges.iter().enumerate() {
        let key = format!(r#"["{number}"]"#);
        let expected = if *range == sick { (503, 0) } else { (201, 0) };
        let written = Ask::create("2", &key).to(&account, &east).await;
        assert_eq!(written.code(), expected, "{key}");
        assert_eq!(
            Ask::read("1", &key).to(&account, &east).await.code(),
            (200, 0)
        );
    }
}

#[tokio::test]
async fn the_log_tells_when_a_request_was_read_and_of_which_operation_it_is() {
    let account = start().await;
    let east = at(&account, EAST);
    let began = tokio::time::Instant::now();
    for id in ["first", "second"] {
        let read = Ask::read("1", r#"["a"]"#).header("x-ms-activity-id", id);
        read.to(&account, &east).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let log = account.wire_log();
    let ids: Vec<_> = log
        .iter()
        .map(|entry| entry.activity_id.as_deref())
        .collect();
    assert_eq!(ids, [Some("first"), Some("second")]);
    assert!(began <= log[0].read_at);
    assert!(log[1].read_at - log[0].read_at >= Duration::from_millis(20));
    let later = account.wire_log_from(log[1].sequence);
    assert_eq!(later.len(), 1);
    assert!(account.wire_log_from(log[1].sequence + 1).is_empty());
}
