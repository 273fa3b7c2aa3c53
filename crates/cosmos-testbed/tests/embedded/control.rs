//! The control endpoint, and the program that prints where it is.

use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use cosmos_testbed::EmbeddedAccount;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::client::{Ask, BOUND, Connection, EAST, Protocol, WEST, address, at, start};

async fn call(control: &str, method: Method, path: &str, body: Value) -> (u16, Value) {
    let mut connection = Connection::open(control, Protocol::Http1).await.unwrap();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", address(control))
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    let reply = connection.send(request).await.unwrap();
    (reply.status.as_u16(), reply.json())
}

async fn read(account: &EmbeddedAccount) -> (u16, u32) {
    Ask::read("1", r#"["a"]"#)
        .to(account, &at(account, EAST))
        .await
        .code()
}

#[tokio::test]
async fn faults_are_set_listed_and_cleared() {
    let account = start().await;
    let control = account.open_control().await.unwrap();
    let rule = json!({ "scope": { "region": EAST }, "kind": { "status": { "status": 503 } } });
    let (status, set) = call(&control, Method::POST, "/faults", rule).await;
    assert_eq!(status, 200, "{set}");
    assert_eq!(read(&account).await, (503, 0));
    let (_, faults) = call(&control, Method::GET, "/faults", Value::Null).await;
    assert_eq!(faults[0]["id"], set["id"]);
    assert_eq!(faults[0]["rule"]["probability"], 1.0);
    let path = format!("/faults/{}", set["id"]);
    let (_, cleared) = call(&control, Method::DELETE, &path, Value::Null).await;
    assert_eq!(cleared["cleared"], true);
    assert_eq!(read(&account).await, (404, 0));
    let (_, counts) = call(&control, Method::GET, "/counts", Value::Null).await;
    assert_eq!(counts["regions"][EAST]["data"], 2);
    assert_eq!(counts["global"]["data"], 0);
}

#[tokio::test]
async fn every_spelling_of_a_rule_is_understood() {
    let account = start().await;
    let control = account.open_control().await.unwrap();
    for kind in [
        json!("hang"),
        json!("refuse_connections"),
        json!("reset_after_request"),
        json!("lose_answer"),
        json!("cut_body"),
        json!("go_away"),
        json!({ "delay": 250 }),
        json!({ "throttle": { "retry_after_ms": 5 } }),
    ] {
        let rule = json!({
            "scope": "all_regions", "kind": kind, "partition_key": "[1]", "range": "0",
            "requests": "writes", "probability": 0.5, "times": 3, "lapse_after": 60_000
        });
        let (status, answer) = call(&control, Method::POST, "/faults", rule).await;
        assert_eq!(status, 200, "{kind}: {answer}");
    }
    assert_eq!(account.faults().active().len(), 8);
    call(&control, Method::DELETE, "/faults", Value::Null).await;
    assert!(account.faults().active().is_empty());
}

#[tokio::test]
async fn the_account_is_moved_and_says_why_not() {
    let account = start().await;
    let control = account.open_control().await.unwrap();
    let wanted = json!({ "move": "fail_over", "region": WEST });
    assert_eq!(call(&control, Method::POST, "/moves", wanted).await.0, 200);
    assert_eq!(account.hub(), WEST);
    let (_, described) = call(&control, Method::GET, "/account", Value::Null).await;
    assert_eq!(described["hub"], WEST);
    for wrong in [
        json!({ "move": "fail_over", "region": "Atlantis" }),
        json!({ "move": "levitate" }),
        json!({ "move": "remove_region", "region": WEST }),
    ] {
        let (status, answer) = call(&control, Method::POST, "/moves", wrong).await;
        assert_eq!(status, 400);
        assert!(
            answer["error"]
                .as_str()
                .is_some_and(|error| !error.is_empty())
        );
    }
    let split = json!({
        "move": "split_partition", "database": "shop", "container": "orders", "partition": 0
    });
    let (status, children) = call(&control, Method::POST, "/moves", split).await;
    assert_eq!(status, 200, "{children}");
    assert_eq!(children["result"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn another_host_does_not_drive_the_account() {
    let account = start().await;
    let control = account.open_control().await.unwrap();
    let mut connection = Connection::open(&control, Protocol::Http1).await.unwrap();
    let request = Request::builder()
        .uri("/account")
        .header("host", "attacker.example")
        .body(Full::default())
        .unwrap();
    assert_eq!(connection.send(request).await.unwrap().status, 421);
}

#[tokio::test]
async fn the_program_prints_one_line_and_serves_until_it_is_stopped() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cosmos-testbed"))
        .args([
            "--regions",
            "2",
            "--write-mode",
            "multi",
            "--partitions",
            "1",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let line = timeout(BOUND, lines.next_line())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    let endpoint = line["endpoint"].as_str().unwrap();
    let mut connection = Connection::open(endpoint, Protocol::Http2).await.unwrap();
    let key = line["key"].as_str().unwrap();
    let request = Ask::account().sign(endpoint, Protocol::Http2, key);
    let document = connection.send(request).await.unwrap().json();
    assert_eq!(
        document["writableLocations"].as_array().map(Vec::len),
        Some(2)
    );
    let regional = &document["readableLocations"][1]["databaseAccountEndpoint"];
    assert_eq!(*regional, line["regions"][1]["endpoint"]);
    let control = line["control"].as_str().unwrap();
    let (_, counts) = call(control, Method::GET, "/counts", Value::Null).await;
    assert_eq!(counts["global"]["account_reads"], 1);
    let running = timeout(Duration::from_millis(50), program.wait()).await;
    running.expect_err("it stopped by itself");
}
