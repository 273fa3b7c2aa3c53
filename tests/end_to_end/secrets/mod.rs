//! What is logged or printed holds no key, no signature, no token and nothing of a document.
//!
//! Logged: at every level, by our own crates and by those below them (hyper, hyper-util, h2, tokio), all but
//! the emulator that the embedded account is made of. Our own lines (targets `cosmos_core`, `tower_cosmos`,
//! `cosmos_client`) do not even name items. TLS is not part of these runs; rustls sees plaintext only
//! to encrypt it.
//!
//! Printed: `Debug` of what a caller gets hold of, `Display` and `Debug` of errors and all of their causes.
//! Not ours to keep quiet are `http`'s requests and responses, and values that are what the caller
//! made them of, such as `PartitionKey`. The ids in a URI are no secret.

mod captured;
mod needles;
mod silent;

use cosmos_client::CosmosClient;
use cosmos_core::signing::MasterKey;
use cosmos_core::{PartitionKey, headers, requests};
use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultScope, WriteMode};
use cosmos_tests::{Req, Seen, ms, with};
use futures::FutureExt;
use serde_json::json;
use tracing::level_filters::LevelFilter;

pub(crate) use captured::Captured;
use needles::{Needles, Noting};
use tower_cosmos::KeyCredential;

use crate::harness::{A, B, BOTH, C, TEXT, World, eventually, faults, read_container};

/// The partition key and the id of every item here.
const KEY: &str = "nobody-may-log-this-key";
const ID: &str = "nobody-asked-for-this-id";

/// One operation of every kind whose request or answer holds something.
fn kinds() -> Vec<Req> {
    let (d, c, key) = ("shop", "orders", &PartitionKey::from(KEY));
    let item = || json!({ "id": ID, "pk": KEY, "text": TEXT });
    let patch = json!({ "operations": [{ "op": "set", "path": "/text", "value": TEXT }] });
    let query = requests::Query::new(format!("SELECT * FROM c WHERE c.text = \"{TEXT}\""))
        .parameter("@text", TEXT);
    let batch = json!([{ "operationType": "Upsert", "resourceBody": item() }]);
    let requests = [
        requests::upsert_item(d, c, key, item()),
        requests::create_item(d, c, key, item()),
        requests::read_item(d, c, ID, key),
        requests::replace_item(d, c, ID, key, item()),
        requests::patch_item(d, c, ID, key, patch),
        requests::query_items(d, c, query).partition_key(key),
        requests::read_feed(d, c).partition_key(key),
        requests::batch(d, c, key, batch),
        requests::execute_stored_procedure(d, c, "s", key, json!([TEXT])),
        requests::delete_item(d, c, ID, key),
    ];
    let built = requests.map(|request| {
        Needles::of_items().check("a request builder", &format!("{request:?} {request:#?}"));
        request.build().unwrap()
    });
    built.into()
}

impl Needles {
    /// What items hold.
    fn of_items() -> Self {
        let mut needles = Self::default();
        needles.text("a document", TEXT);
        needles.text("a partition key", KEY);
        needles
    }

    /// The session tokens that came back.
    fn session_tokens(&mut self, seen: &[Seen]) {
        for response in seen.iter().filter_map(|seen| seen.result.as_ref().ok()) {
            let token = response.headers().get(headers::SESSION_TOKEN);
            if let Some(token) = token.and_then(|token| token.to_str().ok()) {
                self.text("a session token", token);
            }
        }
    }
}

/// Everything printable that a caller can get hold of.
fn printed(client: &CosmosClient, seen: &[Seen]) -> String {
    let (account, leaf) = (client.account(), client.leaf());
    let (circuits, moved) = (client.circuits(), client.write_regions());
    let mut parts = vec![
        format!("{client:?} {client:#?} {account:?} {leaf:?} {circuits:?} {moved:?}"),
        format!("{:?} {:?}", circuits.list(), account.topology()),
    ];
    for seen in seen {
        match &seen.result {
            Ok(response) => parts.push(format!("{:?}", response.extensions())),
            Err(error) => {
                parts.push(format!("{error} {error:?} {error:#?}"));
                let causes = cosmos_core::causes(&**error);
                parts.extend(causes.map(|cause| format!("{cause} {cause:?}")));
            }
        }
        if let Some(journal) = &seen.journal {
            parts.push(format!("{journal} {journal:?} {journal:#?}"));
        }
    }
    parts.join("\n")
}

/// Our own lines of a log.
fn ours(log: &str) -> String {
    let targets = [" tower_cosmos::", " cosmos_client::", " cosmos_core::"];
    let lines = log
        .lines()
        .filter(|line| targets.iter().any(|target| line.contains(target)));
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn nothing_that_is_logged_or_printed_holds_a_secret_or_a_document() {
    let captured = Captured::at(LevelFilter::TRACE);
    for protocol in BOTH {
        for kind in faults() {
            let world = World::start(WriteMode::Multi).await;
            let mut needles = Needles::of_items();
            needles.key(world.account.key());
            let key = MasterKey::from_base64(world.account.key()).unwrap();
            let credential = Noting::new(KeyCredential::new(key));
            let builder =
                crate::harness::builder(world.account.endpoint(), credential.clone(), protocol)
                    .account(|account| account.read_timeout(ms(400)));
            needles.check("the builder", &format!("{builder:?} {builder:#?}"));
            let client = builder.build().unwrap();
            let mut transitions = client.circuits().subscribe();
            eventually("it is answered", || async {
                let seen = world.send_all(&client, kinds().into_iter().take(1)).await;
                seen.iter().all(|seen| seen.result.is_ok())
            })
            .await;
            let mut seen = world.send_all(&client, kinds()).await;
            for region in [A, B, C] {
                world.fault(region, kind.clone()).await;
            }
            let failing = kinds().into_iter().chain([read_container()]);
            let options = cosmos_core::OperationOptions::new().timeout(ms(200));
            let failing = failing.map(|it| with(it, options.clone()));
            seen.extend(world.send_all(&client, failing).await);
            world
                .set(FaultRule::new(
                    FaultScope::Global,
                    FaultKind::RefuseConnections,
                ))
                .await;
            client.account().refresh().await;
            client.close();
            seen.push(world.send(&client, read_container()).await);
            for sent in credential.sent() {
                needles.authorization(&sent);
            }
            assert!(!credential.sent().is_empty());
            needles.session_tokens(&seen);
            needles.check("what a caller prints", &printed(&client, &seen));
            let logged = captured.text();
            needles.check("the log", &logged);
            assert!(logged.contains("cosmos.region"), "the log was captured");
            assert!(logged.contains("hyper_util::"), "other crates', too");
            needles.text("an item's id", ID);
            needles.check("our log", &ours(&logged));
            while let Some(Some(transition)) = transitions.next().now_or_never() {
                needles.check("a transition", &format!("{transition:?}"));
            }
            world.check();
        }
    }
}
