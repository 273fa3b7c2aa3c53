//! Response bodies that never end.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use cosmos_core::{BoxError, FailureKind, OperationOptions, Status};
use cosmos_testbed::scripted::{Document, ScriptedAccount};
use cosmos_tests::{Req, account, boxed, read, recommended, s, send, with};
use http::{HeaderMap, Response};
use http_body::{Body, Frame};
use tower::Layer;

/// A body whose next frame is always there.
#[derive(Clone, Copy)]
enum Endless {
    Empty,
    Trailers,
    Data,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(Some(Ok(match *self {
            Self::Empty => Frame::data(Bytes::new()),
            Self::Trailers => Frame::trailers(HeaderMap::new()),
            Self::Data => Frame::data(Bytes::from_static(b"x")),
        })))
    }
}

/// On a thread of its own, because a failing test would never yield.
fn ends(body: Endless, limit: usize, timeout: Option<std::time::Duration>) -> Option<Outcome> {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let regions = ScriptedAccount::new(Document::multi_write(["A"]));
            let account = account(&regions, |account| account);
            account.refresh().await;
            let leaf =
                tower::service_fn(
                    move |_: Req| async move { Ok::<_, BoxError>(Response::new(body)) },
                );
            let layers = recommended(&account).buffer(|layer| layer.limit(limit));
            let stack = boxed(layers.layer(leaf));
            let mut options = OperationOptions::new();
            if let Some(timeout) = timeout {
                options = options.timeout(timeout);
            }
            let seen = send(&stack, with(read(), options)).await;
            let _ = tell.send(match &seen.result {
                Ok(response) => Outcome::Answered(Status::of_response(response)),
                Err(_) => Outcome::Failed(seen.error().kind()),
            });
        });
    });
    told.recv_timeout(s(10)).ok()
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Answered(Status),
    Failed(FailureKind),
}

#[test]
fn a_body_that_is_always_there_and_never_ends_does_not_outlast_the_deadline() {
    let outcome = ends(Endless::Data, usize::MAX, Some(s(1)));
    let expired = Outcome::Answered(Status::CLIENT_OPERATION_TIMEOUT);
    assert_eq!(outcome, Some(expired));
}

#[test]
fn a_body_without_an_end_is_too_large_whatever_its_frames_carry() {
    for body in [Endless::Empty, Endless::Trailers, Endless::Data] {
        let outcome = ends(body, 10_000, None);
        assert_eq!(outcome, Some(Outcome::Failed(FailureKind::BodyTooLarge)));
    }
}
