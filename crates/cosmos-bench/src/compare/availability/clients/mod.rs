//! The clients that go through the same faults, each over HTTP/2 in cleartext.

mod plain;
#[cfg(feature = "peers")]
mod sdk;
mod stack;

use std::error::Error;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use clap::ValueEnum;
use cosmos_core::requests::{self, RequestError};
use cosmos_core::{BoxError, Journal, PartitionKey};
use serde_json::{Value, json};

use super::load::Operation;
use super::scene::{CONTAINER, DATABASE, Scene};
use crate::instant::Req;

/// One operation under way.
pub(super) type Performing<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Something that performs operations.
pub(super) trait Client: Debug + Send + Sync {
    /// Performs one, by its deadline.
    fn perform(&self, operation: Operation) -> Performing<'_>;
}

/// How an operation ended.
#[derive(Debug)]
pub(super) struct Answer {
    /// Why it failed, if it did.
    pub(super) failure: Option<String>,
    /// What was tried, if the client keeps a journal.
    pub(super) journal: Option<Journal>,
}

impl Answer {
    fn good() -> Self {
        Self {
            failure: None,
            journal: None,
        }
    }

    pub(super) fn failed(why: impl Into<String>) -> Self {
        Self {
            failure: Some(why.into()),
            journal: None,
        }
    }
}

/// The clients of the table.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// `CosmosClient`, with its defaults.
    Stack,
    /// `azure_data_cosmos`, with its defaults; needs the feature `peers`.
    Sdk,
    /// hyper, signing, a timeout.
    Plain,
    /// The same below `tower::retry`: three attempts.
    Retry,
}

impl Peer {
    /// Those that are built in.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let all = [Self::Stack, Self::Sdk, Self::Plain, Self::Retry];
        let here = |peer: &Self| cfg!(feature = "peers") || *peer != Self::Sdk;
        all.into_iter().filter(here)
    }

    /// What the table calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stack => "stack",
            Self::Sdk => "azure_data_cosmos",
            Self::Plain => "plain hyper",
            Self::Retry => "tower::retry, 3 attempts",
        }
    }

    #[cfg_attr(
        not(feature = "peers"),
        expect(clippy::unused_async, reason = "only the SDK waits")
    )]
    pub(super) async fn connect(self, scene: &Scene) -> Result<Arc<dyn Client>, BoxError> {
        match self {
            Self::Stack => stack::connect(scene),
            Self::Plain => plain::once(scene),
            Self::Retry => plain::again(scene),
            #[cfg(feature = "peers")]
            Self::Sdk => sdk::connect(scene).await,
            #[cfg(not(feature = "peers"))]
            Self::Sdk => Err("azure_data_cosmos needs the feature `peers`".into()),
        }
    }
}

/// What a write stores.
fn document(operation: Operation) -> Value {
    let id = operation.id();
    json!({ "id": id, "customer": id, "revision": operation.number() })
}

/// An operation as a request, for clients that take those.
fn request(operation: Operation) -> Result<Req, RequestError> {
    let id = operation.id();
    let key = PartitionKey::from(&id);
    if operation.is_write() {
        requests::upsert_item(DATABASE, CONTAINER, &key, document(operation)).build()
    } else {
        requests::read_item(DATABASE, CONTAINER, &id, &key).build()
    }
}

/// What an error comes down to.
fn root(error: &(dyn Error + 'static)) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}
