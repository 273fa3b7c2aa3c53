//! What is logged or printed holds no secret and no document.

use std::io;
use std::sync::Arc;

use cosmos_client::CosmosClient;
use cosmos_core::{JournalSlot, OperationOptions};
use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultScope, WriteMode};
use cosmos_tests::{Seen, ms, with};
use parking_lot::Mutex;
use tracing::Dispatch;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};

use crate::harness::{A, B, BOTH, C, TEXT, World, eventually, faults, mixed, read_container};

/// What this thread logs, until it is dropped.
pub(crate) struct Captured {
    written: Written,
    // Dropped before the second one.
    _guard: DefaultGuard,
    _second: Dispatch,
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// Captures at this level all but what the embedded account's emulator says.
    pub(crate) fn at(level: LevelFilter) -> Self {
        let written = Written::default();
        let targets = Targets::new()
            .with_default(level)
            .with_target("azure_core", LevelFilter::OFF)
            .with_target("azure_data_cosmos_driver", LevelFilter::OFF);
        let lines = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(written.clone())
            .with_filter(targets);
        let subscriber = tracing_subscriber::registry().with(lines);
        // While there is one subscriber alone, tracing asks that of the thread which comes to an
        // event first; a thread without any would turn the event off for all.
        let second = Dispatch::new(NoSubscriber::default());
        let guard = tracing::subscriber::set_default(subscriber);
        tracing::callsite::rebuild_interest_cache();
        Self {
            written,
            _guard: guard,
            _second: second,
        }
    }

    /// What was logged since the last time.
    pub(crate) fn text(&self) -> String {
        let bytes = std::mem::take(&mut *self.written.0.lock());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Written {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn holds_no_secret(what: &str, text: &str, key: &str) {
    let signed = ["type%3dmaster", "type=master", "sig%3d", "sig="];
    let lower = text.to_lowercase();
    let found = signed
        .into_iter()
        .find(|secret| lower.contains(secret))
        .or_else(|| text.contains(key).then_some("the key"))
        .or_else(|| text.contains(TEXT).then_some("a document"));
    if let Some(found) = found {
        let place = text.lines().find(|line| {
            let lower = line.to_lowercase();
            signed.iter().any(|secret| lower.contains(secret))
                || line.contains(key)
                || line.contains(TEXT)
        });
        panic!("{what} holds {found}: {place:?}");
    }
}

/// Everything printable that a caller can get hold of.
fn printed(client: &CosmosClient, seen: &[Seen]) -> String {
    let (account, leaf) = (client.account(), client.leaf());
    let mut parts = vec![format!("{client:?} {client:#?} {account:?} {leaf:?}")];
    for seen in seen {
        if let Err(error) = &seen.result {
            parts.push(format!("{error} {error:?} {error:#?}"));
            parts.extend(cosmos_core::causes(&**error).map(|cause| format!("{cause} {cause:?}")));
        }
        if let Some(journal) = &seen.journal {
            parts.push(format!("{journal} {journal:?} {journal:#?}"));
        }
    }
    parts.join("\n")
}

#[tokio::test]
async fn nothing_that_is_logged_or_printed_holds_a_secret_or_a_document() {
    let captured = Captured::at(LevelFilter::TRACE);
    for protocol in BOTH {
        for kind in faults() {
            let world = World::start(WriteMode::Multi).await;
            let key = world.account.key().to_owned();
            let builder = world
                .builder(protocol)
                .account(|account| account.read_timeout(ms(400)));
            holds_no_secret("the builder", &format!("{builder:?}"), &key);
            let credential = world.credential();
            holds_no_secret("the credential", &format!("{credential:?}"), &key);
            let client = builder.build().unwrap();
            eventually("it is answered", || async {
                let seen = world.send_all(&client, mixed(2)).await;
                seen.iter().all(|seen| seen.result.is_ok())
            })
            .await;
            let mut seen = world.send_all(&client, mixed(2)).await;
            for region in [A, B, C] {
                world.fault(region, kind.clone()).await;
            }
            let failing = mixed(4).chain([read_container()]);
            let limited = failing.map(|it| with(it, OperationOptions::new().timeout(ms(200))));
            seen.extend(world.send_all(&client, limited).await);
            world
                .set(FaultRule::new(
                    FaultScope::Global,
                    FaultKind::RefuseConnections,
                ))
                .await;
            client.account().refresh().await;
            client.close();
            seen.push(world.send(&client, read_container()).await);
            holds_no_secret("what a caller prints", &printed(&client, &seen), &key);
            let logged = captured.text();
            holds_no_secret("the log", &logged, &key);
            assert!(logged.contains("cosmos.region"), "the log was captured");
            assert!(logged.contains("hyper_util::"), "other crates', too");
            let slot = JournalSlot::new();
            holds_no_secret("a slot", &format!("{slot:?}"), &key);
            world.check();
        }
    }
}
