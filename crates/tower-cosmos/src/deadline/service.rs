use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use cosmos_core::BoxError;
use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use super::ResponseFuture;
use crate::scope::Scope;

/// Layers [`Deadline`]. See the [module](super).
#[derive(Copy, Clone, Debug, Default)]
#[must_use]
pub struct DeadlineLayer {
    timeout: Option<Duration>,
}

impl DeadlineLayer {
    /// A layer that keeps the deadline which the caller's options set, and sets none itself.
    pub fn new() -> Self {
        Self::default()
    }

    /// The longest that an operation may take. Default: no limit.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Deadline {
            inner,
            timeout: self.timeout,
        }
    }
}

/// Ends an operation at its deadline. See the [module](super).
#[derive(Clone, Debug)]
pub struct Deadline<S> {
    inner: S,
    timeout: Option<Duration>,
}

impl<S> Deadline<S> {
    /// Wraps a service; an operation may take this long.
    pub fn new(inner: S, timeout: Duration) -> Self {
        Self {
            inner,
            timeout: Some(timeout),
        }
    }

    /// A layer that keeps the deadline which the caller's options set.
    pub fn layer() -> DeadlineLayer {
        DeadlineLayer::new()
    }
}

impl<S, B, R> Service<Request<B>> for Deadline<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    R: From<Bytes>,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let Some(scope) = Scope::enter(&mut request) else {
            return ResponseFuture::pass(self.inner.call(request));
        };
        let deadline = scope.route.limit(self.timeout);
        if scope.route.expired(scope.entered()) {
            // The readiness that is not used is given up, or it would keep a permit.
            self.inner = self.inner.clone();
            return ResponseFuture::expired(scope);
        }
        let future = {
            let _operation = scope.trace();
            self.inner.call(request)
        };
        ResponseFuture::new(scope, deadline, future)
    }
}
