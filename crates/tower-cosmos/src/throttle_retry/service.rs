use std::task::{Context, Poll};

use cosmos_core::BoxError;
use http::{Request, Response};
use tower_service::Service;

use super::{ThrottlePolicy, ThrottleRetryLayer};
use crate::retry::{self, ResponseFuture};

/// Tries a throttled region again after the time that it asks for. See the [module](super).
#[derive(Clone, Debug)]
pub struct ThrottleRetry<S> {
    pub(super) inner: S,
    pub(super) policy: ThrottlePolicy,
}

impl<S> ThrottleRetry<S> {
    /// Wraps a service with the default budget.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            policy: ThrottlePolicy::default(),
        }
    }

    /// A layer with the default budget.
    pub fn layer() -> ThrottleRetryLayer {
        ThrottleRetryLayer::new()
    }
}

impl<S, B, R> Service<Request<B>> for ThrottleRetry<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Clone,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<ThrottlePolicy, S, B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        retry::call(&mut self.inner, &self.policy, request)
    }
}
