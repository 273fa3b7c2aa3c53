//! The recommended stack around the leaf, as one client.
//!
//! [`CosmosClient`] is itself a Tower service from plain requests to plain responses, cheap to
//! clone. It is what you get without composing anything; whoever wants other layers, another
//! order or another HTTP client composes the parts with `ServiceBuilder`.
//!
//! ```no_run
//! use std::time::Duration;
//! use cosmos_client::CosmosClient;
//! use cosmos_core::requests;
//! use tower::ServiceExt;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let secret = std::env::var("COSMOS_CONNECTION_STRING")?;
//! let client = CosmosClient::from_connection_string(&secret)?
//!     .preferred_regions(["West Europe", "North Europe"])
//!     .timeout(Duration::from_secs(10))
//!     .build()?;
//!
//! let request = requests::read_item("shop", "carts", "42", &"customer-7".into()).build()?;
//! let response = client.oneshot(request).await?;
//! println!("{}", response.status());
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//! [`RecommendedLayer`](tower_cosmos::RecommendedLayer) says which layers, in which order, and
//! why.
//!
//! # Cancellation
//! Dropping a response future sends nothing more and frees what it held.
//!
//! # Extensions
//! Reads [`OperationOptions`](cosmos_core::OperationOptions) from the request; puts the operation's
//! [`Journal`](cosmos_core::Journal) into the response.

mod builder;
mod future;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use cosmos_core::{BoxError, FailureKind, TransportError};
use http::{Request, Response};
use http_body_util::Full;
use tower_cosmos::circuit_breaker::Circuits;
use tower_cosmos::ppaf::WriteRegions;
use tower_cosmos::{Account, Recommended};
use tower_service::Service;

pub use builder::{ClientError, CosmosClientBuilder};
pub use future::ResponseFuture;

use crate::Leaf;

/// A client for one account. See the [module](self). Clones share everything.
#[derive(Clone)]
pub struct CosmosClient {
    stack: Recommended<Leaf>,
    account: Account,
    circuits: Circuits,
    write_regions: WriteRegions,
    leaf: Leaf,
    closed: Arc<AtomicBool>,
}

impl CosmosClient {
    /// The account's routing state.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The partitions that have failed in some region of late, how they stand there, and the changes
    /// as they happen.
    #[must_use]
    pub fn circuits(&self) -> &Circuits {
        &self.circuits
    }

    /// The partitions that are remembered to accept writes elsewhere than in the hub.
    #[must_use]
    pub fn write_regions(&self) -> &WriteRegions {
        &self.write_regions
    }

    /// The client's connections.
    #[must_use]
    pub fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// Closes the client and all its clones: later calls fail at once with
    /// [`FailureKind::ClientClosed`], and operations under way send nothing more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.leaf.close();
    }

    /// Whether the client was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Service<Request<Full<Bytes>>> for CosmosClient {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.stack.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> ResponseFuture {
        if self.is_closed() {
            return ResponseFuture::refused(TransportError::new(FailureKind::ClientClosed));
        }
        ResponseFuture::called(self.stack.call(request))
    }
}

impl fmt::Debug for CosmosClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CosmosClient")
            .field("account", &self.account)
            .field("circuits", &self.circuits)
            .field("write_regions", &self.write_regions)
            .field("leaf", &self.leaf)
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
