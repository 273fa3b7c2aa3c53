//! A layer's view of the operation that a call belongs to.

use std::time::Instant;

use cosmos_core::{Entered, FailureKind, Operation, Route, TransportError};
use http::{Request, Response};
use tracing::Span;

use crate::clock::now;

/// The operation of a call. The first layer to see it opens the operation's span, and gives the
/// journal to the caller with the response.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) route: Route,
    first: bool,
    // Boxed, and only if somebody listens: every layer's future holds a scope.
    span: Option<Box<Span>>,
}

impl Scope {
    /// `None`: the request is nothing of ours and is to pass untouched.
    pub(crate) fn enter<B>(request: &mut Request<B>) -> Option<Self> {
        let Entered { route, first } = Route::enter_with(request, now)?;
        let span = first
            .then(|| operation_span(route.operation()))
            .filter(|span| !span.is_disabled())
            .map(Box::new);
        Some(Self { route, first, span })
    }

    /// The time at which the call came. An operation that begins here has just looked at the clock.
    pub(crate) fn entered(&self) -> Instant {
        if self.first {
            self.route.began()
        } else {
            now()
        }
    }

    /// Makes the operation's span current while a layer works on it.
    pub(crate) fn trace(&self) -> Option<tracing::span::Entered<'_>> {
        self.span.as_deref().map(Span::enter)
    }

    /// Makes the response what the layer returns.
    pub(crate) fn answer<R>(&self, response: &mut Response<R>) {
        if self.first && !self.route.is_foreign() {
            response.extensions_mut().insert(self.route.journal());
        }
    }

    /// An error of our own about the operation.
    pub(crate) fn error(&self, kind: FailureKind) -> TransportError {
        TransportError::new(kind).with_journal(self.route.journal())
    }
}

fn operation_span(operation: Operation) -> Span {
    tracing::info_span!(
        "cosmos.operation",
        cosmos.action = ?operation.action(),
        cosmos.resource = ?operation.resource(),
    )
}
