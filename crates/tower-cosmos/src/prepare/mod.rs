//! The machine of the layers that prepare an operation and then let it pass: what they bring is
//! planted in its route, and used by the layers below. Nothing is waited for or sent again.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use cosmos_core::{BoxError, Route};
use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::Account;
use crate::scope::Scope;

/// What a layer brings to an operation.
pub trait Preparation {
    /// Whether the layer is switched off: then it does nothing at all.
    fn is_off(&self) -> bool;

    /// The account that the layer is for.
    fn account(&self) -> &Account;

    /// Prepares the operation of a request.
    fn prepare<B>(&self, request: &Request<B>, route: &Route);
}

/// Prepares operations as its preparation says. See the [module](super).
#[derive(Clone, Debug)]
pub struct Prepare<P, S> {
    inner: S,
    preparation: P,
}

impl<P, S> Prepare<P, S> {
    /// Wraps a service with a preparation.
    pub(crate) fn with(inner: S, preparation: P) -> Self {
        Self { inner, preparation }
    }
}

impl<P, S, B, R> Service<Request<B>> for Prepare<P, S>
where
    P: Preparation,
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let scope = if self.preparation.is_off() {
            None
        } else {
            Scope::enter(&mut request)
        };
        if let Some(scope) = &scope
            && self.preparation.account().concerns(&request)
        {
            self.preparation.prepare(&request, &scope.route);
        }
        let future = self.inner.call(request);
        ResponseFuture { scope, future }
    }
}

pin_project! {
    /// The response future of a preparing layer.
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct ResponseFuture<F> {
        scope: Option<Scope>,
        #[pin]
        future: F,
    }
}

impl<F, R, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<R>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let scope = this.scope.as_ref();
        let _operation = scope.map(Scope::trace);
        let mut result = this.future.poll(cx).map_err(Into::into);
        if let (Some(scope), Poll::Ready(Ok(response))) = (scope, &mut result) {
            scope.answer(response);
        }
        result
    }
}
