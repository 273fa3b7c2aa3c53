use std::task::{Context, Poll};

use cosmos_core::BoxError;
use http::{Request, Response};
use tower_service::Service;

use super::{ReconnectPolicy, ShardReconnectLayer};
use crate::retry::{self, ResponseFuture};

/// Tries a region once more over another connection. See the [module](super).
#[derive(Clone, Debug)]
pub struct ShardReconnect<S> {
    pub(super) inner: S,
    pub(super) policy: ReconnectPolicy,
}

impl<S> ShardReconnect<S> {
    /// Wraps a service.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            policy: ReconnectPolicy::default(),
        }
    }

    /// A layer with the default budget.
    pub fn layer() -> ShardReconnectLayer {
        ShardReconnectLayer::new()
    }
}

impl<S, B, R> Service<Request<B>> for ShardReconnect<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Clone,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<ReconnectPolicy, S, B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        retry::call(&mut self.inner, &self.policy, request)
    }
}
