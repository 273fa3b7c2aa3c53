//! The answer's body: it keeps its stream's slot until it has ended or is dropped.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use cosmos_core::BoxError;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::failure;
use super::shard::Slot;

/// The body of an answer of [`Leaf`](super::Leaf).
///
/// Errors are [`TransportError`](cosmos_core::TransportError)s of the kind
/// [`BodyCut`](cosmos_core::FailureKind::BodyCut): the request had been answered.
#[must_use = "an answer's body holds a stream until it has ended or is dropped"]
pub struct ResponseBody {
    body: Incoming,
    slot: Option<Slot>,
}

impl ResponseBody {
    pub(super) fn new(body: Incoming, slot: Option<Slot>) -> Self {
        let slot = slot.filter(|_| !body.is_end_stream());
        Self { body, slot }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let under_way = matches!(frame, Some(Ok(_))) && !self.body.is_end_stream();
        if !under_way {
            self.slot = None;
        }
        Poll::Ready(frame.map(|frame| frame.map_err(|error| failure::in_body(error).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}
