use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use cosmos_core::{BoxError, FailureKind, TransportError};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::Sleep;

use crate::clock::{now, poll_until};

pin_project! {
    /// A response body that fails when it stands still for too long, or past the deadline.
    pub struct IdleBody<R> {
        #[pin]
        body: R,
        limits: Option<Limits>,
        // Set while a frame is being waited for.
        sleep: Option<Pin<Box<Sleep>>>,
    }
}

#[derive(Copy, Clone, Debug)]
struct Limits {
    idle: Duration,
    deadline: Option<Instant>,
}

impl<R> IdleBody<R> {
    pub(super) fn unlimited(body: R) -> Self {
        Self {
            body,
            limits: None,
            sleep: None,
        }
    }

    pub(super) fn limited(body: R, idle: Duration, deadline: Option<Instant>) -> Self {
        Self {
            body,
            limits: Some(Limits { idle, deadline }),
            sleep: None,
        }
    }
}

impl Limits {
    fn until(self) -> Option<Instant> {
        let idle = now().checked_add(self.idle);
        idle.into_iter().chain(self.deadline).min()
    }

    fn is_late(self) -> bool {
        self.deadline.is_some_and(|deadline| now() >= deadline)
    }

    fn what_ran_out(self) -> FailureKind {
        if self.is_late() {
            FailureKind::DeadlineExceeded
        } else {
            FailureKind::BodyTimeout
        }
    }
}

impl<R> Body for IdleBody<R>
where
    R: Body,
    R::Error: Into<BoxError>,
{
    type Data = R::Data;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<R::Data>, BoxError>>> {
        let this = self.project();
        if let Poll::Ready(frame) = this.body.poll_frame(cx) {
            *this.sleep = None;
            // A body whose next frame is always there would never wait for the timer.
            if matches!(frame, Some(Ok(_))) && this.limits.is_some_and(Limits::is_late) {
                let error = TransportError::new(FailureKind::DeadlineExceeded);
                return Poll::Ready(Some(Err(error.into())));
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let Some(limits) = *this.limits else {
            return Poll::Pending;
        };
        ready!(poll_until(this.sleep, limits.until(), cx));
        let error = TransportError::new(limits.what_ran_out());
        Poll::Ready(Some(Err(error.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<R> fmt::Debug for IdleBody<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdleBody")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
