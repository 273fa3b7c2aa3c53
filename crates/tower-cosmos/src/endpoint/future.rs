use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use cosmos_core::{
    AttemptId, BoxError, FailureKind, Outcome, Region, Route, Status, Topology, TransportError,
};
use futures::future::BoxFuture;
use http::{Request, Response};
use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower_service::Service;

use super::service::place;
use crate::Account;
use crate::account::{RefreshError, Trial};
use crate::clock::{now, poll_until};
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
        Waiting { waiting: Option<Waiting<S, B>>, topology: BoxFuture<'static, Found> },
        GettingReady { waiting: Option<Waiting<S, B>>, topology: Arc<Topology> },
        Sending { #[pin] future: F },
        Refused { error: Option<TransportError> },
    }
}

type Found = Result<Arc<Topology>, Arc<RefreshError>>;

/// What is kept while the account's regions are not known yet.
struct Waiting<S, B> {
    account: Account,
    service: S,
    request: Request<B>,
    limit: Option<Pin<Box<Sleep>>>,
}

/// An attempt under way. Dropped without an end, it leaves the attempt abandoned.
#[derive(Debug)]
pub(super) struct Placed {
    route: Route,
    attempt: AttemptId,
    region: Region,
    // Held for its `Drop`: the trial is free again when the attempt is over.
    _trial: Option<Trial>,
}

impl Placed {
    pub(super) fn new(
        route: Route,
        attempt: AttemptId,
        region: Region,
        trial: Option<Trial>,
    ) -> Self {
        Self {
            route,
            attempt,
            region,
            _trial: trial,
        }
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

    pub(super) fn wait(account: Account, service: S, scope: Scope, request: Request<B>) -> Self {
        let handle = account.clone();
        let route = scope.route.clone();
        let topology = Box::pin(async move { handle.wait_for_topology(&route).await });
        let waiting = Some(Waiting {
            account,
            service,
            request,
            limit: None,
        });
        Self {
            scope: Some(scope),
            placed: None,
            state: State::Waiting { waiting, topology },
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
                StateProjection::Waiting { waiting, topology } => {
                    match topology.as_mut().poll(cx) {
                        Poll::Pending => return poll_deadline(this.scope.as_ref(), waiting, cx),
                        Poll::Ready(Ok(topology)) => {
                            let waiting = waiting.take();
                            this.state.set(State::GettingReady { waiting, topology });
                        }
                        Poll::Ready(Err(error)) => {
                            let mut error = TransportError::caused(error.kind(), error);
                            if let Some(scope) = this.scope.as_ref() {
                                error = error.with_journal(scope.route.journal());
                            }
                            return Poll::Ready(Err(error.into()));
                        }
                    }
                }
                StateProjection::GettingReady { waiting, topology } => {
                    let (Some(pending), Some(scope)) = (waiting.as_mut(), this.scope.as_ref())
                    else {
                        unreachable!("getting ready keeps the request until it is sent")
                    };
                    match pending.service.poll_ready(cx) {
                        Poll::Pending => return poll_deadline(this.scope.as_ref(), waiting, cx),
                        Poll::Ready(ready) => ready.map_err(Into::into)?,
                    }
                    let topology = Arc::clone(topology);
                    let Some(Waiting {
                        account,
                        mut service,
                        mut request,
                        ..
                    }) = waiting.take()
                    else {
                        unreachable!("seen a moment ago")
                    };
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
                    let result = ready!(future.poll(cx)).map_err(Into::into);
                    let placed = this.placed.take();
                    let (Some(scope), Some(placed)) = (this.scope.as_ref(), placed) else {
                        return Poll::Ready(result);
                    };
                    return Poll::Ready(conclude(scope, &placed, result));
                }
                StateProjection::Refused { error } => {
                    return Poll::Ready(Err(error.take().expect("polled after completion").into()));
                }
            }
        }
    }
}

/// Ends a wait at the operation's deadline.
fn poll_deadline<S, B, T>(
    scope: Option<&Scope>,
    waiting: &mut Option<Waiting<S, B>>,
    cx: &mut Context<'_>,
) -> Poll<Result<T, BoxError>> {
    let (Some(scope), Some(waiting)) = (scope, waiting) else {
        return Poll::Pending;
    };
    ready!(poll_until(&mut waiting.limit, scope.route.deadline(), cx));
    let _ = scope.route.expired(now());
    Poll::Ready(Err(scope.error(FailureKind::DeadlineExceeded).into()))
}

/// Ends the attempt with what came back.
fn conclude<R>(
    scope: &Scope,
    placed: &Placed,
    result: Result<Response<R>, BoxError>,
) -> Result<Response<R>, BoxError> {
    let end = |outcome| placed.route.end(placed.attempt, now(), outcome);
    match result {
        Ok(response) => {
            let status = Status::of_response(&response);
            end(Outcome::Answered(status));
            placed.route.answered(status, response.headers());
            Ok(scope.answer(response))
        }
        Err(error) => {
            let error = into_transport_error(error).with_region(placed.region);
            end(match error.kind() {
                // Cut short by the deadline: that is no failure of the region's.
                FailureKind::DeadlineExceeded => Outcome::Abandoned,
                kind => Outcome::Failed(kind),
            });
            Err(error.with_journal(scope.route.journal()).into())
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
