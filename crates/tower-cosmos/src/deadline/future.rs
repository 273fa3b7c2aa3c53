use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use cosmos_core::{BoxError, Status, headers};
use http::{HeaderValue, Response, StatusCode};
use pin_project_lite::pin_project;
use tokio::time::Sleep;

use crate::clock::{now, poll_until};
use crate::scope::Scope;

/// What the response says that this layer makes.
const BODY: &[u8] =
    br#"{"code":"RequestTimeout","message":"The operation's deadline passed in the client."}"#;

pin_project! {
    /// The response future of [`Deadline`](super::Deadline).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        // Absent for a request that passes through.
        scope: Option<Scope>,
        deadline: Option<Instant>,
        sleep: Option<Pin<Box<Sleep>>>,
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F> {
        Running { #[pin] future: F },
        Expired,
    }
}

impl<F> ResponseFuture<F> {
    pub(super) fn pass(future: F) -> Self {
        Self {
            scope: None,
            deadline: None,
            sleep: None,
            state: State::Running { future },
        }
    }

    pub(super) fn expired(scope: Scope) -> Self {
        Self {
            scope: Some(scope),
            deadline: None,
            sleep: None,
            state: State::Expired,
        }
    }

    pub(super) fn new(scope: Scope, deadline: Option<Instant>, future: F) -> Self {
        Self {
            scope: Some(scope),
            deadline,
            sleep: None,
            state: State::Running { future },
        }
    }
}

impl<F, R, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
    R: From<Bytes>,
{
    type Output = Result<Response<R>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(scope) = this.scope else {
            return match this.state.project() {
                StateProjection::Running { future } => future.poll(cx).map_err(Into::into),
                StateProjection::Expired => unreachable!("only an operation of ours expires"),
            };
        };
        let _operation = scope.trace();
        if let StateProjection::Running { future } = this.state.as_mut().project() {
            match future.poll(cx) {
                Poll::Ready(Ok(mut response)) => {
                    scope.answer(&mut response);
                    return Poll::Ready(Ok(response));
                }
                // Whatever a layer inside made of it: the deadline has passed.
                Poll::Ready(Err(_)) if !scope.route.is_foreign() && scope.route.expired(now()) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                Poll::Pending => {
                    // A request for a foreign host is none of ours, and has no deadline.
                    if this.deadline.is_none() || scope.route.is_foreign() {
                        return Poll::Pending;
                    }
                    let passed = poll_until(this.sleep, *this.deadline, cx).is_ready();
                    // Noted before the inner future is dropped, so that its attempt does not
                    // count as failed. The clock is asked, too: a timer says nothing to a task
                    // that has used up its turn on an answer that is always there.
                    if !scope.route.expired(now()) && !passed {
                        return Poll::Pending;
                    }
                }
            }
            this.state.set(State::Expired);
        }
        let mut response = timed_out();
        scope.answer(&mut response);
        Poll::Ready(Ok(response))
    }
}

/// 408/20008, as the specification asks for.
fn timed_out<R: From<Bytes>>() -> Response<R> {
    let status = Status::CLIENT_OPERATION_TIMEOUT;
    let mut response = Response::new(R::from(Bytes::from_static(BODY)));
    *response.status_mut() = StatusCode::REQUEST_TIMEOUT;
    let map = response.headers_mut();
    map.insert(headers::SUBSTATUS, HeaderValue::from(status.substatus()));
    map.insert(headers::CONTENT_TYPE, headers::value::JSON);
    response
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
