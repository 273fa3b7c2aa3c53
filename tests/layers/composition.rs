//! Under and over layers that are not ours: buffers stay alive, permits come back, and the region
//! is chosen when the request is there.

use std::sync::atomic::{AtomicBool, Ordering};

use cosmos_core::{FailureKind, OperationOptions};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{Lab, Req, account, boxed, create, ms, read, recommended, s, send, with};
use tower::buffer::Buffer;
use tower::limit::ConcurrencyLimitLayer;
use tower::{Layer, Service, ServiceExt, service_fn};

#[tokio::test(start_paused = true)]
async fn a_connection_that_cannot_be_made_does_not_close_a_buffer() {
    let lab = Lab::new(Document::multi_write(["A"]));
    lab.regions
        .script("A", [Step::fail(FailureKind::Refused).forever()]);
    let buffered = boxed(Buffer::new(lab.stack.clone(), 8));
    let failed = send(&buffered, create()).await;
    assert_eq!(failed.error().kind(), FailureKind::Refused);
    lab.regions.heal("A");
    assert_eq!(send(&buffered, create()).await.status().code(), 201);
}

#[tokio::test(start_paused = true)]
async fn a_region_that_left_between_readiness_and_the_call_is_not_asked() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    assert_eq!(lab.send(read()).await.status().code(), 200);
    let mut stack = lab.stack.clone();
    let ready = stack.ready().await.unwrap();
    lab.regions.set_document(Document::multi_write(["B"]));
    tokio::time::sleep(s(6)).await;
    lab.account.refresh().await;
    lab.regions.clear_wire();
    assert_eq!(ready.call(read()).await.unwrap().status(), 200);
    assert_eq!(lab.wire().regions(), "B");
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_panics_frees_its_place() {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B"]));
    let first = std::sync::Arc::new(AtomicBool::new(true));
    let inner = regions.clone();
    let leaf = service_fn(move |request: Req| {
        let inner = inner.clone();
        let first = first.swap(false, Ordering::SeqCst);
        async move {
            assert!(!first, "a fault in the integrator's own client");
            inner.oneshot(request).await
        }
    });
    let account =
        tower_cosmos::Account::builder(ScriptedAccount::ENDPOINT, cosmos_tests::credential())
            .build(leaf)
            .unwrap();
    let stack = boxed(recommended(&account).layer(regions.clone()));
    let began = tokio::time::Instant::now();
    // With a deadline, the operation waits for the next refresh.
    let request = with(read(), OperationOptions::new().timeout(s(60)));
    let seen = send(&stack, request).await;
    assert_eq!(seen.status().code(), 200, "{seen:?}");
    assert!(began.elapsed() <= s(5), "the next interval");
}

#[tokio::test(start_paused = true)]
async fn permits_are_back_once_an_operation_is_over() {
    let regions = ScriptedAccount::new(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    let stack = recommended(&account).layer(ConcurrencyLimitLayer::new(1).layer(regions.clone()));
    let stack = boxed(stack);
    for step in [
        Step::status(200, 0),
        Step::status(503, 0),
        Step::status(404, 1002),
        Step::fail(FailureKind::Refused),
        Step::status(200, 0).breaking(),
    ] {
        regions.script("A", [step.clone()]);
        let first = tokio::time::timeout(s(60), send(&stack, create())).await;
        assert!(first.is_ok(), "{step:?}");
    }
    for region in ["A", "B"] {
        regions.script(region, [Step::hang()]);
    }
    let dropped = tokio::time::timeout(ms(10), send(&stack, read())).await;
    assert!(dropped.is_err());
    for region in ["A", "B"] {
        regions.heal(region);
    }
    let next = tokio::time::timeout(s(1), send(&stack, read())).await;
    assert!(next.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_finished_future_that_is_kept_holds_no_permit() {
    let regions = ScriptedAccount::new(Document::multi_write(["A"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let limited = ConcurrencyLimitLayer::new(1).layer(regions.clone());
    let stack = recommended(&account).layer(limited);
    let mut first = Box::pin(stack.clone().oneshot(read()));
    assert_eq!((&mut first).await.unwrap().status(), 200);
    let second = tokio::time::timeout(s(1), stack.oneshot(read())).await;
    assert_eq!(second.expect("a permit").unwrap().status(), 200);
    drop(first);
}

#[test]
fn an_account_outlives_the_runtime_that_it_was_first_used_in() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap()
    };
    let first = runtime();
    let lab = first.block_on(async {
        let lab = Lab::new(Document::multi_write(["A", "B"]));
        assert_eq!(lab.send(read()).await.status().code(), 200);
        lab.account.request_refresh();
        lab
    });
    // With a refresh scheduled and the background task alive.
    drop(first);
    lab.account.request_refresh();
    let second = runtime();
    second.block_on(async {
        assert_eq!(lab.send(create()).await.status().code(), 201);
        let reads = lab.regions.account_reads().len();
        tokio::time::sleep(s(10)).await;
        lab.account.refresh().await;
        assert!(lab.regions.account_reads().len() > reads);
        let reads = lab.regions.account_reads().len();
        tokio::time::sleep(s(3600)).await;
        assert!(
            lab.regions.account_reads().len() > reads,
            "the background refresh goes on in the runtime that is left"
        );
    });
}
