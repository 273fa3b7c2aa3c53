use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use cosmos_core::{BoxError, RangeLookup};
use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use super::ResponseFuture;
use super::cache::{Cache, Lookup};
use crate::Account;
use crate::held::Held;
use crate::scope::Scope;

/// The default number of containers that are known at once.
const MAX_CONTAINERS: usize = 1000;

/// How long an operation waits for its container by default.
const LOOKUP_LIMIT: Duration = Duration::from_secs(1);

/// Layers [`Partition`]. See the [module](super). Services made by one layer share what they read.
#[derive(Clone, Debug)]
#[must_use]
pub struct PartitionLayer {
    account: Account,
    max_containers: usize,
    lookup_limit: Duration,
    enabled: bool,
    shared: Shared,
}

/// What the services of a layer share.
#[derive(Clone, Debug)]
struct Shared {
    cache: Arc<Cache>,
    lookup: Arc<dyn RangeLookup>,
}

impl PartitionLayer {
    /// A layer that knows up to 1,000 containers at once.
    pub fn new(account: Account) -> Self {
        let shared = Shared::new(&account, MAX_CONTAINERS, LOOKUP_LIMIT);
        Self {
            account,
            max_containers: MAX_CONTAINERS,
            lookup_limit: LOOKUP_LIMIT,
            enabled: true,
            shared,
        }
    }

    /// With `false`, the layer does nothing: only what the caller says of the partition is known.
    /// Default `true`.
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// How many containers are known at once, at least one; the one used longest ago goes first.
    /// Default 1,000.
    pub fn max_containers(self, containers: usize) -> Self {
        Self {
            max_containers: containers,
            ..self
        }
        .renewed()
    }

    /// How long an operation waits for its container to be read, counted from the beginning of
    /// that read, and for half of the time that it has left at most. Then it goes on without knowing
    /// its partition. Default 1 s.
    pub fn lookup_limit(self, limit: Duration) -> Self {
        Self {
            lookup_limit: limit,
            ..self
        }
        .renewed()
    }

    fn renewed(self) -> Self {
        let shared = Shared::new(&self.account, self.max_containers, self.lookup_limit);
        Self { shared, ..self }
    }
}

impl Shared {
    fn new(account: &Account, max_containers: usize, limit: Duration) -> Self {
        let cache = Arc::new(Cache::new(account, max_containers, limit));
        let lookup: Arc<dyn RangeLookup> = Arc::new(Lookup(Arc::downgrade(&cache)));
        Self { cache, lookup }
    }
}

impl<S> Layer<S> for PartitionLayer {
    type Service = Partition<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Partition {
            inner,
            account: self.account.clone(),
            shared: self.shared.clone(),
            enabled: self.enabled,
        }
    }
}

/// Finds out which partition an operation is for. See the [module](super).
#[derive(Clone, Debug)]
pub struct Partition<S> {
    inner: S,
    account: Account,
    shared: Shared,
    enabled: bool,
}

impl<S> Partition<S> {
    /// Wraps a service with a map of its own.
    pub fn new(inner: S, account: Account) -> Self {
        PartitionLayer::new(account).layer(inner)
    }

    /// A layer for the account.
    pub fn layer(account: Account) -> PartitionLayer {
        PartitionLayer::new(account)
    }
}

impl<S, B, R> Service<Request<B>> for Partition<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<S, B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let scope = if self.enabled {
            Scope::enter(&mut request)
        } else {
            None
        };
        let Some(scope) = scope else {
            return ResponseFuture::pass(self.inner.call(request));
        };
        let Shared { cache, lookup } = &self.shared;
        // Of several lookups in a stack, the first one does it.
        let looks_up = self.account.concerns(&request) && scope.route.plant_ranges(lookup);
        if looks_up && let Some(waiting) = cache.look_up(&scope.route) {
            let known = cache.wait(waiting, &scope.route);
            let held = Held::new(&mut self.inner, request);
            return ResponseFuture::wait(scope, held, Box::pin(known));
        }
        let future = {
            let _operation = scope.trace();
            self.inner.call(request)
        };
        ResponseFuture::send(scope, future)
    }
}
