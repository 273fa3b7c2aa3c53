//! Layers in places where they do not belong, doubled, or next to foreign ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cosmos_core::{BoxError, FailureKind, OperationOptions, Status};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{
    Lab, Req, Res, Stack, account, boxed, create, execute, ms, read, recommended, s, send, with,
};
use tower::{Layer, Service, ServiceExt};
use tower_cosmos::{
    Account, AttemptTimeoutLayer, BufferLayer, DeadlineLayer, EndpointLayer, RegionFailoverLayer,
};

use crate::panics;

fn lab(document: Document) -> (ScriptedAccount, Account) {
    let regions = ScriptedAccount::new(document);
    let account = account(&regions, |account| account);
    (regions, account)
}

fn leaf(regions: &ScriptedAccount) -> Stack {
    boxed(BufferLayer::new().layer(regions.clone()))
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_wait_for_the_topology_without_a_deadline_layer_outside() {
    let (regions, account) = lab(Document::single_write(["A"]));
    regions.script_account_reads("global", [Step::hang().forever()]);
    let stacks: [Stack; 2] = [
        boxed(EndpointLayer::new(account.clone()).layer(leaf(&regions))),
        boxed(
            EndpointLayer::new(account.clone()).layer(DeadlineLayer::new().layer(leaf(&regions))),
        ),
    ];
    for stack in stacks {
        let options = OperationOptions::new().timeout(ms(700));
        let began = tokio::time::Instant::now();
        let seen = tokio::time::timeout(s(100), send(&stack, with(read(), options))).await;
        let seen = seen.expect("the operation ends by its deadline");
        assert!(began.elapsed() <= ms(710), "{:?}", began.elapsed());
        assert_eq!(seen.error().kind(), FailureKind::DeadlineExceeded);
        assert!(regions.wire().is_empty());
    }
}

/// Ready for the account's first call; after that, never.
#[derive(Clone)]
struct NeverReady(Stack);

impl Service<Req> for NeverReady {
    type Response = Res;
    type Error = BoxError;
    type Future = <Stack as Service<Req>>::Future;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), BoxError>> {
        std::task::Poll::Pending
    }

    fn call(&mut self, request: Req) -> Self::Future {
        self.0.call(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_wait_for_readiness_after_the_topology() {
    let (regions, account) = lab(Document::single_write(["A"]));
    let mut stack = EndpointLayer::new(account).layer(NeverReady(leaf(&regions)));
    let options = OperationOptions::new().timeout(ms(700));
    // Called without readiness, which a first service may have had.
    let sending = stack.call(with(read(), options));
    let result = tokio::time::timeout(s(100), sending).await;
    assert!(result.expect("the operation ends by its deadline").is_err());
}

#[tokio::test(start_paused = true)]
async fn a_region_that_hangs_is_left_wherever_the_attempts_limit_stands() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    account.refresh().await;
    regions.script("A", [Step::hang().forever()]);
    let placed = EndpointLayer::new(account.clone()).layer(leaf(&regions));
    let timed = BufferLayer::new().layer(AttemptTimeoutLayer::new().layer(placed));
    let stack = boxed(RegionFailoverLayer::new(account).layer(timed));
    let seen = send(&stack, read()).await;
    assert!(seen.status().is_success());
    assert_eq!(regions.wire().regions(), "A B");
    // A stored procedure may have run.
    regions.clear_wire();
    regions.script("B", [Step::hang().forever()]);
    let _ = send(&stack, execute()).await;
    assert_eq!(regions.wire().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_try_that_sent_nothing_is_not_taken_for_the_one_before_it() {
    let (regions, account) = lab(Document::multi_write(["A", "B", "C"]));
    account.refresh().await;
    regions.script("A", [Step::fail(FailureKind::Dns)]);
    let calls = Arc::new(AtomicUsize::new(0));
    let placed = boxed(EndpointLayer::new(account.clone()).layer(leaf(&regions)));
    let foreign = {
        let calls = Arc::clone(&calls);
        tower::service_fn(move |request: Req| {
            let first = calls.fetch_add(1, Ordering::Relaxed) == 0;
            let placed = placed.clone();
            async move {
                if first {
                    placed.oneshot(request).await
                } else {
                    Err("overloaded".into())
                }
            }
        })
    };
    let stack = boxed(RegionFailoverLayer::new(account).layer(foreign));
    let seen = send(&stack, read()).await;
    assert_eq!(seen.result.unwrap_err().to_string(), "overloaded");
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

/// The whole stack over the whole stack, with one account handle or two.
fn doubled(regions: &ScriptedAccount, outer: &Account, inner: &Account) -> Stack {
    let once = recommended(inner).layer(regions.clone());
    boxed(recommended(outer).layer(once))
}

#[tokio::test(start_paused = true)]
async fn a_doubled_stack_sends_what_a_single_one_sends() {
    let document = Document::multi_write(["A", "B", "C"]);
    let (regions, one) = lab(document);
    one.refresh().await;
    let other = account(&regions, |account| account);
    other.refresh().await;
    for inner in [&one, &other] {
        let stack = doubled(&regions, &one, inner);
        for request in [read(), create(), execute()] {
            regions.clear_wire();
            let seen = send(&stack, request).await;
            assert!(seen.result.is_ok(), "{:?}", seen.result);
            assert_eq!(regions.wire().regions(), "A");
        }
        regions.clear_wire();
        let options = OperationOptions::new()
            .exclude_regions(["A", "B", "C"])
            .unwrap();
        let seen = send(&stack, with(read(), options)).await;
        assert!(seen.result.is_ok(), "{:?}", seen.result);
        assert_eq!(regions.wire().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_doubled_stack_keeps_the_budgets() {
    let steps = [
        (Step::status(503, 0), 4),
        (Step::status(429, 0).hint("1"), 10),
        (Step::fail(FailureKind::Reset), 7),
        (Step::status(403, 1008), 121),
    ];
    for (step, most) in steps {
        let (regions, account) = lab(Document::multi_write(["A", "B", "C"]));
        account.refresh().await;
        for region in ["A", "B", "C"] {
            regions.script(region, [step.clone().forever()]);
        }
        let stack = doubled(&regions, &account, &account);
        let _ = send(&stack, read()).await;
        assert!(regions.wire().len() <= most, "{step:?}\n{}", regions.wire());
    }
}

#[tokio::test(start_paused = true)]
async fn a_doubled_endpoint_layer_does_not_clear_the_mark_of_a_region_it_did_not_ask() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    account.refresh().await;
    regions.script("A", [Step::fail(FailureKind::Refused).forever()]);
    let stack = boxed(
        RegionFailoverLayer::new(account.clone()).layer(
            EndpointLayer::new(account.clone())
                .layer(EndpointLayer::new(account.clone()).layer(leaf(&regions))),
        ),
    );
    let _ = send(&stack, read()).await;
    tokio::time::sleep(s(61)).await;
    regions.clear_wire();
    let _ = send(&stack, read()).await;
    let _ = send(&stack, read()).await;
    // One trial of A, which fails and marks it anew; then B alone.
    assert_eq!(regions.wire().regions(), "A B B");
}

/// Fails a number of times after it has sent, and sends again.
#[derive(Clone)]
struct Again(usize);

impl tower::retry::Policy<Req, Res, BoxError> for Again {
    type Future = std::future::Ready<()>;

    fn retry(&mut self, _: &mut Req, result: &mut Result<Res, BoxError>) -> Option<Self::Future> {
        let failed = !matches!(result, Ok(response) if response.status().is_success());
        self.0 = self.0.checked_sub(usize::from(failed))?;
        failed.then(|| std::future::ready(()))
    }

    fn clone_request(&mut self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_foreign_layer_sends_again_is_foreign_after_a_failover_too() {
    use cosmos_core::Reason::{Failover, First, Foreign};
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    account.refresh().await;
    for region in ["A", "B"] {
        regions.script(region, [Step::status(503, 0), Step::status(503, 0)]);
    }
    let placed = EndpointLayer::new(account.clone()).layer(leaf(&regions));
    let again = tower::retry::RetryLayer::new(Again(1)).layer(placed);
    let stack = boxed(RegionFailoverLayer::new(account).layer(boxed(again)));
    let journal = send(&stack, read()).await.journal.unwrap();
    let reasons: Vec<_> = journal.attempts().iter().map(|a| a.reason).collect();
    assert_eq!(reasons[..4], [First, Foreign, Failover, Foreign]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_refused_keeps_no_permit() {
    let (regions, account) = lab(Document::multi_write(["A"]));
    account.refresh().await;
    let limited = tower::limit::ConcurrencyLimit::new(leaf(&regions), 1);
    let mut stack = EndpointLayer::new(account).layer(limited);
    let mut other = stack.clone();
    let options = OperationOptions::new()
        .exclude_regions(["A"])
        .unwrap()
        .strict_exclusions(true);
    let refused = ServiceExt::<Req>::ready(&mut stack).await.unwrap();
    assert!(refused.call(with(read(), options)).await.is_err());
    let ready = tokio::time::timeout(s(1), ServiceExt::<Req>::ready(&mut other)).await;
    assert!(ready.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_leaf_that_panics_leaves_nothing_behind() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    account.refresh().await;
    let panicking = tower::service_fn(panics);
    regions.script("A", [Step::fail(FailureKind::Refused)]);
    let good = boxed(recommended(&account).layer(regions.clone()));
    let _ = send(&good, read()).await;
    tokio::time::sleep(s(61)).await;
    // The panic happens in the trial of A, which has to be free afterwards.
    let bad = boxed(recommended(&account).layer(panicking));
    let task = tokio::spawn(async move { send(&bad, read()).await });
    assert!(task.await.unwrap_err().is_panic());
    regions.clear_wire();
    assert!(send(&good, read()).await.status().is_success());
    assert_eq!(regions.wire().regions(), "A");
}

#[tokio::test(start_paused = true)]
async fn one_service_called_many_times_without_waiting() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.account.refresh().await;
    lab.regions
        .script("A", [Step::status(503, 0).after(ms(3)).forever()]);
    let mut service = recommended(&lab.account).layer(lab.regions.clone());
    let mut calls = Vec::new();
    for _ in 0..200 {
        let ready = ServiceExt::<Req>::ready(&mut service).await.unwrap();
        calls.push(ready.call(read()));
    }
    for (number, call) in calls.into_iter().enumerate() {
        if number % 3 == 0 {
            drop(call);
            continue;
        }
        assert!(call.await.unwrap().status().is_success());
    }
    tokio::time::sleep(s(1)).await;
    assert_eq!(lab.regions.open(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_foreign_timeout_and_the_deadline_at_the_same_instant() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    account.refresh().await;
    regions.script("A", [Step::hang().forever()]);
    let placed = EndpointLayer::new(account.clone()).layer(leaf(&regions));
    let timed = tower::timeout::TimeoutLayer::new(Duration::from_secs(1)).layer(placed);
    let moved = RegionFailoverLayer::new(account.clone()).layer(boxed(timed));
    let stack = boxed(DeadlineLayer::new().timeout(s(1)).layer(moved));
    let seen = send(&stack, read()).await;
    assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
    assert_eq!(regions.wire().regions(), "A");
}
