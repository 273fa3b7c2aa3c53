//! Clients that are gone leave nothing.
//!
//! Alone in its process: it counts what the process has.

use std::sync::Arc;
use std::time::Duration;

use cosmos_client::{CosmosClient, Leaf, Protocol};
use cosmos_core::requests;
use cosmos_core::signing::MasterKey;
use cosmos_testbed::EmbeddedAccount;
use cosmos_testbed::embedded::{FaultKind, FaultRule, WriteMode};
use cosmos_tests::{ms, s, with};
use futures::future::join_all;
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tower::ServiceExt;
use tower_cosmos::KeyCredential;

const REGIONS: [&str; 3] = ["East US", "West US 3", "North Europe"];

/// So many at once: each has a few connections, of which this process has both ends.
const AT_ONCE: usize = 25;

const ROUNDS: usize = 40;

/// What is dropped is gone by then.
const PATIENCE: Duration = s(20);

/// The runtime's tasks, and the process's sockets (0 where the system does not tell).
fn left() -> (usize, usize) {
    let files = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    let sockets = links.filter(|link| link.to_string_lossy().starts_with("socket:"));
    let tasks = Handle::current().metrics().num_alive_tasks();
    (tasks, sockets.count())
}

/// Nothing here speaks TLS, and reading the platform's roots a thousand times takes minutes.
fn trusting_nobody() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("protocol versions")
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth()
}

fn client(account: &EmbeddedAccount, protocol: Protocol) -> CosmosClient {
    let key = MasterKey::from_base64(account.key()).expect("a key");
    CosmosClient::builder(account.endpoint(), KeyCredential::new(key))
        .preferred_regions(REGIONS)
        .leaf(
            Leaf::builder()
                .protocol(protocol)
                .tls_config(trusting_nobody()),
        )
        .build()
        .expect("a client")
}

/// A read and an upsert at once, and whether both were good.
async fn used(client: &CosmosClient) -> bool {
    let key = "p".into();
    let item = json!({ "id": "1", "pk": "p" });
    let requests = [
        requests::upsert_item("shop", "orders", &key, item),
        requests::read_feed("shop", "orders").partition_key(&key),
    ];
    let calls = requests.map(|request| client.clone().oneshot(request.build().expect("good")));
    let answers = join_all(calls).await;
    answers
        .into_iter()
        .all(|answer| answer.is_ok_and(|answer| answer.status().is_success()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_clients_built_used_and_dropped_leave_no_task_and_no_socket() {
    let account = EmbeddedAccount::builder()
        .regions(REGIONS)
        .write_mode(WriteMode::Multi)
        .container("shop", "orders", "/pk", 2)
        .start()
        .await
        .expect("an account");
    let before = left();
    for round in 0..ROUNDS {
        let protocol = [Protocol::Http1, Protocol::Http2][round % 2];
        let clients: Vec<_> = (0..AT_ONCE).map(|_| client(&account, protocol)).collect();
        // Every fifth is dropped as it was built, without ever having been used.
        let uses = clients.iter().enumerate().filter(|(n, _)| n % 5 != 4);
        let good = join_all(uses.map(|(_, client)| used(client))).await;
        assert!(good.into_iter().all(|good| good), "round {round}");
        if round % 10 == 9 {
            // And some with calls under way that nobody answers.
            let hang = FaultRule::at(REGIONS[0], FaultKind::Hang);
            let id = account.faults().set(hang).await.expect("a fault");
            let request = requests::read_item("shop", "orders", "1", &"p".into());
            let request = request.build().expect("good");
            let options = cosmos_core::OperationOptions::new().timeout(s(60));
            let request = with(request, options);
            let calls = clients
                .iter()
                .map(|client| client.clone().oneshot(request.clone()));
            let unanswered = tokio::time::timeout(ms(20), join_all(calls)).await;
            assert!(unanswered.is_err());
            account.faults().clear(id).await;
        }
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (tasks, sockets) = left();
        if tasks <= before.0 && sockets <= before.1 {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "{tasks} tasks and {sockets} sockets, {before:?} before"
        );
        tokio::time::sleep(ms(20)).await;
    }
    assert!(account.violations().is_empty());
}
