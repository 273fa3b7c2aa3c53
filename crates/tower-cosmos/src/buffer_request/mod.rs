//! Turns any request body into one that can be sent again.
//!
//! The retrying layers replay request bodies, so they ask for `Clone`; a stream is none. This
//! layer, at the top of a stack, reads any body to its end, within a limit, and hands a
//! [`Full`] on. A body that is too large, or breaks off, is a typed error
//! ([`FailureKind::RequestBody`]) and nothing is sent.
//!
//! # Order
//! Above everything that sends a request more than once. Below the layers of an operation it waits
//! for readiness until the operation's deadline, and sends nothing after it.
//!
//! # Cancellation
//! Dropping the future drops the body; nothing is sent.
//!
//! # Extensions
//! Reads the operation's deadline, if there is an operation.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use cosmos_core::{BoxError, FailureKind, Route, TransportError};
use futures::future::BoxFuture;
use http::Request;
use http_body::Body;
use http_body_util::{BodyExt, Full, Limited};
use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower_layer::Layer;
use tower_service::Service;

use crate::clock::{now, poll_until};

/// The default limit of a request body, in bytes: twice the largest item.
const DEFAULT_LIMIT: usize = 4 * 1024 * 1024;

/// Layers [`BufferRequest`]. See the [module](self).
#[derive(Copy, Clone, Debug)]
#[must_use]
pub struct BufferRequestLayer {
    limit: usize,
}

impl BufferRequestLayer {
    /// A layer that reads request bodies of up to 4 MiB.
    pub fn new() -> Self {
        Self {
            limit: DEFAULT_LIMIT,
        }
    }

    /// The largest request body, in bytes. A larger one is an error.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
}

impl Default for BufferRequestLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for BufferRequestLayer {
    type Service = BufferRequest<S>;

    fn layer(&self, inner: S) -> Self::Service {
        BufferRequest {
            inner,
            limit: self.limit,
        }
    }
}

/// Reads request bodies to their end. See the [module](self).
#[derive(Clone, Debug)]
pub struct BufferRequest<S> {
    inner: S,
    limit: usize,
}

impl<S, B> Service<Request<B>> for BufferRequest<S>
where
    S: Service<Request<Full<Bytes>>> + Clone,
    S::Error: Into<BoxError>,
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The inner service is made ready once the body is there: a slow body holds no permit.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let limit = self.limit;
        let collected = Box::pin(async move {
            let body = Limited::new(body, limit)
                .collect()
                .await
                .map_err(|error| TransportError::caused(FailureKind::RequestBody, error))?;
            Ok(Request::from_parts(parts, Full::new(body.to_bytes())))
        });
        ResponseFuture {
            inner: self.inner.clone(),
            state: State::Collecting { collected },
        }
    }
}

type Collecting = BoxFuture<'static, Result<Request<Full<Bytes>>, TransportError>>;

pin_project! {
    /// The response future of [`BufferRequest`].
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S>
    where
        S: Service<Request<Full<Bytes>>>,
    {
        inner: S,
        #[pin]
        state: State<S::Future>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F> {
        Collecting { collected: Collecting },
        GettingReady { request: Option<Request<Full<Bytes>>>, limit: Option<Pin<Box<Sleep>>> },
        Calling { #[pin] future: F },
    }
}

impl<S> Future for ResponseFuture<S>
where
    S: Service<Request<Full<Bytes>>>,
    S::Error: Into<BoxError>,
{
    type Output = Result<S::Response, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.state.as_mut().project() {
                StateProjection::Collecting { collected } => {
                    let request = Some(ready!(collected.as_mut().poll(cx))?);
                    let limit = None;
                    this.state.set(State::GettingReady { request, limit });
                }
                StateProjection::GettingReady { request, limit } => {
                    let held = request.as_ref().expect("left with the request");
                    let route = held.extensions().get::<Route>();
                    if route.is_some_and(|route| route.expired(now())) {
                        let error = TransportError::new(FailureKind::DeadlineExceeded);
                        return Poll::Ready(Err(error.into()));
                    }
                    let Poll::Ready(ready) = this.inner.poll_ready(cx) else {
                        ready!(poll_until(limit, route.and_then(Route::deadline), cx));
                        continue;
                    };
                    ready.map_err(Into::into)?;
                    let request = request.take().expect("seen a moment ago");
                    let future = this.inner.call(request);
                    this.state.set(State::Calling { future });
                }
                StateProjection::Calling { future } => return future.poll(cx).map_err(Into::into),
            }
        }
    }
}

impl<S> fmt::Debug for ResponseFuture<S>
where
    S: Service<Request<Full<Bytes>>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
