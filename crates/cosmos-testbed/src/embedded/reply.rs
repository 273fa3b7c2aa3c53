//! Answers, whole and cut short.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

/// How long the first half of a cut body is given to leave the machine before the connection goes.
const FLUSH: Duration = Duration::from_millis(10);

/// `x-ms-substatus`.
pub(crate) const SUBSTATUS: HeaderName = HeaderName::from_static("x-ms-substatus");
const RETRY_AFTER: HeaderName = HeaderName::from_static("x-ms-retry-after-ms");

pub(crate) type Reply = Response<ReplyBody>;

/// A body of known length, which may end before it is over.
#[derive(Debug)]
pub(crate) struct ReplyBody {
    data: Option<Bytes>,
    announced: u64,
    cut: bool,
    flush: Option<Pin<Box<Sleep>>>,
}

impl ReplyBody {
    pub(crate) fn whole(data: Bytes) -> Self {
        Self {
            announced: data.len() as u64,
            data: Some(data).filter(|data| !data.is_empty()),
            cut: false,
            flush: None,
        }
    }

    /// Keeps the announced length, and drops the second half of what would follow.
    pub(crate) fn cut(mut self) -> Self {
        // HTTP/1.1 has no way to break off an answer of length 0.
        if let Some(data) = self.data.take() {
            self.data = Some(data.slice(..data.len() / 2));
            self.cut = true;
        }
        self
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(data) = self.data.take() {
            self.announced -= data.len() as u64;
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if !self.cut {
            return Poll::Ready(None);
        }
        let flush = self
            .flush
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(FLUSH)));
        ready!(flush.as_mut().poll(cx));
        Poll::Ready(Some(Err(io::Error::other("cut short on purpose"))))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none() && !self.cut
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.announced)
    }
}

/// What a HEAD request gets of an answer: the length, not the body. On HTTP/2 hyper would send both.
pub(crate) fn head_of(reply: Reply) -> Reply {
    let (mut head, body) = reply.into_parts();
    head.headers.insert(CONTENT_LENGTH, body.announced.into());
    Response::from_parts(head, ReplyBody::whole(Bytes::new()))
}

/// An answer of the service's error shape.
pub(crate) fn failure(
    status: StatusCode,
    substatus: Option<u32>,
    retry_after_ms: Option<u64>,
    message: &str,
) -> Reply {
    let code = status
        .canonical_reason()
        .unwrap_or("Error")
        .replace(' ', "");
    let body = serde_json::json!({ "code": code, "message": message });
    let mut reply = json(status, &body);
    if let Some(substatus) = substatus {
        reply.headers_mut().insert(SUBSTATUS, substatus.into());
    }
    if let Some(millis) = retry_after_ms {
        reply.headers_mut().insert(RETRY_AFTER, millis.into());
    }
    reply
}

/// An answer with a JSON body.
pub(crate) fn json(status: StatusCode, body: &serde_json::Value) -> Reply {
    let mut reply = Response::new(ReplyBody::whole(body.to_string().into()));
    *reply.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}
