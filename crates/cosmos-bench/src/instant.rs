//! An account that answers at once: what is measured above it is all that is measured.
//!
//! [`InstantLeaf`] takes the place of an HTTP client below a stack and answers reads with 200, a
//! small document and the headers that the service sends. [`InstantMetadata`] serves the account
//! document and the container.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use cosmos_core::headers;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use tower::Service;

use crate::documents;

/// A request as the stacks take it.
pub type Req = Request<Full<Bytes>>;

/// What a region says when it fails.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// 503: another region may do better.
    Unavailable,
    /// 429, to be repeated without a wait.
    Throttled,
}

/// Answers every request at once. Clones share the failures that are to come.
#[derive(Clone, Debug)]
pub struct InstantLeaf {
    answer: Arc<HeaderMap>,
    // Made beforehand, so that failing takes the leaf no longer than answering.
    failed: Arc<HeaderMap>,
    failure: Failure,
    failures: Failures,
}

/// How many of the next requests to the preferred region fail.
#[derive(Clone, Debug, Default)]
pub struct Failures(Arc<AtomicUsize>);

impl Failures {
    /// So many fail from now on.
    pub fn set(&self, failures: usize) {
        self.0.store(failures, Ordering::Relaxed);
    }

    /// Whether a request to this host fails. The usual answer costs one load.
    fn take(&self, host: &str) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        let fails = left > 0 && host == documents::PREFERRED_HOST;
        if fails {
            self.0.store(left - 1, Ordering::Relaxed);
        }
        fails
    }
}

impl InstantLeaf {
    /// A leaf that answers well.
    #[must_use]
    pub fn new() -> Self {
        Self::failing_with(Failure::Unavailable, &Failures::default())
    }

    /// A leaf that fails in this way as often as it is told.
    #[must_use]
    pub fn failing_with(failure: Failure, failures: &Failures) -> Self {
        let mut failed = answer_headers();
        failed.insert(headers::RETRY_AFTER_MS, HeaderValue::from_static("0"));
        Self {
            answer: Arc::new(answer_headers()),
            failed: Arc::new(failed),
            failure,
            failures: failures.clone(),
        }
    }
}

impl Default for InstantLeaf {
    fn default() -> Self {
        Self::new()
    }
}

impl<B> Service<Request<B>> for InstantLeaf {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let mut response = Response::new(Full::from(documents::ITEM));
        let fails = self.failures.take(request.uri().host().unwrap_or_default());
        let headers = if fails { &self.failed } else { &self.answer };
        *response.headers_mut() = HeaderMap::clone(headers);
        if fails {
            *response.status_mut() = match self.failure {
                Failure::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
                Failure::Throttled => StatusCode::TOO_MANY_REQUESTS,
            };
        }
        ready(Ok(response))
    }
}

/// The headers of a point read's answer.
pub(crate) fn answer_headers() -> HeaderMap {
    documents::ANSWER
        .into_iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect()
}

/// Serves what describes the account and its container.
#[derive(Copy, Clone, Debug)]
pub struct InstantMetadata;

impl Service<Req> for InstantMetadata {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let unchanged = request.headers().contains_key(http::header::IF_NONE_MATCH);
        let (status, text) = documents::metadata(request.uri().path(), unchanged);
        let mut response = Response::new(Full::from(text));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        let etag = HeaderValue::from_static(documents::ETAG);
        response.headers_mut().insert(http::header::ETAG, etag);
        ready(Ok(response))
    }
}
