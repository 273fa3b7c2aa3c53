//! Answers whose headers are quick and whose bodies are not.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use cosmos_core::{OperationOptions, Status};
use cosmos_testbed::scripted::{Document, ScriptedAccount};
use cosmos_tests::{Req, Stack, account, boxed, ms, read, recommended, s, send, with};
use futures::stream;
use http::{Response, header::HeaderValue};
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::time::Instant;
use tower::{Layer, service_fn};
use tower_cosmos::AttemptTimeoutLayer;

/// How a region answers: headers after a while, then bytes one by one.
#[derive(Copy, Clone)]
struct Trickle {
    headers: Duration,
    bytes: usize,
    between: Duration,
}

/// The recommended stack over regions that trickle. The count is of the requests sent.
async fn stack(trickle: Trickle, limits: AttemptTimeoutLayer) -> (Stack, cosmos_tests::Count) {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let sent = cosmos_tests::Count::default();
    let counting = sent.clone();
    let leaf = service_fn(move |_: Req| {
        counting.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async move {
            tokio::time::sleep(trickle.headers).await;
            let body = stream::unfold(trickle.bytes, move |left| async move {
                let left = left.checked_sub(1)?;
                tokio::time::sleep(trickle.between).await;
                let frame = Frame::data(Bytes::from_static(b"."));
                Some((Ok::<_, Infallible>(frame), left))
            });
            Ok::<_, Infallible>(Response::new(StreamBody::new(Box::pin(body))))
        }
    });
    let layers = recommended(&account).attempt(|_| limits);
    (boxed(layers.layer(leaf)), sent)
}

fn count(sent: &cosmos_tests::Count) -> usize {
    sent.load(std::sync::atomic::Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_ends_at_the_deadline() {
    let trickle = Trickle {
        headers: ms(0),
        bytes: 1000,
        between: s(1),
    };
    let (stack, sent) = stack(trickle, AttemptTimeoutLayer::new()).await;
    let began = Instant::now();
    let options = OperationOptions::new().timeout(ms(2500));
    let seen = send(&stack, with(read(), options)).await;
    assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
    assert!(began.elapsed() <= ms(2501), "{:?}", began.elapsed());
    assert_eq!(count(&sent), 1);
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_an_attempt_ends_with_its_headers() {
    let trickle = Trickle {
        headers: ms(40),
        bytes: 5,
        between: ms(10),
    };
    let limits = AttemptTimeoutLayer::new().data(ms(50)).idle(ms(20));
    let (stack, sent) = stack(trickle, limits).await;
    let began = Instant::now();
    let options = OperationOptions::new().timeout(ms(200));
    let seen = send(&stack, with(read(), options)).await;
    assert_eq!(seen.status().code(), 200);
    assert_eq!(seen.text().await, ".....");
    assert_eq!((count(&sent), began.elapsed()), (1, ms(90)));
}

#[tokio::test(start_paused = true)]
async fn throttling_and_slow_bodies_share_one_deadline() {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let calls = cosmos_tests::Count::default();
    let counting = calls.clone();
    let leaf = service_fn(move |_: Req| {
        let call = counting.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async move {
            let body = stream::unfold((), |()| async {
                tokio::time::sleep(s(1)).await;
                Some((
                    Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"."))),
                    (),
                ))
            });
            // Without an end; a 429's body is over at once.
            let body = if call < 2 {
                StreamBody::new(futures::future::Either::Left(stream::empty()))
            } else {
                StreamBody::new(futures::future::Either::Right(Box::pin(body)))
            };
            let mut response = Response::new(body);
            if call < 2 {
                *response.status_mut() = http::StatusCode::TOO_MANY_REQUESTS;
                let hint = HeaderValue::from_static("700");
                response.headers_mut().insert("x-ms-retry-after-ms", hint);
            }
            Ok::<_, Infallible>(response)
        }
    });
    let stack = boxed(recommended(&account).layer(leaf));
    let began = Instant::now();
    let options = OperationOptions::new().timeout(s(3));
    let seen = send(&stack, with(read(), options)).await;
    assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
    assert!(began.elapsed() <= ms(3001), "{:?}", began.elapsed());
    assert_eq!(count(&calls), 3);
}
