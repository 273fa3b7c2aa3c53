//! One call: a slot, a connection, the answer's headers.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use cosmos_core::{AttemptId, BoxError, FailureKind, Phase, Route, TransportError};
use http::{Extensions, Request, Response, Version};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy;
use pin_project_lite::pin_project;
use tokio::sync::{AcquireError, TryAcquireError};
use tokio::time::{Instant, Sleep};

use super::body::ResponseBody;
use super::failure;
use super::outgoing::{Handover, Outgoing};
use super::shard::{Shards, Slot};

type Reserving = Pin<Box<dyn Future<Output = Result<Slot, AcquireError>> + Send>>;

pin_project! {
    /// The future of [`Leaf`](super::Leaf).
    ///
    /// Dropped before a connection took the request, it takes the request back: nothing is sent,
    /// and the phase in the journal stays [`Phase::Connecting`].
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture {
        start: Option<Start>,
        state: State,
        // Where the connect limit ends (`None`: further away than the clock reaches).
        limit: Option<Instant>,
        // Made only if a poll has to wait.
        #[pin]
        timer: Option<Sleep>,
    }
}

/// What a call begins with.
pub(super) struct Start {
    pub(super) request: Request<Full<Bytes>>,
    pub(super) shards: Arc<Shards>,
    pub(super) attempt: Option<(Route, AttemptId)>,
    pub(super) avoid: Option<u16>,
}

enum State {
    Start,
    Waiting(Reserving),
    Sending(Sending),
    Failed(FailureKind),
    Done,
}

impl ResponseFuture {
    /// A call whose connect limit ends at `limit`.
    pub(super) fn new(start: Start, limit: Option<Instant>) -> Self {
        Self {
            start: Some(start),
            state: State::Start,
            limit,
            timer: None,
        }
    }

    /// A call that fails at once.
    pub(super) fn failed(kind: FailureKind) -> Self {
        Self {
            start: None,
            state: State::Failed(kind),
            limit: None,
            timer: None,
        }
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let next = match this.state {
                State::Start => begin(this.start),
                State::Waiting(slot) => match slot.as_mut().poll(cx) {
                    Poll::Ready(Ok(slot)) => send(this.start, slot),
                    Poll::Ready(Err(_)) => State::Failed(FailureKind::ClientClosed),
                    Poll::Pending => {
                        ready!(poll_limit(this.timer.as_mut(), *this.limit, cx));
                        State::Failed(FailureKind::PoolLimit)
                    }
                },
                State::Sending(sending) => {
                    if let Poll::Ready(answer) = Pin::new(&mut sending.response).poll(cx) {
                        let answer = sending.finish(answer);
                        *this.state = State::Done;
                        return Poll::Ready(answer);
                    }
                    if sending.handover.is_taken() {
                        return Poll::Pending;
                    }
                    ready!(poll_limit(this.timer.as_mut(), *this.limit, cx));
                    if !sending.handover.withdraw() {
                        // A connection was quicker.
                        return Poll::Pending;
                    }
                    let handover = Arc::clone(&sending.handover);
                    *this.state = State::Done;
                    State::Failed(unsent(&handover))
                }
                State::Failed(kind) => {
                    let error = TransportError::new(*kind);
                    *this.state = State::Done;
                    return Poll::Ready(Err(error.into()));
                }
                State::Done => panic!("polled after completion"),
            };
            *this.state = next;
        }
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Start => "not begun",
            State::Waiting(_) => "waiting for a slot",
            State::Sending(sending) if sending.handover.is_taken() => "sent",
            State::Sending(_) => "connecting",
            State::Failed(_) | State::Done => "done",
        };
        f.debug_struct("ResponseFuture")
            .field("state", &state)
            .finish_non_exhaustive()
    }
}

fn begin(start: &mut Option<Start>) -> State {
    let Some(Start {
        shards,
        attempt,
        avoid,
        ..
    }) = start
    else {
        return State::Done;
    };
    if let Some((route, id)) = attempt {
        route.note_phase(*id, Phase::Connecting);
    }
    match shards.try_reserve(*avoid) {
        Ok(slot) => send(start, slot),
        Err(TryAcquireError::NoPermits) => {
            State::Waiting(Box::pin(Arc::clone(shards).reserve(*avoid)))
        }
        Err(TryAcquireError::Closed) => State::Failed(FailureKind::ClientClosed),
    }
}

/// Hands the request to the client of the slot's shard.
fn send(start: &mut Option<Start>, slot: Slot) -> State {
    let Some(Start {
        request, attempt, ..
    }) = start.take()
    else {
        return State::Done;
    };
    if let Some((route, id)) = &attempt {
        route.note_shard(*id, slot.shard.number);
    }
    let handover = Handover::new(attempt);
    let began = Instant::now();
    let (mut head, body) = request.into_parts();
    // The connection decides the version, and extensions are for the layers above.
    head.version = Version::HTTP_11;
    head.extensions = Extensions::new();
    let body = Outgoing::new(body, Arc::clone(&handover));
    State::Sending(Sending {
        response: slot.shard.client.request(Request::from_parts(head, body)),
        handover,
        slot: Some(slot),
        began,
    })
}

/// Why a request whose time is up, and whose client future is gone, was not sent.
fn unsent(handover: &Arc<Handover>) -> FailureKind {
    // If its body is still somewhere, then in the queue of a connection that had no stream free.
    if Arc::strong_count(handover) > 1 {
        FailureKind::PoolLimit
    } else {
        FailureKind::ConnectTimeout
    }
}

fn poll_limit(
    mut timer: Pin<&mut Option<Sleep>>,
    limit: Option<Instant>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    if let (Some(limit), None) = (limit, timer.as_ref().get_ref()) {
        timer.set(Some(tokio::time::sleep_until(limit)));
    }
    timer
        .as_pin_mut()
        .map_or(Poll::Pending, |timer| timer.poll(cx))
}

/// A request in hyper-util's client.
struct Sending {
    response: legacy::ResponseFuture,
    handover: Arc<Handover>,
    slot: Option<Slot>,
    began: Instant,
}

impl Sending {
    fn finish(
        &mut self,
        answer: Result<Response<Incoming>, legacy::Error>,
    ) -> Result<Response<ResponseBody>, BoxError> {
        let slot = self.slot.take();
        if let Some(slot) = &slot {
            match &answer {
                Ok(response) => slot.shard.health.answered(response.status()),
                Err(_) if self.handover.is_taken() => slot.shard.health.failed(),
                // No connection took it: that says nothing of those that stand.
                Err(_) => {}
            }
        }
        answer
            .map(|response| response.map(|body| ResponseBody::new(body, slot)))
            .map_err(|error| failure::before_headers(error, self.handover.is_taken()).into())
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if !self.handover.withdraw()
            && let Some(slot) = &self.slot
        {
            slot.shard.health.dropped(self.began.elapsed());
        }
    }
}
