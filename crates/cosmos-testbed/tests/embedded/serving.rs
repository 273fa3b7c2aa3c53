//! What an account without faults does.

use std::sync::Arc;
use std::time::Duration;

use cosmos_testbed::EmbeddedAccount;
use cosmos_testbed::embedded::{FaultKind, FaultRule, Outcome, StartError, ViolationKind};
use http::Method;

use tokio::net::TcpStream;

use crate::client::{
    Ask, BOTH, BOUND, Connection, EAST, NORTH, Protocol, WEST, address, at, start,
};

/// Long enough for a request to be read.
const SHORT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn an_item_written_at_the_hub_is_readable_in_every_region() {
    let account = start().await;
    let created = Ask::create("1", r#"["a"]"#)
        .to(&account, &at(&account, EAST))
        .await;
    assert_eq!(created.code(), (201, 0), "{created:?}");
    for region in [EAST, WEST, NORTH] {
        for protocol in BOTH {
            let read = Ask::read("1", r#"["a"]"#);
            let read = read.try_to(&account, &at(&account, region), protocol).await;
            assert_eq!(read.unwrap().json()["id"], "1", "{region} {protocol:?}");
        }
    }
    assert!(
        account.violations().is_empty(),
        "{:?}",
        account.violations()
    );
}

#[tokio::test]
async fn the_account_document_names_the_loopback_endpoints() {
    let account = start().await;
    let document = Ask::account().to(&account, account.endpoint()).await.json();
    let readable = document["readableLocations"].as_array().unwrap();
    let endpoints: Vec<_> = readable
        .iter()
        .map(|location| location["databaseAccountEndpoint"].as_str().unwrap())
        .collect();
    let expected = [EAST, WEST, NORTH].map(|region| at(&account, region));
    assert_eq!(endpoints, expected);
    assert_eq!(document["writableLocations"][0]["name"], EAST);
    assert_eq!(document["id"], "testbed");
    let regional = Ask::account()
        .to(&account, &at(&account, WEST))
        .await
        .json();
    assert_eq!(regional["id"], "testbed-westus3");
}

#[tokio::test]
async fn a_write_at_another_region_than_the_hub_is_forbidden() {
    let account = start().await;
    let created = Ask::create("1", r#"["a"]"#)
        .to(&account, &at(&account, WEST))
        .await;
    assert_eq!(created.code(), (403, 3));
    let created = Ask::create("1", r#"["a"]"#)
        .to(&account, account.endpoint())
        .await;
    assert_eq!(created.code(), (201, 0));
}

#[tokio::test]
async fn a_bad_signature_is_turned_away_and_remembered() {
    let account = start().await;
    let wrong = Ask::new(Method::GET, "/", "docs", "")
        .to(&account, account.endpoint())
        .await;
    assert_eq!(wrong.code(), (401, 0));
    let violations = account.violations();
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].kind, ViolationKind::Signature);
}

#[tokio::test]
async fn another_listeners_host_is_turned_away_on_both_protocols() {
    let account = start().await;
    let (east, west) = (at(&account, EAST), at(&account, WEST));
    for protocol in BOTH {
        let mut connection = Connection::open(&east, protocol).await.unwrap();
        let request = Ask::account().sign(&west, protocol, account.key());
        assert_eq!(connection.send(request).await.unwrap().code(), (401, 0));
    }
    let violations = account.violations();
    assert_eq!(violations.len(), 2);
    assert!(
        violations
            .iter()
            .all(|violation| violation.kind == ViolationKind::Host)
    );
}

#[tokio::test]
async fn counts_are_exact_and_per_endpoint() {
    let account = start().await;
    let east = at(&account, EAST);
    Ask::create("1", r#"["a"]"#).to(&account, &east).await;
    for _ in 0..3 {
        Ask::read("1", r#"["a"]"#).to(&account, &east).await;
    }
    let container = "dbs/shop/colls/orders";
    Ask::new(
        Method::GET,
        "/dbs/shop/colls/orders/pkranges",
        "pkranges",
        container,
    )
    .to(&account, &east)
    .await;
    Ask::account().to(&account, account.endpoint()).await;

    let counts = account.counts(EAST);
    assert_eq!(
        (counts.data, counts.metadata, counts.account_reads),
        (4, 1, 0)
    );
    assert_eq!(counts.connections, 5);
    assert_eq!(
        account.counts(WEST),
        cosmos_testbed::embedded::Counts::default()
    );
    assert_eq!(account.global_counts().account_reads, 1);
    let log = account.wire_log();
    assert_eq!(log.len(), 6, "{log:#?}");
    let answered = Outcome::Answered {
        status: 201,
        substatus: 0,
    };
    assert_eq!(log[0].outcome, answered);
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_not_taken() {
    let account = start().await;
    let ask = Ask::create("1", r#"["a"]"#).body(vec![b' '; 5 * 1024 * 1024]);
    let mut connection = Connection::open(account.endpoint(), Protocol::Http2)
        .await
        .unwrap();
    let request = ask.sign(account.endpoint(), Protocol::Http2, account.key());
    let reply = connection.send(request).await.unwrap();
    assert_eq!(reply.code(), (413, 0));
    assert_eq!(account.global_counts().data, 0);
}

#[tokio::test]
async fn an_account_that_cannot_be_does_not_start() {
    let none: [&str; 0] = [];
    for wrong in [
        EmbeddedAccount::builder().regions(none),
        EmbeddedAccount::builder().regions([EAST, EAST]),
        EmbeddedAccount::builder().container("d", "c", "/pk", 0),
    ] {
        let error = wrong.start().await.unwrap_err();
        assert!(matches!(error, StartError::Account(_)), "{error}");
    }
}

#[tokio::test]
async fn the_key_is_not_printed() {
    let account = start().await;
    let printed = format!("{account:?} {:?} {:?}", account.faults(), account.moves());
    assert!(!printed.contains(account.key()), "{printed}");
}

#[tokio::test]
async fn seeding_is_seen_in_every_region_and_counted_nowhere() {
    let account = start().await;
    let item = serde_json::json!({ "id": "a/b", "pk": "a", "n": 1 });
    account
        .seed("shop", "orders", r#"["a"]"#, &item)
        .await
        .unwrap();
    for region in [EAST, WEST, NORTH] {
        let stored = account
            .stored(region, "shop", "orders", r#"["a"]"#, "a/b")
            .await;
        assert_eq!(stored.unwrap().unwrap()["n"], 1, "{region}");
        assert_eq!(account.counts(region).data, 0);
    }
    let absent = account
        .stored(WEST, "shop", "orders", r#"["a"]"#, "2")
        .await;
    assert_eq!(absent.unwrap(), None);
    account
        .seed("shop", "nothing", r#"["a"]"#, &item)
        .await
        .unwrap_err();
}

#[tokio::test]
async fn no_task_outlives_the_account() {
    let account = start().await;
    account.open_control().await.unwrap();
    account
        .faults()
        .set(FaultRule::at(EAST, FaultKind::Hang))
        .await
        .unwrap();
    let east = at(&account, EAST);
    let mut connections = Vec::new();
    for protocol in BOTH {
        let mut connection = Connection::open(&east, protocol).await.unwrap();
        let request = Ask::account().sign(&east, protocol, account.key());
        let hung = tokio::time::timeout(SHORT, connection.send(request)).await;
        hung.expect_err("an answer");
        connections.push(connection);
    }
    assert_eq!(account.counts(EAST).account_reads, 2);
    drop(account);
    drop(connections);
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let ended = async {
        while tasks() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let ended = tokio::time::timeout(BOUND, ended).await;
    ended.unwrap_or_else(|_| panic!("{} tasks are left", tasks()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_that_opens_and_closes_under_load_always_comes_back() {
    let account = Arc::new(start().await);
    let east = at(&account, EAST);
    let load: Vec<_> = BOTH
        .into_iter()
        .map(|protocol| {
            let (account, east) = (Arc::clone(&account), east.clone());
            tokio::spawn(async move {
                loop {
                    let Ok(mut connection) = Connection::open(&east, protocol).await else {
                        tokio::task::yield_now().await;
                        continue;
                    };
                    let request = Ask::account().sign(&east, protocol, account.key());
                    let _ = connection.send(request).await;
                }
            })
        })
        .collect();
    for _ in 0..30 {
        let refuse = FaultRule::at(EAST, FaultKind::RefuseConnections);
        let id = account.faults().set(refuse).await.unwrap();
        assert!(TcpStream::connect(address(&east)).await.is_err());
        account.faults().clear(id).await;
        assert_eq!(Ask::account().to(&account, &east).await.code(), (200, 0));
    }
    for load in load {
        load.abort();
    }
    assert!(account.violations().is_empty());
}

#[tokio::test]
async fn dropping_the_account_ends_its_connections_and_ports() {
    let account = start().await;
    let east = at(&account, EAST);
    for protocol in BOTH {
        let account = start().await;
        let east = at(&account, EAST);
        let mut connection = Connection::open(&east, protocol).await.unwrap();
        let request = Ask::account().sign(&east, protocol, account.key());
        connection.send(request).await.unwrap();
        drop(account);
        connection.closed().await;
        assert!(TcpStream::connect(address(&east)).await.is_err());
    }
    // Another account is not concerned.
    Ask::account().to(&account, &east).await;
}
