//! Puts a fresh `x-ms-date` and `authorization` on every attempt.
//!
//! The service accepts a date for about 15 minutes, so a request that was waiting is signed when
//! it is sent, not when it was made. A credential that fails ends the operation with
//! [`FailureKind::Credential`]: no retry, no mark, no count.
//!
//! # Order
//! Below `EndpointLayer`, which knows whether the request goes to the account at all: a request
//! for a foreign host is never signed. Above it, only requests without a host are signed.
//!
//! # Cancellation
//! Signing is done in `call`; there is nothing to cancel.
//!
//! # Extensions
//! Reads the operation's [`Route`].

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use cosmos_core::{BoxError, FailureKind, Route, TransportError, headers};
use http::Request;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::clock::Clock;
use crate::credential::{Credential, ToSign};

/// Layers [`Signing`]. See the [module](self).
#[derive(Clone, Debug)]
#[must_use]
pub struct SigningLayer {
    credential: Arc<dyn Credential>,
    clock: Clock,
}

impl SigningLayer {
    /// A layer that signs with this credential, by the system's clock.
    pub fn new(credential: impl Credential) -> Self {
        Self {
            credential: Arc::new(credential),
            clock: Clock::system(),
        }
    }

    /// The clock for the date. Default: the system's.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
}

impl<S> Layer<S> for SigningLayer {
    type Service = Signing<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Signing {
            inner,
            credential: Arc::clone(&self.credential),
            clock: self.clock.clone(),
        }
    }
}

/// Signs requests. See the [module](self).
#[derive(Clone, Debug)]
pub struct Signing<S> {
    inner: S,
    credential: Arc<dyn Credential>,
    clock: Clock,
}

impl<S> Signing<S> {
    fn sign<B>(&self, request: &mut Request<B>) -> Result<(), BoxError> {
        self.clock.with_date(|date| {
            let authorization = self.credential.authorize(&ToSign {
                method: request.method(),
                path: request.uri().path(),
                date: &date.text,
            })?;
            let map = request.headers_mut();
            map.insert(headers::DATE, date.value.clone());
            map.insert(headers::AUTHORIZATION, authorization);
            Ok(())
        })
    }
}

/// Whether the request is known to go to the account.
fn is_for_account<B>(request: &Request<B>) -> bool {
    let hostless = request.uri().authority().is_none();
    match request.extensions().get::<Route>() {
        Some(route) => !route.is_foreign() && (hostless || route.steering.attempt.is_some()),
        None => hostless && Route::concerns(request),
    }
}

impl<S, B> Service<Request<B>> for Signing<S>
where
    S: Service<Request<B>> + Clone,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        if is_for_account(&request)
            && let Err(error) = self.sign(&mut request)
        {
            // The readiness that is not used is given up, or it would keep a permit.
            self.inner = self.inner.clone();
            let error = Some(TransportError::caused(FailureKind::Credential, error));
            return ResponseFuture {
                state: State::Refused { error },
            };
        }
        ResponseFuture {
            state: State::Sent {
                future: self.inner.call(request),
            },
        }
    }
}

pin_project! {
    /// The response future of [`Signing`].
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F> {
        Sent { #[pin] future: F },
        Refused { error: Option<TransportError> },
    }
}

impl<F, T, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProjection::Sent { future } => future.poll(cx).map_err(Into::into),
            StateProjection::Refused { error } => {
                Poll::Ready(Err(error.take().expect("polled after completion").into()))
            }
        }
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
