//! Request bodies: streams that are read once and sent often, and bytes that are not characters.

use std::convert::Infallible;

use bytes::Bytes;
use cosmos_core::{FailureKind, OperationOptions, requests};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{Lab, account, boxed, read, recommended, s, send, with};
use futures::stream;
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use tokio::time::Instant;
use tower::limit::ConcurrencyLimitLayer;
use tower::{Layer, ServiceExt};
use tower_cosmos::{BufferLayer, BufferRequestLayer, EndpointLayer};

const TEXT: &str = "{\"id\":\"1\",\"name\":\"日本 é \u{1f30a}\"}";

fn failing(regions: &ScriptedAccount) {
    let refused = Step::fail(FailureKind::Reset);
    regions.script(
        "A",
        [
            Step::status(429, 0).hint("5"),
            refused,
            Step::status(503, 0),
        ],
    );
    regions.script("B", [Step::status(449, 0), Step::status(404, 1002)]);
}

/// What all attempts say of their body.
fn bodies(regions: &ScriptedAccount) -> Vec<Bytes> {
    let wire = regions.wire();
    for entry in &wire.0 {
        let length = entry.header("content-length");
        assert!(
            length.is_empty() || length == TEXT.len().to_string(),
            "{length} for {} bytes",
            TEXT.len()
        );
    }
    wire.0.into_iter().map(|entry| entry.body).collect()
}

#[tokio::test(start_paused = true)]
async fn a_streamed_body_is_read_once_and_sent_whole_on_every_attempt() {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B", "C"]));
    let account = account(&regions, |account| account);
    let stack = BufferRequestLayer::new().layer(recommended(&account).layer(regions.clone()));
    failing(&regions);
    let chunks = TEXT.as_bytes().chunks(7).map(|chunk| {
        let frame = Frame::data(Bytes::copy_from_slice(chunk));
        Ok::<_, Infallible>(frame)
    });
    let body = StreamBody::new(stream::iter(chunks.collect::<Vec<_>>()));
    let request = requests::create_item("d", "c", &"p".into(), Bytes::new());
    let request = request.build().unwrap().map(|_| body);
    let response = stack.oneshot(request).await.unwrap();
    assert_eq!(response.status(), 201);
    assert_eq!(regions.wire().regions(), "A A A B B C");
    assert_eq!(
        bodies(&regions),
        vec![Bytes::from_static(TEXT.as_bytes()); 6]
    );
}

#[tokio::test(start_paused = true)]
async fn a_body_with_characters_of_many_bytes_is_the_same_on_every_attempt() {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B", "C"]));
    let account = account(&regions, |account| account);
    let stack = recommended(&account).layer(regions.clone());
    failing(&regions);
    let item = Bytes::from_static(TEXT.as_bytes());
    let request = requests::create_item("d", "c", &"日本".into(), item);
    let response = stack.oneshot(request.build().unwrap()).await.unwrap();
    assert_eq!(response.status(), 201);
    assert_eq!(
        bodies(&regions),
        vec![Bytes::from_static(TEXT.as_bytes()); 6]
    );
    for entry in regions.wire().0 {
        let key = entry.header("x-ms-documentdb-partitionkey");
        assert_eq!(key.to_lowercase(), "[\"\\u65e5\\u672c\"]");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_slowly_keeps_nobody_else_waiting() {
    let regions = ScriptedAccount::new(Document::multi_write(["A"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let limited = ConcurrencyLimitLayer::new(1).layer(recommended(&account).layer(regions.clone()));
    let stack = BufferRequestLayer::new().layer(limited);
    let slow = stream::unfold(false, |sent| async move {
        tokio::time::sleep(s(10)).await;
        let frame = Frame::data(Bytes::from_static(b"{}"));
        (!sent).then_some((Ok::<_, Infallible>(frame), true))
    });
    let create = || requests::create_item("d", "c", &"p".into(), Bytes::new()).build();
    let request = create().unwrap().map(|_| StreamBody::new(Box::pin(slow)));
    let uploading = tokio::spawn(stack.clone().oneshot(request));
    tokio::time::sleep(s(1)).await;
    let began = Instant::now();
    let quick = create()
        .unwrap()
        .map(|_| Full::new(Bytes::from_static(b"{}")));
    assert_eq!(stack.oneshot(quick).await.unwrap().status(), 201);
    assert_eq!(began.elapsed(), s(0));
    assert_eq!(uploading.await.unwrap().unwrap().status(), 201);
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_comes_after_the_deadline_sends_nothing() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.account.refresh().await;
    let endpoint = EndpointLayer::new(lab.account.clone());
    let limited =
        ConcurrencyLimitLayer::new(1).layer(BufferLayer::new().layer(lab.regions.clone()));
    let stack = boxed(endpoint.layer(BufferRequestLayer::new().layer(limited)));
    lab.regions.script("A", [Step::status(200, 0).after(s(5))]);
    let within = |limit| with(read(), OperationOptions::new().timeout(limit));
    let began = Instant::now();
    let (first, hasty, patient) = tokio::join!(
        send(&stack, read()),
        async { (send(&stack, within(s(2))).await, began.elapsed()) },
        async { (send(&stack, within(s(9))).await, began.elapsed()) },
    );
    assert_eq!(first.status().code(), 200);
    assert_eq!(hasty.0.error().kind(), FailureKind::DeadlineExceeded);
    assert_eq!(hasty.1, s(2));
    assert_eq!((patient.0.status().code(), patient.1), (200, s(5)));
    assert_eq!(lab.wire().regions(), "A A");
}
