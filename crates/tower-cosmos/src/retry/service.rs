//! How a retrying layer's `call` begins.

use cosmos_core::BoxError;
use http::{Request, Response};
use tower_service::Service;

use super::{Policy, ResponseFuture};
use crate::scope::Scope;

/// Calls `inner` with the request, under `policy` if it is one of ours.
pub(crate) fn call<P, S, B, R>(
    inner: &mut S,
    policy: &P,
    mut request: Request<B>,
) -> ResponseFuture<P, S, B>
where
    P: Policy + Clone,
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Clone,
{
    let Some(scope) = Scope::enter(&mut request) else {
        return ResponseFuture::pass(inner.call(request));
    };
    // `call` may only be made on the very service that was polled ready; the clone has to be
    // polled again. See the documentation of `Service::call`.
    let clone = inner.clone();
    let mut ready = std::mem::replace(inner, clone);
    let copy = request.clone();
    let position = scope.route.position();
    let future = {
        let _operation = scope.trace();
        ready.call(request)
    };
    ResponseFuture::new(scope, policy.clone(), ready, copy, position, future)
}
