use std::task::{Context, Poll};
use std::time::Duration;

use cosmos_core::BoxError;
use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use super::future::Limited;
use super::{IdleBody, ResponseFuture};
use crate::scope::Scope;

/// How long the parts of an attempt may take.
#[derive(Copy, Clone, Debug)]
struct Limits {
    data: Duration,
    metadata: Duration,
    idle: Duration,
}

/// Layers [`AttemptTimeout`]. See the [module](super).
#[derive(Copy, Clone, Debug)]
#[must_use]
pub struct AttemptTimeoutLayer {
    limits: Limits,
}

impl AttemptTimeoutLayer {
    /// A layer with the default limits.
    pub fn new() -> Self {
        Self {
            limits: Limits {
                data: Duration::from_secs(6),
                metadata: Duration::from_secs(10),
                idle: Duration::from_secs(5),
            },
        }
    }

    /// How long the headers of a data operation's answer may take. Default 6 s.
    pub fn data(mut self, limit: Duration) -> Self {
        self.limits.data = limit;
        self
    }

    /// How long the headers of a metadata operation's answer may take. Default 10 s.
    pub fn metadata(mut self, limit: Duration) -> Self {
        self.limits.metadata = limit;
        self
    }

    /// How long an answer's body may stand still. Default 5 s.
    pub fn idle(mut self, limit: Duration) -> Self {
        self.limits.idle = limit;
        self
    }
}

impl Default for AttemptTimeoutLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for AttemptTimeoutLayer {
    type Service = AttemptTimeout<S>;

    fn layer(&self, inner: S) -> Self::Service {
        AttemptTimeout {
            inner,
            limits: self.limits,
        }
    }
}

/// Limits the time of each attempt. See the [module](super).
#[derive(Clone, Debug)]
pub struct AttemptTimeout<S> {
    inner: S,
    limits: Limits,
}

impl<S> AttemptTimeout<S> {
    /// Wraps a service with the default limits.
    pub fn new(inner: S) -> Self {
        AttemptTimeoutLayer::new().layer(inner)
    }

    /// A layer with the default limits.
    pub fn layer() -> AttemptTimeoutLayer {
        AttemptTimeoutLayer::new()
    }
}

impl<S, B, R> Service<Request<B>> for AttemptTimeout<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
{
    type Response = Response<IdleBody<R>>;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let scope = Scope::enter(&mut request).filter(|scope| !scope.route.is_foreign());
        let Some(scope) = scope else {
            return ResponseFuture::pass(self.inner.call(request));
        };
        let limit = if scope.route.operation().is_metadata() {
            self.limits.metadata
        } else {
            self.limits.data
        };
        // The route that this very request carries knows the attempt.
        let limited = match Limited::begin(scope, limit, self.limits.idle) {
            Ok(limited) => limited,
            // Something above, of others perhaps, has held the request back for too long.
            Err(late) => {
                // The readiness that is not used is given up, or it would keep a permit.
                self.inner = self.inner.clone();
                return ResponseFuture::late(late);
            }
        };
        let future = {
            let _operation = limited.scope.trace();
            self.inner.call(request)
        };
        ResponseFuture::limited(limited, future)
    }
}
