use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use cosmos_core::{
    AttemptId, BoxError, FailureKind, Outcome, Oversight, Route, Status, Topology, TransportError,
};
use futures::future::BoxFuture;
use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_service::Service;

use super::service::place;
use crate::Account;
use crate::account::{Placement, RefreshError};
use crate::clock::now;
use crate::held::Held;
use crate::scope::Scope;
use crate::transport::into_transport_error;

pin_project! {
    /// The response future of [`Endpoint`](super::Endpoint).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S, B>
    where
        S: Service<Request<B>>,
    {
        // Absent for a request that passes through.
        scope: Option<Scope>,
        // Dropped first: the attempt it stands for is over when this future is.
        placed: Option<Placed>,
        #[pin]
        state: State<S, S::Future, B>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<S, F, B> {
        Waiting { held: Option<(Account, Held<S, B>)>, topology: BoxFuture<'static, Found> },
        GettingReady { held: Option<(Account, Held<S, B>)>, topology: Arc<Topology> },
        Sending { #[pin] future: F },
        Refused { error: Option<TransportError> },
    }
}

type Found = Result<Arc<Topology>, Arc<RefreshError>>;

/// An attempt under way. Dropped without an end, it leaves the attempt abandoned.
#[derive(Debug)]
pub(super) struct Placed {
    // For attempts that tell where a partition accepts writes.
    account: Option<Account>,
    route: Route,
    attempt: AttemptId,
    // Trial and lease are free again when the attempt is over.
    placement: Placement,
}

impl Placed {
    pub(super) fn new(
        account: &Account,
        route: Route,
        attempt: AttemptId,
        placement: Placement,
    ) -> Self {
        let learns = placement.oversight == Oversight::WriteRegion;
        Self {
            account: learns.then(|| account.clone()),
            route,
            attempt,
            placement,
        }
    }

    /// Ends the attempt with an answer, and tells what it shows.
    fn answered<R>(&self, scope: &Scope, response: &mut Response<R>) {
        let Self {
            route, placement, ..
        } = self;
        let status = Status::of_response(response);
        let headers = response.headers();
        // The verdict belongs to the partition that the region was chosen for.
        route.end(self.attempt, now(), Outcome::Answered(status));
        if route.correct_range(headers) {
            tracing::debug!("the operation was for another partition key range");
            if let Some(ranges) = route.ranges() {
                ranges.corrected(route);
            }
        }
        if let Some(account) = &self.account {
            account.learn_write_region(route, placement, status);
        }
        route.answered(status, headers);
        scope.answer(response);
    }

    /// Ends the attempt without an answer.
    fn failed(&self, scope: &Scope, error: BoxError) -> BoxError {
        let error = into_transport_error(error).with_region(self.placement.choice.region);
        let outcome = match error.kind() {
            // Cut short by the deadline: that is no failure of the region's.
            FailureKind::DeadlineExceeded => Outcome::Abandoned,
            kind => Outcome::Failed(kind),
        };
        self.route.end(self.attempt, now(), outcome);
        error.with_journal(scope.route.journal()).into()
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        // An attempt that has ended keeps its outcome.
        self.route.end(self.attempt, now(), Outcome::Abandoned);
    }
}

impl<S, B> ResponseFuture<S, B>
where
    S: Service<Request<B>>,
{
    pub(super) fn pass(future: S::Future) -> Self {
        Self {
            scope: None,
            placed: None,
            state: State::Sending { future },
        }
    }

    pub(super) fn send(scope: Scope, placed: Option<Placed>, future: S::Future) -> Self {
        // A request for a foreign host is not ours to report on.
        let scope = placed.is_some().then_some(scope);
        Self {
            scope,
            placed,
            state: State::Sending { future },
        }
    }

    pub(super) fn refused(error: TransportError) -> Self {
        Self {
            scope: None,
            placed: None,
            state: State::Refused { error: Some(error) },
        }
    }

    pub(super) fn wait(account: Account, held: Held<S, B>, scope: Scope) -> Self {
        let handle = account.clone();
        let route = scope.route.clone();
        let topology = Box::pin(async move { handle.wait_for_topology(&route).await });
        let held = Some((account, held));
        Self {
            scope: Some(scope),
            placed: None,
            state: State::Waiting { held, topology },
        }
    }
}

impl<S, B, R> Future for ResponseFuture<S, B>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
{
    type Output = Result<Response<R>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.state.as_mut().project() {
                StateProjection::Waiting { held, topology } => {
                    let (Some((_, waiting)), Some(scope)) = (held.as_mut(), this.scope.as_ref())
                    else {
                        unreachable!("waiting keeps the request until it is sent")
                    };
                    match topology.as_mut().poll(cx) {
                        Poll::Pending => return waiting.poll_expired(scope, cx).map(Err),
                        Poll::Ready(Ok(topology)) => {
                            let held = held.take();
                            this.state.set(State::GettingReady { held, topology });
                        }
                        Poll::Ready(Err(error)) => {
                            let error = TransportError::caused(error.kind(), error);
                            let error = error.with_journal(scope.route.journal());
                            return Poll::Ready(Err(error.into()));
                        }
                    }
                }
                StateProjection::GettingReady { held, topology } => {
                    let (Some((_, waiting)), Some(scope)) = (held.as_mut(), this.scope.as_ref())
                    else {
                        unreachable!("getting ready keeps the request until it is sent")
                    };
                    ready!(waiting.poll_ready(scope, cx))?;
                    let topology = Arc::clone(topology);
                    let Some((account, waiting)) = held.take() else {
                        unreachable!("seen a moment ago")
                    };
                    let (mut service, mut request) = waiting.release();
                    match place(&account, &topology, scope, &mut request) {
                        Ok(placed) => {
                            let future = service.call(request);
                            if placed.is_none() {
                                *this.scope = None;
                            }
                            *this.placed = placed;
                            this.state.set(State::Sending { future });
                        }
                        Err(error) => return Poll::Ready(Err(error.into())),
                    }
                }
                StateProjection::Sending { future } => {
                    let _operation = this.scope.as_ref().map(Scope::trace);
                    let Poll::Ready(result) = future.poll(cx) else {
                        // A head that came late, or a piece of a body: the probe goes on.
                        let placement = this.placed.as_ref().map(|placed| &placed.placement);
                        if let Some(lease) = placement.and_then(|it| it.lease.as_ref()) {
                            lease.renew();
                        }
                        return Poll::Pending;
                    };
                    let mut result = result.map_err(Into::into);
                    if let (Some(scope), Some(placed)) = (&*this.scope, &*this.placed) {
                        match &mut result {
                            Ok(response) => placed.answered(scope, response),
                            Err(_) => result = result.map_err(|error| placed.failed(scope, error)),
                        }
                    }
                    *this.placed = None;
                    return Poll::Ready(result);
                }
                StateProjection::Refused { error } => {
                    return Poll::Ready(Err(error.take().expect("polled after completion").into()));
                }
            }
        }
    }
}

impl<S, B> fmt::Debug for ResponseFuture<S, B>
where
    S: Service<Request<B>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture")
            .field("placed", &self.placed)
            .finish_non_exhaustive()
    }
}
