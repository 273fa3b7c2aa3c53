//! The service of every retrying layer.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use cosmos_core::BoxError;
use http::{Request, Response};
use parking_lot::Mutex;
use tower_service::Service;

use super::kept::Kept;
use super::{Policy, ResponseFuture};
use crate::scope::Scope;

/// Sends a request again as its policy says. See the [module](super).
#[derive(Clone)]
pub struct Retry<P, S> {
    inner: S,
    again: Arc<Means<P, S>>,
}

/// What it takes to try again, shared by all operations: most never do.
pub(super) struct Means<P, S> {
    pub(super) policy: P,
    // A clone of the service, made once it was called, to clone for each further try. Behind a lock, so
    // that a service that is not `Sync` will do.
    service: OnceLock<Mutex<S>>,
}

impl<P, S> Retry<P, S> {
    /// Wraps a service with a policy.
    pub(crate) fn with_policy(inner: S, policy: P) -> Self {
        let service = OnceLock::new();
        Self {
            inner,
            again: Arc::new(Means { policy, service }),
        }
    }
}

impl<P, S: Clone> Means<P, S> {
    /// A service for a further try, to be polled ready; `None` before the first call.
    pub(super) fn service(&self) -> Option<S> {
        self.service.get().map(|service| service.lock().clone())
    }
}

impl<P: fmt::Debug, S: fmt::Debug> fmt::Debug for Retry<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("inner", &self.inner)
            .field("policy", &self.again.policy)
            .finish()
    }
}

impl<P, S, B, R> Service<Request<B>> for Retry<P, S>
where
    P: Policy,
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Clone + 'static,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<P, S, B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let Some(scope) = Scope::enter(&mut request) else {
            return ResponseFuture::pass(self.inner.call(request));
        };
        self.again.policy.prepare(&scope.route);
        let kept = Kept::of(&mut request);
        let position = scope.route.position();
        let future = {
            let _operation = scope.trace();
            self.inner.call(request)
        };
        // Others may call the service while this operation is under way: a further try needs its own.
        let clone = || Mutex::new(self.inner.clone());
        self.again.service.get_or_init(clone);
        ResponseFuture::new(scope, Arc::clone(&self.again), kept, position, future)
    }
}
