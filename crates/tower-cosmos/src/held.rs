//! A call that is held back until something is known.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use cosmos_core::{BoxError, FailureKind};
use http::Request;
use tokio::time::Sleep;
use tower_service::Service;

use crate::clock::{now, poll_until};
use crate::scope::Scope;

/// A request, and the service that it goes to when its time has come.
pub(crate) struct Held<S, B> {
    // Boxed: futures are moved once for each layer around them, so what is rare is to take no room.
    call: Box<(S, Request<B>)>,
    limit: Option<Pin<Box<Sleep>>>,
}

impl<S: Clone, B> Held<S, B> {
    /// Holds back the call of a service that was polled ready. Waiting holds no readiness: the
    /// service that was polled is given up, and a clone made ready when the time has come.
    pub(crate) fn new(ready: &mut S, request: Request<B>) -> Self {
        let clone = ready.clone();
        *ready = clone.clone();
        Self {
            call: Box::new((clone, request)),
            limit: None,
        }
    }
}

impl<S, B> Held<S, B>
where
    S: Service<Request<B>>,
    S::Error: Into<BoxError>,
{
    /// Ends with an error when the operation's deadline has passed.
    pub(crate) fn poll_expired(&mut self, scope: &Scope, cx: &mut Context<'_>) -> Poll<BoxError> {
        ready!(poll_until(&mut self.limit, scope.route.deadline(), cx));
        let _ = scope.route.expired(now());
        Poll::Ready(scope.error(FailureKind::DeadlineExceeded).into())
    }

    /// Gets the service ready, until the deadline.
    pub(crate) fn poll_ready(
        &mut self,
        scope: &Scope,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), BoxError>> {
        match self.call.0.poll_ready(cx) {
            Poll::Ready(ready) => Poll::Ready(ready.map_err(Into::into)),
            Poll::Pending => self.poll_expired(scope, cx).map(Err),
        }
    }

    /// The service, ready, and the request to call it with.
    pub(crate) fn release(self) -> (S, Request<B>) {
        *self.call
    }
}
