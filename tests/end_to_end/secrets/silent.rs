//! Resource tokens, answers that are no good, and values that a caller has in hand.

use std::fmt::Write;

use cosmos_client::{CosmosClient, Leaf, Protocol};
use cosmos_core::signing::MasterKey;
use cosmos_core::{BoxError, ConnectionString, OperationOptions, PartitionKey, requests};
use cosmos_testbed::embedded::WriteMode;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, read, recommended, s, with};
use serde_json::json;
use tower::{Layer, ServiceExt};
use tower_cosmos::{
    Account, BufferLayer, EndpointLayer, KeyCredential, PartitionLayer, ResourceTokenCredential,
    SessionTokenLayer, SigningLayer,
};
use tracing::level_filters::LevelFilter;

use super::captured::Captured;
use super::needles::Needles;
use super::{KEY, TEXT, kinds};
use crate::harness::{BOTH, World};

const RESOURCE_TOKEN: &str = "type=resource&ver=1&sig=bm9ib2R5LW1heS1sb2ctdGhpcw==;secretpart==;";
const MASTER_KEY: &str = "bm9ib2R5IG1heSBsb2cgdGhpcyBrZXksIG5vdCBldmVuIG9uY2U=";
const SESSION_TOKEN: &str = "0:1#987654321#3=123456789";

/// An error and all of its causes, as they print themselves.
fn told(error: &BoxError) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    for cause in cosmos_core::causes(&**error) {
        let _ = write!(text, "{cause} {cause:?}");
    }
    text
}

/// A response is the caller's own.
fn drop_good<R>(_: R) -> String {
    String::new()
}

#[tokio::test]
async fn a_resource_token_is_neither_logged_nor_printed() {
    let captured = Captured::at(LevelFilter::TRACE);
    let mut needles = Needles::of_items();
    needles.text("the token", RESOURCE_TOKEN);
    needles.text("the token's signature", "bm9ib2R5LW1heS1sb2ctdGhpcw==");
    for protocol in BOTH {
        let world = World::start(WriteMode::Single).await;
        let token = ResourceTokenCredential::new(RESOURCE_TOKEN).unwrap();
        needles.check("the credential", &format!("{token:?}"));
        let builder = crate::harness::builder(world.account.endpoint(), token, protocol)
            .account(|account| account.discovery(false));
        needles.check("the builder", &format!("{builder:?}"));
        let client = builder.build().unwrap();
        // It is none of this account's.
        for request in kinds() {
            let answered = client.clone().oneshot(request).await.unwrap();
            assert_eq!(answered.status(), 401);
        }
        needles.check("the client", &format!("{client:?}"));
        let logged = captured.text();
        assert!(logged.contains("cosmos.region"), "the log was captured");
        needles.check("the log", &logged);
    }
}

#[tokio::test(start_paused = true)]
async fn what_failing_answers_say_is_neither_logged_nor_printed() {
    let captured = Captured::at(LevelFilter::TRACE);
    let needles = Needles::of_items();
    let body = json!({ "code": "Conflict", "message": TEXT, "pk": KEY }).to_string();
    for step in [
        Step::status(400, 0),
        Step::status(409, 0),
        Step::status(503, 0),
        Step::status(429, 3200),
        Step::status(200, 0).breaking(),
        Step::status(503, 0).breaking(),
        Step::status(200, 0).stalling(),
    ] {
        // Too large to be read is a failure of its own.
        for limit in [1 << 20, 16] {
            let limit = BufferLayer::new().limit(limit);
            let document = Document::multi_write(["A", "B"]);
            let lab = Lab::around(
                document,
                |account| account,
                |account| recommended(account).buffer(|_| limit),
            );
            for region in ["A", "B"] {
                let step = step.clone().body(body.clone()).forever();
                lab.regions.script(region, [step]);
                let text = Step::status(500, 0).body(body.clone()).forever();
                lab.regions.script_account_reads(region, [text]);
            }
            let options = OperationOptions::new().timeout(s(20));
            let seen = lab.send(with(read(), options)).await;
            needles.check("the journal", &format!("{:?}", seen.journal));
            needles.check(
                "the error",
                &seen.result.map_or_else(|it| told(&it), drop_good),
            );
            // An account document that is none.
            lab.regions.set_raw_document(body.clone());
            tokio::time::advance(s(10)).await;
            lab.account.refresh().await;
            needles.check("the account", &format!("{:?} {lab:?}", lab.account));
            let logged = captured.text();
            assert!(logged.contains("cosmos.region"), "the log was captured");
            needles.check("the log", &logged);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn layers_and_their_services_print_no_session_token() {
    let mut needles = Needles::of_items();
    needles.text("a session token", SESSION_TOKEN);
    needles.text("a session token", "987654321");
    needles.key(cosmos_tests::KEY);
    let mut printed = String::new();
    let lab = Lab::around(
        Document::multi_write(["A"]),
        |account| account,
        |account| {
            let layers = recommended(account).session_token(|layer| layer.enabled(true));
            printed = format!("{layers:?} {layers:#?}");
            layers
        },
    );
    let token = Step::status(200, 0).header("x-ms-session-token".parse().unwrap(), SESSION_TOKEN);
    lab.regions.script("A", [token.body(TEXT)]);
    let layer = SessionTokenLayer::new(lab.account.clone());
    let stack = layer.layer(
        EndpointLayer::new(lab.account.clone())
            .layer(SigningLayer::new(cosmos_tests::credential()).layer(lab.regions.clone())),
    );
    let known = with(read(), OperationOptions::new().partition_key_range("0"));
    let first = stack.clone().oneshot(known.clone()).await.unwrap();
    assert_eq!(first.headers()["x-ms-session-token"], SESSION_TOKEN);
    let second = stack.clone().oneshot(known);
    let _ = write!(printed, "{layer:?} {layer:#?} {stack:?}");
    let _ = write!(printed, "{:?}", PartitionLayer::new(lab.account.clone()));
    second.await.unwrap();
    let sent = &lab.wire().0[1];
    assert!(!sent.header("x-ms-session-token").is_empty(), "it was kept");
    needles.authorization(sent.header("authorization"));
    needles.check("what is printed", &printed);
}

#[test]
fn values_that_hold_a_secret_do_not_print_it() {
    let mut needles = Needles::of_items();
    needles.key(MASTER_KEY);
    needles.text("a session token", SESSION_TOKEN);
    let key = MasterKey::from_base64(MASTER_KEY).unwrap();
    let text = format!("AccountEndpoint=https://a.example/;AccountKey={MASTER_KEY};");
    let string: ConnectionString = text.parse().unwrap();
    let client = CosmosClient::from_connection_string(&text).unwrap();
    let query = || requests::Query::new(TEXT).parameter("@text", TEXT);
    let payload = requests::Payload::from(json!({ "text": TEXT }));
    let request = requests::query_items("d", "c", query())
        .session_token(SESSION_TOKEN)
        .partition_key(&PartitionKey::from(KEY));
    let leaf = Leaf::builder().protocol(Protocol::Http1);
    for printed in [
        format!("{key:?} {:?}", KeyCredential::new(key.clone())),
        format!("{string:?} {client:?} {leaf:?}"),
        format!("{:?} {payload:?} {request:?}", query()),
        format!("{:?}", requests::Json(TEXT)),
    ] {
        needles.check("a value", &printed);
    }
}

#[test]
fn what_cannot_be_built_repeats_nothing() {
    let mut needles = Needles::of_items();
    needles.key(MASTER_KEY);
    let check = |error: BoxError| needles.check("an error", &told(&error));
    // A key in every place where another text belongs.
    for wrong in [
        format!("AccountKey={MASTER_KEY};"),
        format!("AccountEndpoint=https://a.example/;AccountKey={MASTER_KEY}!;"),
        format!("AccountEndpoint={MASTER_KEY};AccountKey={MASTER_KEY};"),
        MASTER_KEY.to_owned(),
    ] {
        check(wrong.parse::<ConnectionString>().unwrap_err().into());
        check(
            CosmosClient::from_connection_string(&wrong)
                .unwrap_err()
                .into(),
        );
        let key = || KeyCredential::new(MasterKey::from_base64(MASTER_KEY).unwrap());
        let leaf = cosmos_testbed::ScriptedAccount::new(Document::single_write(["A"]));
        let account = Account::builder(&wrong, key()).build(leaf);
        check(account.map(drop).unwrap_err().into());
        let client = CosmosClient::builder(&wrong, key()).build();
        check(client.map(drop).unwrap_err().into());
    }
    check(
        MasterKey::from_base64(&format!("{MASTER_KEY}!"))
            .map(drop)
            .unwrap_err()
            .into(),
    );
    let key = PartitionKey::from(KEY);
    let bad = requests::read_item("d", "c", "1", &key).session_token(&format!("{TEXT}\n"));
    check(bad.build().unwrap_err().into());
}
