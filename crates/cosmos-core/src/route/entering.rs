//! How a request comes to its route: the first layer to see it makes it, the others find it.

use std::time::Instant;

use super::{OperationOptions, Route};
use crate::Operation;

impl Route {
    /// Finds the request's route, or makes it: then this layer is the operation's first.
    ///
    /// Returns `None` for a request that is nothing of Cosmos DB and carries no options: it is to
    /// pass through untouched.
    #[must_use]
    pub fn enter<B>(request: &mut http::Request<B>, now: Instant) -> Option<Entered> {
        Self::enter_with(request, || now)
    }

    /// The same, with a clock that is looked at only if the operation begins here.
    #[must_use]
    pub fn enter_with<B>(
        request: &mut http::Request<B>,
        now: impl FnOnce() -> Instant,
    ) -> Option<Entered> {
        if let Some(route) = request.extensions().get::<Self>() {
            return Some(Entered {
                route: route.clone(),
                first: false,
            });
        }
        let operation = operation_of(request)?;
        let options = request.extensions().get::<OperationOptions>();
        let route = Self::make(operation, options, now(), |target| {
            target.read(operation, request);
        });
        request.extensions_mut().insert(route.clone());
        Some(Entered { route, first: true })
    }

    /// Makes this the route that a request carries, in place of the one that it has.
    pub fn ride<B>(self, request: &mut http::Request<B>) {
        let extensions = request.extensions_mut();
        // Written over where it is: an insertion allocates.
        match extensions.get_mut::<Self>() {
            Some(carried) => *carried = self,
            None => {
                extensions.insert(self);
            }
        }
    }

    /// Whether a request is one for an account, so that [`enter`](Self::enter) finds or makes a
    /// route.
    #[must_use]
    pub fn concerns<B>(request: &http::Request<B>) -> bool {
        request.extensions().get::<Self>().is_some() || operation_of(request).is_some()
    }
}

fn operation_of<B>(request: &http::Request<B>) -> Option<Operation> {
    let method = request.method();
    let classified = Operation::classify(method, request.uri().path(), request.headers());
    // Options say that it is meant for the account, so it goes where metadata goes.
    let meant = || request.extensions().get::<OperationOptions>().is_some();
    classified.or_else(|| meant().then(|| Operation::unclassified(method)))
}

/// What [`Route::enter`] found or made.
#[derive(Debug)]
pub struct Entered {
    /// The route.
    pub route: Route,
    /// Whether it was made just now.
    pub first: bool,
}
