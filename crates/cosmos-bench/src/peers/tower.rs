//! Tower's own layers: a timeout around two retries.

use std::future::{Ready, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::Full;
use tokio::runtime::Runtime;
use tower::ServiceBuilder;
use tower::retry::{Policy, RetryLayer};
use tower::timeout::TimeoutLayer;

use crate::cost::Subject;
use crate::instant::{InstantLeaf, Req};
use crate::operation::reads;

/// Sends again what was answered with this status, three times at most.
#[derive(Copy, Clone, Debug)]
struct Again {
    status: StatusCode,
    left: u32,
}

impl<E> Policy<Req, Response<Full<Bytes>>, E> for Again {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut Req,
        result: &mut Result<Response<Full<Bytes>>, E>,
    ) -> Option<Ready<()>> {
        let failed = match result {
            Ok(response) => response.status() == self.status,
            Err(_) => true,
        };
        let again = failed && self.left > 0;
        self.left = self.left.saturating_sub(1);
        again.then(|| ready(()))
    }

    fn clone_request(&mut self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }
}

pub(super) fn subject(runtime: &Runtime) -> Subject<'_> {
    let again = |status| RetryLayer::new(Again { status, left: 3 });
    let service = ServiceBuilder::new()
        .layer(TimeoutLayer::new(Duration::from_secs(10)))
        .layer(again(StatusCode::SERVICE_UNAVAILABLE))
        .layer(again(StatusCode::TOO_MANY_REQUESTS))
        .service(InstantLeaf::new());
    reads("tower: timeout and two retries", runtime, service)
}
