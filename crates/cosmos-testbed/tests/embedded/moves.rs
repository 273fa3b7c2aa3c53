//! What an account does by itself, as clients see it.

use std::io::ErrorKind;
use std::time::Duration;

use cosmos_testbed::EmbeddedAccount;
use cosmos_testbed::embedded::WriteMode;
use http::Method;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::client::{Ask, BOTH, EAST, NORTH, WEST, address, at, builder, start};

const CONTAINER: &str = "dbs/shop/colls/orders";

/// The names in a list of the account document.
async fn listed(account: &EmbeddedAccount, list: &str) -> Vec<String> {
    let document = Ask::account().to(account, account.endpoint()).await.json();
    let locations = document[list].as_array().unwrap().iter();
    locations
        .map(|location| location["name"].as_str().unwrap().to_owned())
        .collect()
}

async fn write(account: &EmbeddedAccount, region: &str, id: &str) -> (u16, u32) {
    let endpoint = at(account, region);
    Ask::create(id, r#"["a"]"#)
        .to(account, &endpoint)
        .await
        .code()
}

async fn read(account: &EmbeddedAccount, region: &str, id: &str) -> (u16, u32) {
    Ask::read(id, r#"["a"]"#)
        .to(account, &at(account, region))
        .await
        .code()
}

/// The range of the partition key that `write` uses.
async fn range(account: &EmbeddedAccount) -> String {
    let reply = Ask::read("none", r#"["a"]"#)
        .to(account, account.endpoint())
        .await;
    let range = &reply.headers["x-ms-documentdb-partitionkeyrangeid"];
    range.to_str().unwrap().to_owned()
}

async fn ranges(account: &EmbeddedAccount) -> Vec<String> {
    let ask = Ask::new(
        Method::GET,
        &format!("/{CONTAINER}/pkranges"),
        "pkranges",
        CONTAINER,
    );
    let ranges = ask.to(account, account.endpoint()).await.json();
    let ranges = ranges["PartitionKeyRanges"].as_array().unwrap().iter();
    ranges
        .map(|range| range["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_failover_at_once_moves_writes_and_the_document() {
    let account = start().await;
    assert_eq!(account.hub(), EAST);
    account.moves().fail_over(WEST).unwrap();
    assert_eq!(account.hub(), WEST);
    assert_eq!(listed(&account, "writableLocations").await, [WEST]);
    assert_eq!(
        listed(&account, "readableLocations").await,
        [WEST, EAST, NORTH]
    );
    assert_eq!(write(&account, EAST, "1").await, (403, 3));
    assert_eq!(write(&account, WEST, "1").await, (201, 0));
    let global = Ask::create("2", r#"["a"]"#)
        .to(&account, account.endpoint())
        .await;
    assert_eq!(
        global.code(),
        (201, 0),
        "the global endpoint follows the hub"
    );
}

#[tokio::test]
async fn a_failover_in_steps_lists_both_regions_meanwhile() {
    let account = start().await;
    let moves = account.moves();
    moves.announce_failover(WEST).unwrap();
    assert_eq!(listed(&account, "writableLocations").await, [EAST, WEST]);
    assert_eq!(write(&account, EAST, "1").await, (201, 0));
    moves.begin_failover(WEST).unwrap();
    assert_eq!(listed(&account, "writableLocations").await, [WEST, EAST]);
    assert_eq!(write(&account, EAST, "2").await, (403, 3));
    assert_eq!(write(&account, WEST, "2").await, (201, 0));
    moves.complete_failover();
    assert_eq!(listed(&account, "writableLocations").await, [WEST]);
}

#[tokio::test]
async fn a_removed_region_leaves_the_document_and_answers_403_1008() {
    let account = start().await;
    let moves = account.moves();
    assert_eq!(write(&account, EAST, "1").await, (201, 0));
    moves.begin_removal(WEST).unwrap();
    assert_eq!(read(&account, WEST, "1").await, (403, 1008));
    assert_eq!(
        listed(&account, "readableLocations").await,
        [EAST, WEST, NORTH]
    );
    moves.remove_region(WEST).unwrap();
    assert_eq!(listed(&account, "readableLocations").await, [EAST, NORTH]);
    assert_eq!(read(&account, WEST, "1").await, (403, 1008));

    let endpoint = at(&account, WEST);
    let again = moves.add_region(WEST).unwrap();
    assert_eq!(again.endpoint, endpoint);
    assert_eq!(
        listed(&account, "readableLocations").await,
        [EAST, NORTH, WEST]
    );
    assert_eq!(read(&account, WEST, "1").await, (200, 0));
}

#[tokio::test]
async fn a_region_that_was_never_there_can_be_added() {
    let account = start().await;
    assert_eq!(write(&account, EAST, "1").await, (201, 0));
    let added = account.moves().add_region("Japan East").unwrap();
    assert!(added.member && !added.accepts_writes);
    assert_eq!(read(&account, "Japan East", "1").await, (200, 0));
    assert_eq!(listed(&account, "readableLocations").await.len(), 4);
}

#[tokio::test]
async fn an_offline_hub_refuses_connections_and_the_next_region_writes() {
    let account = start().await;
    let moves = account.moves();
    let east = at(&account, EAST);
    moves.take_offline(EAST).await.unwrap();
    let refused = TcpStream::connect(address(&east)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(listed(&account, "readableLocations").await, [WEST, NORTH]);
    assert_eq!(write(&account, WEST, "1").await, (201, 0));
    moves.bring_online(EAST).await.unwrap();
    assert_eq!(read(&account, EAST, "1").await, (200, 0));
    assert_eq!(account.hub(), WEST);
}

#[tokio::test]
async fn paused_replication_holds_writes_back_until_it_is_resumed() {
    let account = start().await;
    let moves = account.moves();
    moves.pause_replication(WEST).unwrap();
    assert_eq!(write(&account, EAST, "1").await, (201, 0));
    assert_eq!(read(&account, WEST, "1").await, (404, 0));
    assert_eq!(read(&account, NORTH, "1").await, (200, 0));
    moves.resume_replication(WEST).await.unwrap();
    assert_eq!(read(&account, WEST, "1").await, (200, 0));
}

#[tokio::test]
async fn a_lagging_region_answers_404_1002_and_one_key_does_so_once() {
    let account = start().await;
    let moves = account.moves();
    assert_eq!(write(&account, EAST, "1").await, (201, 0));
    moves.session_not_available(WEST, true).unwrap();
    assert_eq!(read(&account, WEST, "1").await, (404, 1002));
    assert_eq!(read(&account, NORTH, "1").await, (200, 0));
    moves.session_not_available(WEST, false).unwrap();
    assert_eq!(read(&account, WEST, "1").await, (200, 0));
    moves
        .session_not_available_once(WEST, "shop", "orders", r#"["a"]"#)
        .unwrap();
    assert_eq!(read(&account, WEST, "1").await, (404, 1002));
    assert_eq!(read(&account, WEST, "1").await, (200, 0));
}

#[tokio::test]
async fn a_partition_splits_and_its_children_merge() {
    let account = start().await;
    let moves = account.moves();
    assert_eq!(write(&account, EAST, "1").await, (201, 0));
    let before = ranges(&account).await;
    let parent: u32 = range(&account).await.parse().unwrap();
    let lock = Duration::from_millis(100);
    let splitting = tokio::spawn({
        let moves = moves.clone();
        async move { moves.split_partition("shop", "orders", parent, lock).await }
    });
    tokio::time::sleep(lock / 4).await;
    assert_eq!(read(&account, EAST, "1").await, (410, 1007));
    let children = splitting.await.unwrap().unwrap();
    assert_eq!(children.len(), 2);
    assert_eq!(read(&account, WEST, "1").await, (200, 0));
    assert_eq!(ranges(&account).await.len(), before.len() + 1);
    let both = (children[0], children[1]);
    moves
        .merge_partitions("shop", "orders", both, Duration::ZERO)
        .await
        .unwrap();
    assert_eq!(ranges(&account).await.len(), before.len());
    assert_eq!(read(&account, WEST, "1").await, (200, 0));
}

#[tokio::test]
async fn a_range_whose_writes_moved_is_written_there_and_nowhere_else() {
    let account = builder()
        .per_partition_failover(true)
        .start()
        .await
        .unwrap();
    let moves = account.moves();
    let range = range(&account).await;
    moves
        .reassign_range("shop", "orders", &range, WEST)
        .unwrap();
    assert_eq!(write(&account, EAST, "1").await, (403, 3));
    assert_eq!(write(&account, NORTH, "1").await, (403, 3));
    assert_eq!(write(&account, WEST, "1").await, (201, 0));
    for region in [EAST, WEST, NORTH] {
        assert_eq!(read(&account, region, "1").await, (200, 0), "{region}");
    }
    // A key of the other range is still written at the hub.
    let mut other = Vec::new();
    for key in 0..20 {
        let key = format!("[{key}]");
        other.push(
            Ask::create("1", &key)
                .to(&account, &at(&account, EAST))
                .await
                .status
                .as_u16(),
        );
    }
    assert!(other.contains(&201) && other.contains(&403), "{other:?}");
    assert_eq!(listed(&account, "writableLocations").await, [EAST]);
    assert!(moves.restore_range("shop", "orders", &range));
    assert_eq!(write(&account, EAST, "2").await, (201, 0));
}

#[tokio::test]
async fn satellites_of_a_multi_write_account_want_tentative_writes() {
    let account = builder()
        .write_mode(WriteMode::Multi)
        .start()
        .await
        .unwrap();
    assert_eq!(
        listed(&account, "writableLocations").await,
        [EAST, WEST, NORTH]
    );
    assert_eq!(write(&account, EAST, "1").await, (201, 0));
    assert_eq!(write(&account, WEST, "2").await, (403, 3));
    let tentative =
        Ask::create("2", r#"["a"]"#).header("x-ms-cosmos-allow-tentative-writes", "true");
    assert_eq!(
        tentative.to(&account, &at(&account, WEST)).await.code(),
        (201, 0)
    );
    assert_eq!(read(&account, NORTH, "2").await, (200, 0));

    account.moves().fail_over(NORTH).unwrap();
    assert_eq!(
        listed(&account, "writableLocations").await,
        [NORTH, EAST, WEST]
    );
    assert_eq!(write(&account, NORTH, "3").await, (201, 0));
    assert_eq!(write(&account, EAST, "4").await, (403, 3));
}

#[tokio::test]
async fn executing_a_procedure_twice_is_visible() {
    let account = start().await;
    let path = format!("/{CONTAINER}/sprocs/transfer");
    let execute = Ask::new(Method::POST, &path, "sprocs", &path[1..])
        .partition_key(r#"["a"]"#)
        .body(r#"[1, "two"]"#);
    let east = at(&account, EAST);
    assert_eq!(execute.to(&account, &east).await.json()["executions"], 1);
    assert_eq!(execute.to(&account, &east).await.json()["executions"], 2);
    assert_eq!(
        execute.to(&account, &at(&account, WEST)).await.code(),
        (403, 3)
    );
    let executions = account.procedure_executions();
    assert_eq!(executions.len(), 2);
    assert_eq!(executions[0].arguments, serde_json::json!([1, "two"]));
    assert_eq!(account.counts(EAST).data, 2);
}

#[tokio::test]
async fn a_head_is_a_read_without_a_body() {
    let account = start().await;
    assert_eq!(write(&account, EAST, "1").await, (201, 0));
    for protocol in BOTH {
        for (id, status) in [("1", 200), ("2", 404)] {
            let head = Ask::item(Method::HEAD, id, r#"["a"]"#);
            let reply = head
                .try_to(&account, &at(&account, WEST), protocol)
                .await
                .unwrap();
            assert_eq!(reply.code(), (status, 0), "{protocol:?}");
            assert!(reply.body.is_empty());
        }
    }
}

#[tokio::test]
async fn a_delete_by_partition_key_takes_all_of_it_and_nothing_else() {
    let account = start().await;
    for id in ["1", "a b"] {
        assert_eq!(write(&account, EAST, id).await, (201, 0));
    }
    Ask::create("1", r#"["b"]"#)
        .to(&account, &at(&account, EAST))
        .await;
    let path = format!("/{CONTAINER}/operations/partitionkeydelete");
    let delete = Ask::new(Method::POST, &path, "colls", CONTAINER).partition_key(r#"["a"]"#);
    assert_eq!(
        delete.to(&account, &at(&account, WEST)).await.code(),
        (403, 3)
    );
    assert_eq!(
        delete.to(&account, &at(&account, EAST)).await.code(),
        (200, 0)
    );
    assert_eq!(read(&account, WEST, "1").await, (404, 0));
    assert_eq!(
        Ask::read("1", r#"["b"]"#)
            .to(&account, account.endpoint())
            .await
            .code(),
        (200, 0)
    );
    let feed = Ask::new(
        Method::GET,
        &format!("/{CONTAINER}/docs"),
        "docs",
        CONTAINER,
    )
    .partition_key(r#"["a"]"#)
    .to(&account, account.endpoint())
    .await;
    assert_eq!(feed.json()["_count"], Value::from(0));
}
