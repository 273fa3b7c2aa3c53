//! The leaf: a hyper client whose connections are sharded, and which knows what it has sent.
//!
//! # The problem
//!
//! A gateway limits the streams of one connection (20 in the case of Azure Cosmos DB), and one
//! connection is one point of failure: when it dies, everything on it is in doubt at once. A
//! client that retries has to know which of those requests were *not sent*, because only these
//! are safe to send again whatever they do; and a second try over the connection that just failed
//! is wasted. hyper-util's client has one pool for each host, and its errors do not say what was
//! sent.
//!
//! [`Leaf`] has up to eight *shards* for each scheme, host and port, each with connections of its
//! own. A request gets a slot on the least busy shard; when all are busy a new shard is made, and
//! when there may be no more, requests wait in the order in which they came. Every failure is a
//! [`TransportError`](cosmos_core::TransportError) that says whether the request was sent.
//!
//! ```
//! use cosmos_client::Leaf;
//!
//! # async fn read() -> Result<(), cosmos_core::BoxError> {
//! use tower_service::Service;
//!
//! let mut leaf = Leaf::builder().build()?;
//! let request = http::Request::get("https://account.documents.azure.com/").body(Default::default())?;
//! let answer = leaf.call(request).await?;
//! # drop(answer);
//! # Ok(())
//! # }
//! ```
//!
//! With private roots, HTTP/2 only, and room for many requests at once:
//!
//! ```no_run
//! use std::time::Duration;
//! use cosmos_client::{Leaf, Protocol};
//!
//! # fn build(tls: rustls::ClientConfig) -> Result<(), Box<dyn std::error::Error>> {
//! let leaf = Leaf::builder()
//!     .protocol(Protocol::Http2)
//!     .tls_config(tls)
//!     .shards(4, 16)
//!     .connect_limit(Duration::from_secs(2))
//!     .build()?;
//! # drop(leaf);
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//!
//! The leaf is at the bottom. It is always ready, because readiness knows no request; slots are
//! taken when its future is polled.
//!
//! # Cancellation
//!
//! A dropped future gives its slot back. If no connection had taken the request, nothing is sent,
//! ever; over HTTP/2 a stream that had begun is reset. Dropping an answer's body before its end
//! does the same.
//!
//! # Extensions
//!
//! Reads [`Route`]: `steering.avoid_shard` names a shard that is not to be used,
//! `steering.attempt` the attempt whose shard and phase are noted in the journal. Extensions are
//! not handed on to the connection.

mod authorities;
mod body;
mod connect;
mod dial;
mod failure;
mod future;
mod gate;
mod health;
mod outgoing;
mod resolve;
mod settings;
mod shard;
mod stream;

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use cosmos_core::{BoxError, FailureKind, Route};
use http::{Request, Response};
use http_body_util::Full;
use parking_lot::Mutex;
use tokio::time::Instant;
use tower_service::Service;

pub use body::ResponseBody;
pub use future::ResponseFuture;
pub use resolve::{Resolve, Resolving};
pub use settings::{LeafBuilder, Protocol};

use authorities::{Authorities, Authority};
use future::Start;
use shard::{Limits, MakeClient, Shards};

/// A sharded hyper client. See the [module](self).
///
/// Clones share the connections.
#[derive(Clone)]
pub struct Leaf {
    shared: Arc<Shared>,
}

struct Shared {
    connect_limit: Duration,
    limits: Limits,
    make: MakeClient,
    // `None`: closed.
    authorities: Mutex<Option<Authorities>>,
}

impl Leaf {
    /// Settings with their defaults.
    pub fn builder() -> LeafBuilder {
        LeafBuilder::new()
    }

    /// Closes the client and all its clones: pools are dropped, and calls from now on, as well as
    /// those that wait for a slot, fail with [`FailureKind::ClientClosed`]. Requests under way go
    /// on to their end.
    pub fn close(&self) {
        let closed = self.shared.authorities.lock().take();
        for (_, shards) in closed.iter().flat_map(Authorities::iter) {
            shards.close();
        }
    }

    /// Every shard that takes requests now; empty after [`close`](Self::close).
    pub fn usage(&self) -> Vec<ShardUsage> {
        let authorities = self.shared.authorities.lock();
        let mut usage = Vec::new();
        for (authority, shards) in authorities.iter().flat_map(Authorities::iter) {
            usage.extend(
                shards
                    .usage()
                    .into_iter()
                    .map(|(shard, in_flight)| ShardUsage {
                        authority: authority.clone(),
                        shard,
                        in_flight,
                    }),
            );
        }
        usage
    }

    fn begin(&self, request: Request<Full<Bytes>>) -> Result<ResponseFuture, FailureKind> {
        let shards = {
            let authority = Authority::of(request.uri()).ok_or(FailureKind::InvalidRequest)?;
            let mut authorities = self.shared.authorities.lock();
            let authorities = authorities.as_mut().ok_or(FailureKind::ClientClosed)?;
            authorities.get(authority, || {
                Shards::new(self.shared.limits, Arc::clone(&self.shared.make))
            })?
        };
        let route = request.extensions().get::<Route>();
        let start = Start {
            attempt: route.and_then(|route| Some((route.clone(), route.steering.attempt?))),
            avoid: route.and_then(|route| route.steering.avoid_shard),
            request,
            shards,
        };
        let limit = Instant::now().checked_add(self.shared.connect_limit);
        Ok(ResponseFuture::new(start, limit))
    }
}

impl Service<Request<Full<Bytes>>> for Leaf {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = ResponseFuture;

    /// Always ready: slots are taken in the future.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> ResponseFuture {
        self.begin(request).unwrap_or_else(ResponseFuture::failed)
    }
}

impl fmt::Debug for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leaf")
            .field("connect_limit", &self.shared.connect_limit)
            .field("limits", &self.shared.limits)
            .field("authorities", &*self.shared.authorities.lock())
            .finish_non_exhaustive()
    }
}

/// A shard, as [`Leaf::usage`] found it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardUsage {
    /// `host:port`.
    pub authority: String,
    /// The shard's number, unique within its authority.
    pub shard: u16,
    /// Requests whose answer's body has not ended.
    pub in_flight: usize,
}
