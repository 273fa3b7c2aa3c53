//! The copy that a layer keeps to send again.

use cosmos_core::{Original, Route};
use http::Request;

/// A request to send again.
pub(super) enum Kept<B> {
    /// The layers' common copy.
    Shared(Original),
    /// A copy of its own, of a request that only this layer has seen like this. Boxed: futures are
    /// moved once for each layer around them, so what is rare is to take no room in them.
    Own(Box<Request<B>>),
}

impl<B: Clone + 'static> Kept<B> {
    pub(super) fn of(request: &mut Request<B>) -> Self {
        match Original::keep(request) {
            Some(original) => Self::Shared(original),
            None => Self::Own(Box::new(request.clone())),
        }
    }

    /// The request, on another way.
    pub(super) fn again(&self, route: Route) -> Request<B> {
        match self {
            Self::Shared(original) => {
                let request = original.request(route);
                request.expect("kept of a request with such a body")
            }
            Self::Own(request) => {
                let mut request = Request::clone(request);
                request.extensions_mut().insert(route);
                request
            }
        }
    }
}
