//! The service of every retrying layer.

use std::task::{Context, Poll};

use cosmos_core::BoxError;
use http::{Request, Response};
use tower_service::Service;

use super::kept::Kept;
use super::{Policy, ResponseFuture};
use crate::lending::Lender;
use crate::scope::Scope;

/// Sends a request again as its policy says. See the [module](super).
#[derive(Clone, Debug)]
pub struct Retry<P, S>(Lender<P, S>);

impl<P, S> Retry<P, S> {
    /// Wraps a service with a policy.
    pub(crate) fn with_policy(inner: S, policy: P) -> Self {
        Self(Lender::new(policy, inner))
    }
}

impl<P, S, B, R> Service<Request<B>> for Retry<P, S>
where
    P: Policy + Clone,
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Clone + 'static,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<P, S, B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.get().poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let Some(scope) = Scope::enter(&mut request) else {
            return ResponseFuture::pass(self.0.get().call(request));
        };
        self.0.policy().prepare(&scope.route);
        let kept = Kept::of(&mut request);
        let position = scope.route.position();
        let future = {
            let _operation = scope.trace();
            // `call` may only be made on the very service that was polled ready. See the documentation
            // of `Service::call`. Further tries go to it, too: what it knows of its own state, a clone
            // of another may not.
            self.0.get().call(request)
        };
        ResponseFuture::new(scope, self.0.lend(), kept, position, future)
    }
}
