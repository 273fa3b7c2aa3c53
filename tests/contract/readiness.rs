//! A layer calls the service that was polled ready, gets it ready before each further try, and
//! holds neither readiness nor a permit while it waits.

use std::task::{Context, Poll};

use cosmos_core::BoxError;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Req, Res, Stack, account, boxed, ms, read, s, send};
use tower::limit::ConcurrencyLimit;
use tower::{Layer, Service, ServiceExt};
use tower_cosmos::AttemptTimeoutLayer;

use crate::kinds::{Kind, alone, failover, has_permit, known_regions, leaf, two_regions};

/// Panics if it is called without having been polled ready since it was made, cloned or called.
struct Strict {
    inner: Stack,
    ready: bool,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            ready: false,
        }
    }
}

impl Service<Req> for Strict {
    type Response = Res;
    type Error = BoxError;
    type Future = <Stack as Service<Req>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let ready = self.inner.poll_ready(cx);
        self.ready = matches!(ready, Poll::Ready(Ok(())));
        ready
    }

    fn call(&mut self, request: Req) -> Self::Future {
        assert!(
            std::mem::take(&mut self.ready),
            "called without having been polled ready"
        );
        self.inner.call(request)
    }
}

fn faults() -> [Step; 4] {
    [
        Step::status(429, 0).hint("10"),
        Step::fail(cosmos_core::FailureKind::Reset),
        Step::status(503, 0),
        Step::status(200, 0),
    ]
}

#[tokio::test(start_paused = true)]
async fn the_service_that_was_polled_ready_is_the_one_called() {
    for kind in Kind::ALL {
        let regions = known_regions(Document::multi_write(["A", "B"]));
        let account = account(&regions, |account| account);
        regions.script("A", faults());
        regions.script("B", faults());
        let strict = boxed(Strict {
            inner: leaf(&regions),
            ready: false,
        });
        let mut stack = alone(kind, &account, strict);
        for _ in 0..4 {
            let _ = stack.ready().await.unwrap().call(read()).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_holds_no_permit() {
    for kind in Kind::ALL {
        let regions = known_regions(Document::multi_write(["A"]));
        let account = account(&regions, |account| account);
        let limited = boxed(ConcurrencyLimit::new(leaf(&regions), 1));
        let stack = alone(kind, &account, limited);
        regions.script("A", [Step::status(429, 0).hint("10000")]);
        let waiting = tokio::spawn({
            let stack = stack.clone();
            async move { send(&stack, read()).await.status().code() }
        });
        tokio::time::sleep(ms(1)).await;
        let began = tokio::time::Instant::now();
        assert_eq!(send(&stack, read()).await.status().code(), 200, "{kind:?}");
        assert_eq!(began.elapsed(), ms(0), "{kind:?}");
        let expected = if kind == Kind::Throttle { 200 } else { 429 };
        assert_eq!(waiting.await.unwrap(), expected, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn clones_under_a_buffer_work_side_by_side() {
    for kind in Kind::ALL {
        let regions = known_regions(Document::multi_write(["A", "B"]));
        let account = account(&regions, |account| account);
        let stack = alone(kind, &account, leaf(&regions));
        let buffered = tower::buffer::Buffer::new(ConcurrencyLimit::new(stack, 4), 16);
        let calls = (0..64).map(|_| buffered.clone().oneshot(read()));
        for result in futures::future::join_all(calls).await {
            assert_eq!(result.unwrap().status(), 200, "{kind:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_readiness_error_on_a_further_try_gives_the_last_answer_back() {
    for kind in [Kind::Failover, Kind::Reconnect] {
        let regions = known_regions(Document::multi_write(["A", "B"]));
        let account = account(&regions, |account| account);
        account.refresh().await;
        let failing = match kind {
            Kind::Reconnect => Step::fail(cosmos_core::FailureKind::Refused),
            _ => Step::status(503, 0).body("the last answer"),
        };
        regions.script("A", [failing]);
        let stack = alone(
            kind,
            &account,
            boxed(Once {
                inner: leaf(&regions),
                left: 1,
            }),
        );
        let seen = send(&stack, read()).await;
        if kind == Kind::Reconnect {
            assert_eq!(seen.error().kind(), cosmos_core::FailureKind::Refused);
        } else {
            assert_eq!(seen.text().await, "the last answer");
        }
        assert_eq!(regions.wire().len(), 1);
    }
}

/// Is ready a number of times, then never again.
#[derive(Clone)]
struct Once {
    inner: Stack,
    left: usize,
}

impl Service<Req> for Once {
    type Response = Res;
    type Error = BoxError;
    type Future = <Stack as Service<Req>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.left == 0 {
            return Poll::Ready(Err("closed".into()));
        }
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        self.left -= 1;
        self.inner.call(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_never_gets_ready_again_is_waited_for_until_the_deadline() {
    let (regions, account) = two_regions().await;
    let limited = ConcurrencyLimit::new(leaf(&regions), 1);
    let hog = limited.clone();
    let stack = alone(Kind::Failover, &account, boxed(limited));
    regions.script("A", [Step::status(503, 0).after(ms(5))]);
    let options = cosmos_core::OperationOptions::new().timeout(s(2));
    let request = cosmos_tests::with(read(), options);
    let sending = tokio::spawn(async move { send(&stack, request).await.status().code() });
    tokio::task::yield_now().await;
    // Queues for the only permit, gets it first, and keeps it.
    let mut hog = hog;
    let _kept = hog.ready().await.unwrap();
    let began = tokio::time::Instant::now();
    assert_eq!(sending.await.unwrap(), 503, "the last real answer");
    assert!(began.elapsed() <= ms(2010));
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_is_ended_before_it_began_keeps_no_permit() {
    let regions = known_regions(Document::multi_write(["A"]));
    let account = account(&regions, |account| account);
    let limited = ConcurrencyLimit::new(leaf(&regions), 1);
    let mut stack = alone(Kind::Deadline, &account, boxed(limited.clone()));
    let options = cosmos_core::OperationOptions::new().timeout(ms(0));
    let expired = cosmos_tests::with(read(), options);
    let response = stack.ready().await.unwrap().call(expired).await;
    assert_eq!(response.unwrap().status(), 408);
    assert!(has_permit(limited).await, "while the stack lives");
    drop(stack);
}

/// Is ready until it was told to close; its clones are as they were when they were made.
#[derive(Clone)]
struct Closing {
    inner: Stack,
    closed: bool,
}

impl Service<Req> for Closing {
    type Response = Res;
    type Error = BoxError;
    type Future = <Stack as Service<Req>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.closed {
            return Poll::Ready(Err("closed".into()));
        }
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        self.closed = request.headers().contains_key("x-close");
        self.inner.call(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_broke_under_one_operation_keeps_no_other_from_trying_again() {
    let (regions, account) = two_regions().await;
    let inner = Closing {
        inner: leaf(&regions),
        closed: false,
    };
    let stack = alone(Kind::Failover, &account, boxed(inner));
    let mut closing = read();
    closing
        .headers_mut()
        .insert("x-close", "1".parse().unwrap());
    assert_eq!(send(&stack, closing).await.status().code(), 200);
    regions.script("A", [Step::status(503, 0)]);
    assert_eq!(send(&stack, read()).await.status().code(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_further_try_goes_to_the_service_that_was_called() {
    let (regions, account) = two_regions().await;
    regions.script("A", [Step::status(503, 0).forever()]);
    // A clone of a steer that was called takes services for ready that are not.
    let each = || ConcurrencyLimit::new(leaf(&regions), 4);
    let by_region = |request: &Req, _: &[_]| {
        usize::from(
            request
                .uri()
                .host()
                .is_some_and(|host| host.contains("-b.")),
        )
    };
    let steer = tower::steer::Steer::new([each(), each()], by_region);
    let stack = failover(&account, steer);
    for _ in 0..3 {
        let response = stack.clone().oneshot(read()).await.unwrap();
        assert_eq!(response.status(), 200);
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_too_late_keeps_no_permit() {
    let regions = known_regions(Document::multi_write(["A"]));
    let limited = ConcurrencyLimit::new(leaf(&regions), 1);
    let mut attempt = AttemptTimeoutLayer::new().layer(limited.clone());
    let options = cosmos_core::OperationOptions::new().timeout(ms(0));
    let late = cosmos_tests::with(read(), options);
    let result = attempt.ready().await.unwrap().call(late).await;
    assert!(result.is_err());
    assert!(
        has_permit(limited).await,
        "the permit is free while the service lives"
    );
    drop(attempt);
}
