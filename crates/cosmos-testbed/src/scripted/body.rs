//! A response body that can stand still or break off.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use cosmos_core::{BoxError, FailureKind, TransportError};
use http_body::{Body, Frame, SizeHint};

/// The body of a scripted answer.
#[derive(Debug)]
pub struct ScriptedBody {
    data: Option<Bytes>,
    end: End,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum End {
    Good,
    Stalls,
    Breaks,
}

impl ScriptedBody {
    pub(super) fn new(data: Bytes, end: End) -> Self {
        Self {
            data: Some(data).filter(|data| !data.is_empty()),
            end,
        }
    }
}

impl From<Bytes> for ScriptedBody {
    fn from(data: Bytes) -> Self {
        Self::new(data, End::Good)
    }
}

impl Body for ScriptedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(data) = self.data.take() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        match self.end {
            End::Good => Poll::Ready(None),
            End::Stalls => Poll::Pending,
            End::Breaks => {
                self.end = End::Good;
                let error = TransportError::new(FailureKind::BodyCut);
                Poll::Ready(Some(Err(error.into())))
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
