use std::task::{Context, Poll};

use bytes::Bytes;
use cosmos_core::BoxError;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tower_layer::Layer;
use tower_service::Service;

use super::ResponseFuture;

/// The default limit of a response body, in bytes.
const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

/// Layers [`Buffer`]. See the [module](super).
#[derive(Copy, Clone, Debug)]
#[must_use]
pub struct BufferLayer {
    limit: usize,
}

impl BufferLayer {
    /// A layer that reads bodies of up to 16 MiB.
    pub fn new() -> Self {
        Self {
            limit: DEFAULT_LIMIT,
        }
    }

    /// The largest body read, in bytes. A larger one is an error.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
}

impl Default for BufferLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for BufferLayer {
    type Service = Buffer<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Buffer::new(inner, self.limit)
    }
}

/// Reads response bodies to their end. See the [module](super).
#[derive(Clone, Debug)]
pub struct Buffer<S> {
    inner: S,
    limit: usize,
}

impl<S> Buffer<S> {
    /// Wraps a service; bodies may have up to `limit` bytes.
    pub fn new(inner: S, limit: usize) -> Self {
        Self { inner, limit }
    }

    /// A layer with the default limit.
    pub fn layer() -> BufferLayer {
        BufferLayer::new()
    }
}

impl<S, B, R> Service<Request<B>> for Buffer<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    R: Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ResponseFuture::new(self.inner.call(request), self.limit)
    }
}
