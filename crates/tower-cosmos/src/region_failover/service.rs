use std::task::{Context, Poll};

use cosmos_core::BoxError;
use http::{Request, Response};
use tower_service::Service;

use super::{FailoverPolicy, RegionFailoverLayer};
use crate::Account;
use crate::retry::{self, ResponseFuture};

/// Moves an operation to the next region when one fails. See the [module](super).
#[derive(Clone, Debug)]
pub struct RegionFailover<S> {
    pub(super) inner: S,
    pub(super) policy: FailoverPolicy,
}

impl<S> RegionFailover<S> {
    /// Wraps a service with the specification's budgets.
    pub fn new(inner: S, account: Account) -> Self {
        Self {
            inner,
            policy: FailoverPolicy::new(account),
        }
    }

    /// A layer with the specification's budgets.
    pub fn layer(account: Account) -> RegionFailoverLayer {
        RegionFailoverLayer::new(account)
    }
}

impl<S, B, R> Service<Request<B>> for RegionFailover<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Clone,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<FailoverPolicy, S, B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        retry::call(&mut self.inner, &self.policy, request)
    }
}
