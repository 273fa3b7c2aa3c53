//! Every attempt is signed when it is sent, with the credential as it is then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use cosmos_core::signing::{MasterKey, http_date};
use cosmos_core::{BoxError, OperationOptions};
use cosmos_testbed::scripted::{Document, Step, WireEntry};
use cosmos_tests::{KEY, Lab, account, boxed, create, execute, read, s, send, with};
use http::HeaderValue;
use tower::Layer;
use tower_cosmos::credential::ToSign;
use tower_cosmos::{Credential, KeyCredential, RecommendedLayer};

fn key(text: &str) -> MasterKey {
    MasterKey::from_base64(text).expect("a good key")
}

/// Whether an entry is dated when it was sent, and signed for that date with this key.
fn is_signed(entry: &WireEntry, key: &MasterKey) -> bool {
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
    let date = http_date(start + entry.at);
    entry.header("x-ms-date") == date
        && entry.headers["authorization"] == key.sign(&entry.method, &entry.path, &date)
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_signed_for_the_moment_of_its_sending() {
    for request in [read(), create(), execute()] {
        let lab = Lab::new(Document::multi_write(["A", "B"]));
        for region in ["A", "B"] {
            let throttled = || Step::status(429, 0).hint("9000");
            lab.regions
                .script(region, [throttled(), throttled(), throttled()]);
            lab.regions
                .script(region, (0..50).map(|_| Step::status(403, 1008)));
        }
        assert!(lab.send(request).await.status().is_success());
        let wire = lab.wire();
        assert!(wire.0.last().unwrap().at > s(120), "{wire}");
        for entry in &wire.0 {
            assert!(is_signed(entry, &key(KEY)), "{entry:?}");
            assert_eq!(entry.headers.get_all("authorization").iter().count(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_replaced_during_an_operation_signs_its_next_attempt() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let credential = KeyCredential::new(key(KEY));
    let layers = RecommendedLayer::new(lab.account.clone(), credential.clone())
        .partition(|layer| layer.enabled(false));
    let stack = boxed(layers.layer(lab.regions.clone()));
    let throttled = Step::status(429, 0).hint("1000");
    lab.regions.script("A", [throttled.clone(), throttled]);
    let other = "YW5vdGhlciBrZXkgb2YgbW9yZSB0aGFuIDMyIGJ5dGVzLg==";
    let (seen, ()) = tokio::join!(send(&stack, read()), async {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        credential.replace(key(other));
    });
    assert_eq!(seen.status().code(), 200);
    let wire = lab.wire();
    let signed: Vec<_> = wire
        .0
        .iter()
        .map(|entry| (is_signed(entry, &key(KEY)), is_signed(entry, &key(other))))
        .collect();
    assert_eq!(signed, [(true, false), (true, false), (false, true)]);
}

/// Counts how often it is asked.
#[derive(Clone, Debug, Default)]
struct Counting(Arc<AtomicUsize>);

impl Credential for Counting {
    fn authorize(&self, _: &ToSign<'_>) -> Result<HeaderValue, BoxError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(HeaderValue::from_static("token"))
    }
}

#[tokio::test(start_paused = true)]
async fn the_credential_is_asked_once_for_each_attempt() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    let account = account(&lab.regions, |account| account);
    let credential = Counting::default();
    let layers =
        RecommendedLayer::new(account, credential.clone()).partition(|layer| layer.enabled(false));
    let stack = boxed(layers.layer(lab.regions.clone()));
    lab.regions
        .script("A", [Step::status(429, 0).hint("1"), Step::status(503, 0)]);
    for request in [create(), read(), with(read(), OperationOptions::new())] {
        assert!(send(&stack, request).await.status().is_success());
    }
    assert_eq!(lab.wire().len(), 5);
    assert_eq!(credential.0.load(Ordering::SeqCst), 5);
}
