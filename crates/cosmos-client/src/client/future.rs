use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use cosmos_core::{BoxError, TransportError};
use http::{Request, Response};
use http_body_util::Full;
use pin_project_lite::pin_project;
use tower_cosmos::Recommended;
use tower_service::Service;

use crate::Leaf;

type StackFuture = <Recommended<Leaf> as Service<Request<Full<Bytes>>>>::Future;

pin_project! {
    /// The response future of [`CosmosClient`](super::CosmosClient).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture {
        #[pin]
        state: State,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State {
        Called { #[pin] future: StackFuture },
        Refused { error: Option<TransportError> },
    }
}

impl ResponseFuture {
    pub(super) fn called(future: StackFuture) -> Self {
        Self {
            state: State::Called { future },
        }
    }

    pub(super) fn refused(error: TransportError) -> Self {
        Self {
            state: State::Refused { error: Some(error) },
        }
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<Full<Bytes>>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProjection::Called { future } => future.poll(cx),
            StateProjection::Refused { error } => {
                Poll::Ready(Err(error.take().expect("polled after completion").into()))
            }
        }
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
