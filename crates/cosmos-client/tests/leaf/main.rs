//! The leaf against servers on the loopback interface, well behaved and not.

#![allow(clippy::unwrap_used)]

mod frames;
mod peer;

mod connector;
mod failures;
mod health;
mod http1;
mod http2;
mod journal;
mod shards;
mod stack;
mod tls;

use std::time::Duration;

use bytes::Bytes;
use cosmos_client::{Leaf, LeafBuilder};
use cosmos_core::{BoxError, FailureKind, TransportError};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use tower::ServiceExt;

/// A client that trusts nobody, which saves it from reading the platform's roots.
fn builder() -> LeafBuilder {
    Leaf::builder().tls_config(tls::trusting(&[]))
}

fn leaf() -> Leaf {
    builder().build().unwrap()
}

fn get(url: &str) -> Request<Full<Bytes>> {
    Request::get(url).body(Full::default()).unwrap()
}

fn request(method: &Method, url: &str) -> Request<Full<Bytes>> {
    let body = match *method {
        Method::POST => Full::from("the body"),
        _ => Full::default(),
    };
    let request = Request::builder().method(method).uri(url);
    request.body(body).unwrap()
}

/// Sends a request and reads the answer to its end.
async fn send(leaf: &Leaf, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, BoxError> {
    let (head, body) = leaf.clone().oneshot(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}

fn kind(error: &BoxError) -> FailureKind {
    let ours = error.downcast_ref::<TransportError>();
    ours.expect("every error is ours").kind()
}

async fn failure(leaf: &Leaf, request: Request<Full<Bytes>>) -> FailureKind {
    let error = send(leaf, request).await.expect_err("a failure");
    kind(&error)
}

fn in_flight(leaf: &Leaf) -> usize {
    leaf.usage().iter().map(|shard| shard.in_flight).sum()
}

/// Everything here is local: what takes longer than this hangs.
async fn soon<F: Future>(what: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(10), what)
        .await
        .expect("it hangs")
}
