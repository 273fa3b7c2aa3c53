//! The response future of the retrying layers.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use cosmos_core::policy::fits;
use cosmos_core::seeded::{self, Fault};
use cosmos_core::{
    Attempt, BoxError, FailureKind, Outcome, Position, Route, Status, Steering, Toll,
    TransportError, headers,
};
use http::{Request, Response};
use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower_service::Service;

use super::kept::Kept;
use super::{Again, Decision, Policy, Refreshing};
use crate::clock::{now, poll_until};
use crate::lending::Lent;
use crate::scope::Scope;

pin_project! {
    /// The response future of a retrying layer.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<P, S, B>
    where
        S: Service<Request<B>>,
    {
        // Both absent for a request that passes through.
        scope: Option<Scope>,
        retrying: Option<Retrying<P, S, B>>,
        // What is surfaced if sending again fails before it began. Dropped before any wait, but for
        // one for readiness that a deadline ends.
        last: Option<Box<Result<S::Response, BoxError>>>,
        #[pin]
        state: State<S::Future>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F> {
        Trying { #[pin] future: F },
        Deciding,
        Refreshing { refreshing: Refreshing },
        Waiting { sleep: Pin<Box<Sleep>>, next: Option<Next> },
        GettingReady { next: Option<Next>, limit: Option<Pin<Box<Sleep>>> },
    }
}

/// The next try, paid for. Dropped before it is made, it is paid back.
struct Next {
    route: Route,
    steering: Steering,
}

impl Next {
    /// `None`: it does not fit into the deadline, or is one retry too many for the region.
    fn of(scope: &Scope, again: Again) -> Option<Self> {
        if !fits_deadline(scope, again) {
            return None;
        }
        let mut steering = again.steering;
        match scope.route.pay(steering) {
            Toll::Refused => return None,
            Toll::Free => {}
            Toll::Paid(region) => steering.paid = Some(region),
        }
        let route = scope.route.clone();
        Some(Self { route, steering })
    }

    /// From here on, the attempt has what was paid.
    fn steering(mut self) -> Steering {
        let steering = self.steering;
        self.steering.paid = None;
        steering
    }
}

impl Drop for Next {
    fn drop(&mut self) {
        if let Some(region) = self.steering.paid {
            self.route.pay_back(region);
        }
    }
}

struct Retrying<P, S, B> {
    // The service that was called; polled ready again before each further try.
    service: Lent<P, S>,
    kept: Kept<B>,
    // Where the try under way began: its attempts are the ones to decide on.
    position: Position,
}

impl<P, S, B> ResponseFuture<P, S, B>
where
    S: Service<Request<B>>,
{
    pub(super) fn pass(future: S::Future) -> Self {
        Self {
            scope: None,
            retrying: None,
            last: None,
            state: State::Trying { future },
        }
    }

    pub(super) fn new(
        scope: Scope,
        service: Lent<P, S>,
        kept: Kept<B>,
        position: Position,
        future: S::Future,
    ) -> Self {
        let retrying = Retrying {
            service,
            kept,
            position,
        };
        Self {
            scope: Some(scope),
            retrying: Some(retrying),
            last: None,
            state: State::Trying { future },
        }
    }
}

impl<P, S, B, R> Future for ResponseFuture<P, S, B>
where
    P: Policy,
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Clone + 'static,
{
    type Output = Result<Response<R>, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(self.as_mut().poll_tries(cx));
        // Who is done may be kept for long, but keeps no service, and so no place in a queue.
        *self.project().retrying = None;
        Poll::Ready(result)
    }
}

impl<P, S, B, R> ResponseFuture<P, S, B>
where
    P: Policy,
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    B: Clone + 'static,
{
    fn poll_tries(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcomes<R>> {
        let mut this = self.project();
        let (Some(scope), Some(retrying)) = (this.scope.as_ref(), this.retrying.as_mut()) else {
            let StateProjection::Trying { future } = this.state.project() else {
                unreachable!("a request that passes through is tried once")
            };
            return future.poll(cx).map_err(Into::into);
        };
        let _operation = scope.trace();
        loop {
            match this.state.as_mut().project() {
                StateProjection::Trying { future } => {
                    let mut result = ready!(future.poll(cx)).map_err(Into::into);
                    // Dropped first: a layer in between that gave up may still hold the attempt
                    // in its own future, and only one that is dropped is over.
                    this.state.set(State::Deciding);
                    match retrying.decide(scope, &result) {
                        Decision::Surface => {
                            surface(scope, &mut result);
                            return Poll::Ready(result);
                        }
                        Decision::Again(again) => {
                            *this.last = Some(Box::new(result));
                            let Some(next) = Next::of(scope, again) else {
                                return Poll::Ready(surface_last(scope, this.last));
                            };
                            this.state.set(State::after(again.wait, next, this.last));
                        }
                        Decision::After(refreshing) => {
                            *this.last = Some(Box::new(result));
                            this.state.set(State::Refreshing { refreshing });
                        }
                    }
                }
                StateProjection::Deciding => {
                    unreachable!("a decision leads on in the same poll")
                }
                StateProjection::Refreshing { refreshing } => {
                    let again = ready!(refreshing.0.as_mut().poll(cx));
                    let next = again.and_then(|again| Some((again, Next::of(scope, again)?)));
                    let Some((again, next)) = next else {
                        return Poll::Ready(surface_last(scope, this.last));
                    };
                    this.state.set(State::after(again.wait, next, this.last));
                }
                StateProjection::Waiting { sleep, next } => {
                    ready!(sleep.as_mut().poll(cx));
                    let next = next.take();
                    this.state.set(State::GettingReady { next, limit: None });
                }
                StateProjection::GettingReady { next, limit } => {
                    match retrying.service.service().poll_ready(cx) {
                        Poll::Ready(Ok(())) => {
                            *this.last = None;
                            let Some(next) = next.take() else {
                                unreachable!("what is next is known until it is sent")
                            };
                            let future = retrying.send(scope, next.steering());
                            this.state.set(State::Trying { future });
                        }
                        Poll::Ready(Err(error)) => {
                            let last = this.last.take();
                            let mut last = last.map_or(Err(error.into()), |last| *last);
                            surface(scope, &mut last);
                            return Poll::Ready(last);
                        }
                        Poll::Pending => {
                            let deadline = scope.route.deadline();
                            // Its body may hold the very connection that is waited for, and nothing
                            // would end that.
                            if deadline.is_none() && matches!(this.last.as_deref(), Some(Ok(_))) {
                                *this.last = None;
                            }
                            ready!(poll_until(limit, deadline, cx));
                            return Poll::Ready(surface_last(scope, this.last));
                        }
                    }
                }
            }
        }
    }
}

impl<F> State<F> {
    /// The state that leads to the next try, and what may be kept until then.
    fn after<T>(wait: Duration, next: Next, last: &mut Option<T>) -> Self {
        let next = Some(next);
        if wait.is_zero() {
            return Self::GettingReady { next, limit: None };
        }
        *last = None;
        Self::Waiting {
            sleep: Box::pin(tokio::time::sleep(wait)),
            next,
        }
    }
}

impl<P, S, B, R> Retrying<P, S, B>
where
    P: Policy,
    S: Service<Request<B>, Response = Response<R>> + Clone,
    B: Clone + 'static,
{
    fn decide(&self, scope: &Scope, result: &Result<Response<R>, BoxError>) -> Decision {
        let route = &scope.route;
        let settled = route.settled(self.position);
        let Some(mut attempt) = settled.or_else(|| route.conclude(self.position, now())) else {
            return Decision::Surface;
        };
        let headers = match result {
            Ok(response) => {
                attempt.outcome = Outcome::Answered(Status::of_response(response));
                Some(response.headers())
            }
            Err(error) if is_of_attempt(&**error, &attempt) => None,
            Err(_) => return Decision::Surface,
        };
        if attempt.sole {
            // Every region is excluded: the one request that may be sent has been.
            return Decision::Surface;
        }
        self.service.policy().decide(route, &attempt, headers)
    }

    fn send(&mut self, scope: &Scope, steering: Steering) -> S::Future {
        let mut request = self.kept.again(scope.route.steered(steering));
        if seeded::is(Fault::GrowingHeader) {
            let again = http::HeaderValue::from_static("again");
            request.headers_mut().append(headers::ACTIVITY_ID, again);
        }
        self.position = scope.route.position();
        self.service.service().call(request)
    }
}

type Outcomes<R> = Result<Response<R>, BoxError>;

/// Makes a result what the layer returns.
fn surface<R>(scope: &Scope, result: &mut Outcomes<R>) {
    if let Ok(response) = result {
        if seeded::is(Fault::MadeUpResponse) && response.status().is_server_error() {
            response.headers_mut().clear();
        }
        scope.answer(response);
    }
}

fn surface_last<R>(scope: &Scope, last: &mut Option<Box<Outcomes<R>>>) -> Outcomes<R> {
    let expired = || Err(scope.error(FailureKind::DeadlineExceeded).into());
    let mut last = last.take().map_or_else(expired, |last| *last);
    surface(scope, &mut last);
    last
}

fn fits_deadline(scope: &Scope, again: Again) -> bool {
    let fits = fits(again.wait, now(), scope.route.deadline());
    tracing::debug!(
        cosmos.reason = again.steering.reason.name(),
        cosmos.wait = ?again.wait,
        cosmos.fits = fits,
        "retry"
    );
    fits
}

/// Whether an error is that of the attempt itself: reported by `EndpointLayer`, or by a layer
/// above it that gave up while the attempt was under way.
fn is_of_attempt(error: &(dyn std::error::Error + 'static), attempt: &Attempt) -> bool {
    let Outcome::Failed(kind) = attempt.outcome else {
        return false;
    };
    match TransportError::find(error) {
        Some(ours) if kind == FailureKind::Lost => ours.kind().is_regional(),
        Some(ours) => ours.kind() == kind,
        None => true,
    }
}

impl<P, S, B> fmt::Debug for ResponseFuture<P, S, B>
where
    S: Service<Request<B>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
