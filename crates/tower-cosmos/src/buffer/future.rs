use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use cosmos_core::{BoxError, FailureKind, TransportError};
use http::Response;
use http::response::Parts;
use http_body::Body;
use http_body_util::Full;
use pin_project_lite::pin_project;

pin_project! {
    /// The response future of [`Buffer`](super::Buffer).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F, R> {
        #[pin]
        state: State<F, R>,
        limit: usize,
        collected: Collected,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F, R> {
        Headers { #[pin] future: F },
        Body { parts: Option<Parts>, #[pin] body: R },
    }
}

/// How many frames are read before others get their turn: a body may never have to be waited for.
const FRAMES_AT_ONCE: usize = 32;

/// How many frames of a body may carry no data.
const MAX_EMPTY_FRAMES: usize = 1024;

/// The body so far. A body of one frame, the usual case, is passed on without a copy.
#[derive(Default)]
struct Collected {
    first: Bytes,
    more: BytesMut,
    empty_frames: usize,
}

impl Collected {
    fn len(&self) -> usize {
        self.first.len() + self.more.len()
    }

    /// Whether a frame with this much data makes the body too large.
    fn overflows(&mut self, data: usize, limit: usize) -> bool {
        self.empty_frames += usize::from(data == 0);
        self.empty_frames > MAX_EMPTY_FRAMES || self.len().saturating_add(data) > limit
    }

    fn push(&mut self, data: Bytes) {
        if self.len() == 0 {
            self.first = data;
        } else {
            self.more
                .extend_from_slice(&std::mem::take(&mut self.first));
            self.more.extend_from_slice(&data);
        }
    }

    fn take(&mut self) -> Bytes {
        if self.more.is_empty() {
            std::mem::take(&mut self.first)
        } else {
            std::mem::take(&mut self.more).freeze()
        }
    }
}

impl<F, R> ResponseFuture<F, R> {
    pub(super) fn new(future: F, limit: usize) -> Self {
        Self {
            state: State::Headers { future },
            limit,
            collected: Collected::default(),
        }
    }
}

impl<F, R, E> Future for ResponseFuture<F, R>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
    R: Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    type Output = Result<Response<Full<Bytes>>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        for _ in 0..FRAMES_AT_ONCE {
            match this.state.as_mut().project() {
                StateProjection::Headers { future } => {
                    let response = ready!(future.poll(cx)).map_err(Into::into)?;
                    let (parts, body) = response.into_parts();
                    this.state.set(State::Body {
                        parts: Some(parts),
                        body,
                    });
                }
                StateProjection::Body { parts, body } => {
                    match ready!(body.poll_frame(cx)) {
                        Some(Ok(frame)) => {
                            // Trailers mean nothing to Cosmos DB.
                            let data = frame.into_data().unwrap_or_default();
                            if this.collected.overflows(data.len(), *this.limit) {
                                let error = TransportError::new(FailureKind::BodyTooLarge);
                                return Poll::Ready(Err(error.into()));
                            }
                            this.collected.push(data);
                        }
                        Some(Err(error)) => return Poll::Ready(Err(cut(error.into()).into())),
                        None => {
                            let body = Full::new(this.collected.take());
                            let parts = parts.take().expect("polled after completion");
                            return Poll::Ready(Ok(Response::from_parts(parts, body)));
                        }
                    }
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Once headers were there, any failure means that the body broke off.
fn cut(error: BoxError) -> TransportError {
    match error.downcast::<TransportError>() {
        Ok(ours) => *ours,
        Err(error) => TransportError::caused(FailureKind::BodyCut, error),
    }
}

impl<F, R> fmt::Debug for ResponseFuture<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
