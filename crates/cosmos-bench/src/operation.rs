//! The operation that is measured, and the account that it is for.

use std::borrow::Borrow;
use std::fmt::Debug;
use std::future::Future;
use std::hint::black_box;

use bytes::Bytes;
use cosmos_core::signing::MasterKey;
use cosmos_core::{Journal, PartitionKey, requests};
use http::Response;
use http::response::Parts;
use http_body::Body;
use http_body_util::BodyExt;
use tokio::runtime::{Builder, Runtime};
use tokio::task::coop::unconstrained;
use tower::{Service, ServiceExt};
use tower_cosmos::{Account, KeyCredential};

use crate::cost::Subject;
use crate::documents;
use crate::instant::{InstantMetadata, Req};

/// What answers point reads.
pub trait Answers:
    Service<Req, Response = Response<Self::Body>, Error: Debug, Future: Send> + Clone + Send
{
    /// What the answers hold.
    type Body: Body<Data = Bytes, Error: Debug> + Send;
}

impl<S, R> Answers for S
where
    S: Service<Req, Response = Response<R>> + Clone + Send,
    S::Error: Debug,
    S::Future: Send,
    R: Body<Data = Bytes> + Send,
    R::Error: Debug,
{
    type Body = R;
}

/// One point read: the request built, sent, its answer read to the end.
///
/// # Panics
/// If it fails: then what is measured is not what was meant.
pub async fn read<S: Answers>(service: &mut S, key: &PartitionKey) {
    black_box(answer(service, key).await);
}

/// The regions that a point read went to, as the journal has it; none if nobody kept one.
///
/// # Panics
/// If it fails.
pub async fn attempts<S: Answers>(service: &mut S, key: &PartitionKey) -> Vec<&'static str> {
    let parts = answer(service, key).await;
    let attempts = parts.extensions.get::<Journal>().map(Journal::attempts);
    let attempts = attempts.unwrap_or_default();
    attempts
        .iter()
        .map(|attempt| attempt.region.name())
        .collect()
}

async fn answer<S: Answers>(service: &mut S, key: &PartitionKey) -> Parts {
    let request = requests::read_item("d", "c", "1", key)
        .build()
        .expect("a good request");
    let service = service.ready().await.expect("a ready service");
    let response = service.call(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    assert!(parts.status.is_success());
    let body = body.collect().await.expect("a whole body");
    black_box(body.to_bytes());
    parts
}

/// Point reads of one partition.
#[must_use]
pub fn reads<'a, S: Answers + 'a>(
    name: &str,
    runtime: impl Borrow<Runtime> + 'a,
    mut service: S,
) -> Subject<'a> {
    let key = one_key();
    Subject::new(name, move |operations| {
        run(runtime.borrow(), many(&mut service, &key, operations));
    })
    .with_future(size_of::<S::Future>())
}

async fn many<S: Answers>(service: &mut S, key: &PartitionKey, operations: u32) {
    for _ in 0..operations {
        read(service, key).await;
    }
}

/// The key of the operations that are all for one partition.
#[must_use]
pub fn one_key() -> PartitionKey {
    PartitionKey::from("p")
}

/// A runtime on this thread.
///
/// # Panics
/// If the system has none to give.
#[must_use]
pub fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime")
}

/// Runs a future that may never have to wait, without the turns that tokio gives to other tasks.
pub fn run<F: Future>(runtime: &Runtime, future: F) -> F::Output {
    runtime.block_on(unconstrained(future))
}

/// A handle to the instant account.
///
/// # Panics
/// Never: the settings are good.
#[must_use]
pub fn account() -> Account {
    Account::builder(documents::ENDPOINT, credential())
        .preferred_regions(["East US", "West US", "North Europe"])
        .build(InstantMetadata)
        .expect("good settings")
}

/// A credential with the account's key.
///
/// # Panics
/// Never: the key is good.
#[must_use]
pub fn credential() -> KeyCredential {
    KeyCredential::new(MasterKey::from_base64(documents::KEY).expect("a good key"))
}
