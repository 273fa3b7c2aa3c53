//! The request's way into a connection: a body that tells when a connection takes it.
//!
//! A connection asks for a body's length or frames when it takes the request off its queue to
//! write it, and not before; hyper-util's own second try, on a fresh connection, begins with a
//! body that nobody asked. So this is exactly the line between *not sent* and *may have been sent*.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use cosmos_core::{AttemptId, Phase, Route};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;

const WAITING: u8 = 0;
const TAKEN: u8 = 1;
const WITHDRAWN: u8 = 2;

/// Whether a connection has taken the request; shared by its body and its future.
pub(super) struct Handover {
    state: AtomicU8,
    attempt: Option<(Route, AttemptId)>,
}

impl Handover {
    /// A request that no connection has; `attempt` is told when one takes it.
    pub(super) fn new(attempt: Option<(Route, AttemptId)>) -> Arc<Self> {
        Arc::new(Self {
            state: AtomicU8::new(WAITING),
            attempt,
        })
    }

    /// Whether a connection has taken the request.
    pub(super) fn is_taken(&self) -> bool {
        self.state.load(Ordering::Acquire) == TAKEN
    }

    /// Takes the request back, unless a connection has it. After `true` it is never sent whole,
    /// even if a connection is just about to take it.
    pub(super) fn withdraw(&self) -> bool {
        self.change(WITHDRAWN) != TAKEN
    }

    /// A connection asks for the body. Returns whether it may have it.
    fn take(&self) -> bool {
        match self.state.load(Ordering::Acquire) {
            TAKEN => true,
            WITHDRAWN => false,
            _ => match self.change(TAKEN) {
                WAITING => {
                    if let Some((route, id)) = &self.attempt {
                        route.note_phase(*id, Phase::Sent);
                    }
                    true
                }
                before => before == TAKEN,
            },
        }
    }

    /// Leaves `WAITING`, once; returns the state before.
    fn change(&self, to: u8) -> u8 {
        match self
            .state
            .compare_exchange(WAITING, to, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(before) | Err(before) => before,
        }
    }
}

/// A request's body under way to a connection.
pub(super) struct Outgoing {
    body: Full<Bytes>,
    handover: Arc<Handover>,
}

impl Outgoing {
    pub(super) fn new(body: Full<Bytes>, handover: Arc<Handover>) -> Self {
        Self { body, handover }
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("taken", &self.handover.is_taken())
            .finish_non_exhaustive()
    }
}

/// The request was taken back; a connection that took it all the same breaks it off unfinished.
#[derive(Debug, thiserror::Error)]
#[error("the request was withdrawn")]
pub(super) struct Withdrawn;

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Withdrawn;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Withdrawn>>> {
        if !self.handover.take() {
            return Poll::Ready(Some(Err(Withdrawn)));
        }
        Pin::new(&mut self.body)
            .poll_frame(cx)
            .map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
    }

    // A body that was withdrawn is never at its end, or its request would be whole without it.
    fn is_end_stream(&self) -> bool {
        self.handover.take() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.handover.take() {
            self.body.size_hint()
        } else {
            SizeHint::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_connection_and_owner_decides() {
        let taken = Handover::new(None);
        assert!(Outgoing::new(Full::default(), Arc::clone(&taken)).is_end_stream());
        assert!(taken.is_taken());
        assert!(!taken.withdraw());

        let withdrawn = Handover::new(None);
        let body = Outgoing::new(Full::default(), Arc::clone(&withdrawn));
        assert!(withdrawn.withdraw());
        assert!(!body.is_end_stream());
        assert!(!withdrawn.is_taken());
    }

    #[tokio::test]
    async fn a_withdrawn_request_is_never_sent_whole() {
        let handover = Handover::new(None);
        let mut body = Outgoing::new(Full::from("body"), Arc::clone(&handover));
        assert!(handover.withdraw());
        let frame = http_body_util::BodyExt::frame(&mut body).await;
        assert!(frame.unwrap().is_err());
        assert_eq!(body.size_hint().exact(), None);
    }
}
