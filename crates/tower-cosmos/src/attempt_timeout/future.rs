use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use cosmos_core::{BoxError, FailureKind, Phase};
use http::Response;
use pin_project_lite::pin_project;
use tokio::time::Sleep;

use super::IdleBody;
use crate::clock::{now, poll_until};
use crate::scope::Scope;

pin_project! {
    /// The response future of [`AttemptTimeout`](super::AttemptTimeout).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        // Absent for a request that passes through.
        limited: Option<Limited>,
        sleep: Option<Pin<Box<Sleep>>>,
        #[pin]
        future: Option<F>,
    }
}

/// An attempt and its limits.
pub(super) struct Limited {
    pub(super) scope: Scope,
    until: Option<Instant>,
    idle: Duration,
}

impl<F> ResponseFuture<F> {
    pub(super) fn pass(future: F) -> Self {
        Self {
            limited: None,
            sleep: None,
            future: Some(future),
        }
    }

    pub(super) fn limited(limited: Limited, future: F) -> Self {
        Self {
            limited: Some(limited),
            sleep: None,
            future: Some(future),
        }
    }

    /// Sends nothing: the deadline has passed.
    pub(super) fn late(limited: Limited) -> Self {
        Self {
            limited: Some(limited),
            sleep: None,
            future: None,
        }
    }
}

impl Limited {
    /// The limits of an attempt that begins now; an error if its operation's deadline has passed.
    pub(super) fn begin(scope: Scope, limit: Duration, idle: Duration) -> Result<Self, Self> {
        let now = now();
        let deadline = scope.route.deadline();
        let limit = share(&scope, limit, now, deadline);
        // A limit beyond what the clock can hold is none.
        let until = now.checked_add(limit).into_iter().chain(deadline).min();
        let limited = Self { scope, until, idle };
        if deadline.is_some_and(|deadline| now >= deadline) {
            Err(limited)
        } else {
            Ok(limited)
        }
    }

    /// The error of an attempt that is given up.
    fn error(&self) -> BoxError {
        self.scope.error(self.what_ran_out()).into()
    }

    fn what_ran_out(&self) -> FailureKind {
        let route = &self.scope.route;
        if route.expired(now()) {
            return FailureKind::DeadlineExceeded;
        }
        let attempt = route.steering.attempt.and_then(|id| route.attempt(id));
        match attempt.map(|attempt| attempt.phase) {
            // Nothing has left: the leaf was still connecting.
            Some(Phase::Connecting) => FailureKind::ConnectTimeout,
            _ => FailureKind::AttemptTimeout,
        }
    }
}

/// An attempt's limit; at most two thirds of what is left of the deadline if another region could
/// take over, so that a region which hangs never costs the whole operation.
fn share(scope: &Scope, limit: Duration, now: Instant, deadline: Option<Instant>) -> Duration {
    let attempt = scope
        .route
        .steering
        .attempt
        .and_then(|id| scope.route.attempt(id));
    match (attempt, deadline) {
        (Some(attempt), Some(deadline)) if attempt.has_alternative => {
            let left = deadline.saturating_duration_since(now);
            limit.min(left.saturating_sub(left / 3))
        }
        _ => limit,
    }
}

impl<F, R, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<IdleBody<R>>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            let late = this.limited.take().expect("polled after completion");
            return Poll::Ready(Err(late.error()));
        };
        if let Poll::Ready(result) = future.poll(cx) {
            let mut response = result.map_err(Into::into)?;
            return Poll::Ready(Ok(match this.limited {
                Some(Limited { scope, idle, .. }) => {
                    let deadline = scope.route.deadline();
                    scope.answer(&mut response);
                    response.map(|body| IdleBody::limited(body, *idle, deadline))
                }
                None => response.map(IdleBody::unlimited),
            }));
        }
        let Some(limited) = this.limited.as_ref() else {
            return Poll::Pending;
        };
        ready!(poll_until(this.sleep, limited.until, cx));
        // Dropped first: until then a connection can still take the request.
        this.future.set(None);
        let error = limited.error();
        *this.limited = None;
        Poll::Ready(Err(error))
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
