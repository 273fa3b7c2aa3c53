//! The bounded account: regions that serve so much and no more, on paused time, for as many clients as a
//! simulation needs.
//!
//! [`BoundedAccount`] is a plain Tower service, like [`ScriptedAccount`](crate::ScriptedAccount) and at
//! the same addresses. It keeps no log: whoever makes it is told of every request. A region is well,
//! or sick in one of the ways of [`Health`]; one that is well works through what comes in at the
//! pace of its [`Capacity`], and answers 503 when too much is waiting. Turning a request away costs work, too:
//! so retries can keep down a region that would otherwise get up.
//!
//! ```
//! use std::time::Duration;
//! use cosmos_testbed::bounded::{BoundedAccount, Capacity, Health};
//! use cosmos_testbed::scripted::Document;
//!
//! let account = BoundedAccount::new(&Document::multi_write(["A", "B"]), |arrival| {
//!     println!("{:?} {} {}", arrival.at, arrival.region, arrival.client);
//! })
//! .capacity(Capacity { per_second: 1000, refusal: 0.5, backlog: Duration::from_millis(100) });
//! account.set("A", Health::Answers(503));
//! // ... a stack around `account.of_client(1)`, and one around `account.of_client(2)` ...
//! ```

mod region;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use cosmos_core::{BoxError, FailureKind, TransportError};
use futures::future::BoxFuture;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use parking_lot::Mutex;
use tokio::time::Instant;
use tower_service::Service;

pub use region::{Capacity, Health};

use crate::scripted::Document;
use crate::scripted::document::label_of;
use region::{Fate, Region};

/// How long a region takes for an answer when nothing waits.
pub const LATENCY: Duration = Duration::from_millis(5);

/// A request that has reached a region.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Arrival<'a> {
    /// Since the account was made.
    pub at: Duration,
    /// The region's name in lower case and without blanks; `global` for the global endpoint.
    pub region: &'a str,
    /// Whose request it is; see [`BoundedAccount::of_client`].
    pub client: u32,
    /// Whether it reads the account document.
    pub reads_account: bool,
    /// The request itself.
    pub request: &'a Request<Full<Bytes>>,
}

/// Regions of bounded capacity. Clones share them.
#[derive(Clone)]
pub struct BoundedAccount {
    shared: Arc<Shared>,
    client: u32,
}

struct Shared {
    start: Instant,
    document: Bytes,
    capacity: Option<Capacity>,
    regions: Mutex<HashMap<String, Region>>,
    observe: Box<dyn Fn(Arrival<'_>) + Send + Sync>,
}

impl BoundedAccount {
    /// An account whose regions are well and have no bounds. `observe` is told of every request.
    pub fn new(document: &Document, observe: impl Fn(Arrival<'_>) + Send + Sync + 'static) -> Self {
        Self::made(document.to_json().into(), None, Box::new(observe))
    }

    /// The same with bounds, the same for each region. Before anything else is done with it.
    #[must_use]
    pub fn capacity(self, capacity: Capacity) -> Self {
        match Arc::try_unwrap(self.shared) {
            Ok(shared) => Self::made(shared.document, Some(capacity), shared.observe),
            // Others see it as it is.
            Err(shared) => Self {
                shared,
                client: self.client,
            },
        }
    }

    fn made(
        document: Bytes,
        capacity: Option<Capacity>,
        observe: Box<dyn Fn(Arrival<'_>) + Send + Sync>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                start: Instant::now(),
                document,
                capacity,
                regions: Mutex::default(),
                observe,
            }),
            client: 0,
        }
    }

    /// The same regions, as this client reaches them.
    #[must_use]
    pub fn of_client(&self, client: u32) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            client,
        }
    }

    /// How a region is from now on. Reads of the account document are answered whatever it is, but
    /// for one that refuses connections.
    pub fn set(&self, region: &str, health: Health) {
        let mut regions = self.shared.regions.lock();
        regions.entry(label_of(region)).or_default().health = health;
    }

    /// The time since the account was made.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.shared.start.elapsed()
    }

    /// Decides at once what becomes of a request.
    fn decide(&self, request: &Request<Full<Bytes>>) -> Fate {
        let host = request.uri().host().unwrap_or_default();
        let label = host.strip_suffix(".test").unwrap_or_default();
        let region = label.strip_prefix("scripted-").unwrap_or("global");
        let reads_account = request.method() == Method::GET && request.uri().path() == "/";
        let arrival = Arrival {
            at: self.elapsed(),
            region,
            client: self.client,
            reads_account,
            request,
        };
        (self.shared.observe)(arrival);
        let mut regions = self.shared.regions.lock();
        let region = regions.entry(region.to_owned()).or_default();
        if reads_account && region.health != Health::Refuses {
            return Fate::Answer(200, LATENCY);
        }
        region.receive(self.shared.capacity, arrival.at)
    }
}

impl Service<Request<Full<Bytes>>> for BoundedAccount {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let account = self.clone();
        Box::pin(async move {
            let body = if request.uri().path() == "/" {
                account.shared.document.clone()
            } else {
                Bytes::from_static(b"{}")
            };
            match account.decide(&request) {
                Fate::Answer(status, after) => {
                    tokio::time::sleep(after).await;
                    let status = StatusCode::from_u16(status)?;
                    Ok(Response::builder().status(status).body(Full::new(body))?)
                }
                Fate::Refused => Err(TransportError::new(FailureKind::Refused).into()),
                Fate::Hangs => std::future::pending().await,
            }
        })
    }
}

impl fmt::Debug for BoundedAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedAccount")
            .field("capacity", &self.shared.capacity)
            .field("regions", &*self.shared.regions.lock())
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
