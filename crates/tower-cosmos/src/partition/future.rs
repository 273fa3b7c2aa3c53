use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use cosmos_core::BoxError;
use futures::future::BoxFuture;
use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::held::Held;
use crate::scope::Scope;

pin_project! {
    /// The response future of [`Partition`](super::Partition).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S, B>
    where
        S: Service<Request<B>>,
    {
        // Absent for a request that passes through.
        scope: Option<Scope>,
        #[pin]
        state: State<S, S::Future, B>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<S, F, B> {
        Waiting { held: Option<Held<S, B>>, known: BoxFuture<'static, ()> },
        GettingReady { held: Option<Held<S, B>> },
        Sending { #[pin] future: F },
    }
}

impl<S, B> ResponseFuture<S, B>
where
    S: Service<Request<B>>,
{
    pub(super) fn pass(future: S::Future) -> Self {
        Self {
            scope: None,
            state: State::Sending { future },
        }
    }

    pub(super) fn send(scope: Scope, future: S::Future) -> Self {
        Self {
            scope: Some(scope),
            state: State::Sending { future },
        }
    }

    pub(super) fn wait(scope: Scope, held: Held<S, B>, known: BoxFuture<'static, ()>) -> Self {
        let held = Some(held);
        Self {
            scope: Some(scope),
            state: State::Waiting { held, known },
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
        let scope = this.scope.as_ref();
        let _operation = scope.map(Scope::trace);
        loop {
            match this.state.as_mut().project() {
                StateProjection::Waiting { held, known } => {
                    // It ends at the deadline at the latest.
                    ready!(known.as_mut().poll(cx));
                    let held = held.take();
                    this.state.set(State::GettingReady { held });
                }
                StateProjection::GettingReady { held } => {
                    let (Some(waiting), Some(scope)) = (held.as_mut(), scope) else {
                        unreachable!("getting ready keeps the request until it is sent")
                    };
                    ready!(waiting.poll_ready(scope, cx))?;
                    let Some(waiting) = held.take() else {
                        unreachable!("seen a moment ago")
                    };
                    let (mut service, request) = waiting.release();
                    let future = service.call(request);
                    this.state.set(State::Sending { future });
                }
                StateProjection::Sending { future } => {
                    let mut result = future.poll(cx).map_err(Into::into);
                    if let (Some(scope), Poll::Ready(Ok(response))) = (scope, &mut result) {
                        scope.answer(response);
                    }
                    return result;
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
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
