//! `DeadlineLayer`: one instant, whatever happens.

use cosmos_core::{FailureKind, OperationOptions, Status};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{
    Lab, Req, always, boxed, create, execute, ms, read, read_metadata, s, send, with,
};
use tokio::time::Instant;
use tower::{Layer, ServiceExt, service_fn};
use tower_cosmos::{AttemptTimeoutLayer, BufferLayer, EndpointLayer};

fn lab() -> Lab {
    Lab::new(Document::multi_write(["A", "B"]))
}

fn within(request: Req, milliseconds: u64) -> Req {
    with(request, OperationOptions::new().timeout(ms(milliseconds)))
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_operation_ends_at_its_deadline() {
    for request in [read(), create(), execute(), read_metadata()] {
        let lab = lab();
        for region in ["A", "B"] {
            lab.regions.script(region, [Step::hang().forever()]);
        }
        let began = Instant::now();
        let seen = lab.send(within(request, 1000)).await;
        assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
        assert!(began.elapsed() < ms(1010), "{:?}", began.elapsed());
        assert!(seen.journal.unwrap().deadline_expired());
        assert_eq!(lab.regions.open(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stands_still_ends_at_the_deadline() {
    let lab = lab();
    lab.regions.script("A", [Step::status(200, 0).stalling()]);
    let began = Instant::now();
    let seen = lab.send(within(read(), 2000)).await;
    assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
    assert!(began.elapsed() < ms(2010));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_has_passed_sends_nothing() {
    let lab = lab();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    lab.regions.clear_wire();
    tokio::time::sleep(s(1)).await;
    let now = Instant::now().into_std();
    for deadline in [now, now.checked_sub(ms(1)).unwrap()] {
        let options = OperationOptions::new().deadline(deadline);
        let seen = lab.send(with(read(), options)).await;
        assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
    }
    assert!(lab.wire().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_does_not_fit_is_not_begun() {
    let lab = lab();
    lab.regions
        .script("A", [Step::status(429, 3200).hint("2000")]);
    let began = Instant::now();
    let seen = lab.send(within(read(), 500)).await;
    assert_eq!(seen.status(), Status::new(429, 3200));
    assert_eq!(began.elapsed(), ms(0));
}

#[tokio::test(start_paused = true)]
async fn endless_403s_end_with_the_last_of_them_before_the_deadline() {
    let lab = lab();
    for region in ["A", "B"] {
        lab.regions.script(region, always(403, 1008));
    }
    let began = Instant::now();
    let seen = lab.send(within(read(), 3500)).await;
    assert_eq!(seen.status(), Status::DATABASE_ACCOUNT_NOT_FOUND);
    assert_eq!(began.elapsed(), s(3));
    assert_eq!(lab.wire().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_timer_cut_to_the_deadline_is_no_failure_of_the_region() {
    // No other region: the attempt gets all of the time that is left.
    let lab = Lab::new(Document::multi_write(["A"]));
    lab.regions.script("A", [Step::hang()]);
    let seen = lab.send(within(read(), 1000)).await;
    assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A A", "not marked");
}

#[tokio::test(start_paused = true)]
async fn an_operation_waits_for_the_topology_within_its_deadline() {
    let lab = lab();
    let hang = [Step::hang().forever()];
    lab.regions.script_account_reads("global", hang);
    let began = Instant::now();
    let seen = lab.send(within(read(), 12_000)).await;
    assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
    assert!(began.elapsed() < ms(12_010));
    assert!(lab.wire().is_empty());

    let began = Instant::now();
    let seen = lab.send(read()).await;
    assert_eq!(
        seen.error().kind(),
        FailureKind::NoTopology,
        "no deadline: the first failure"
    );
    assert!(began.elapsed() <= s(10));
}

#[tokio::test(start_paused = true)]
async fn a_region_that_hangs_costs_one_attempt_limit_at_most() {
    for request in [read(), create()] {
        let lab = lab();
        lab.regions.script("A", [Step::hang().forever()]);
        let began = Instant::now();
        let seen = lab.send(within(request, 10_000)).await;
        assert!(seen.status().is_success());
        assert!(began.elapsed() <= ms(6010), "{:?}", began.elapsed());
        assert_eq!(lab.wire().regions(), "A B");
    }
}

#[tokio::test(start_paused = true)]
async fn a_region_that_hangs_never_costs_the_whole_deadline_however_short() {
    for timeout in [100, 500, 2000, 5000, 6000, 8000] {
        for request in [read(), create(), read_metadata()] {
            let lab = lab();
            lab.regions.script("A", [Step::hang().forever()]);
            let seen = lab.send(within(request, timeout)).await;
            assert!(
                seen.status().is_success(),
                "{timeout} ms: {:?}",
                seen.journal
            );
            assert_eq!(lab.wire().regions(), "A B");
            // It is marked, too: the next operation goes elsewhere at once.
            assert!(
                lab.send(within(read(), timeout))
                    .await
                    .status()
                    .is_success()
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_repeated_gets_all_of_the_time() {
    let no_retry = || OperationOptions::new().timeout(s(2)).retry_writes(false);
    for request in [within(execute(), 2000), with(create(), no_retry())] {
        let lab = lab();
        lab.regions
            .script("A", [Step::status(200, 0).after(ms(1900))]);
        assert!(lab.send(request).await.status().is_success());
        assert_eq!(lab.wire().regions(), "A");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_layer_that_is_not_ours_holds_back_for_too_long_is_not_sent() {
    let lab = lab();
    lab.account.refresh().await;
    let attempt = AttemptTimeoutLayer::new().layer(lab.regions.clone());
    let attempt = boxed(BufferLayer::new().layer(attempt));
    let queue = service_fn(move |request: Req| {
        let attempt = attempt.clone();
        async move {
            tokio::time::sleep(s(3)).await;
            attempt.oneshot(request).await
        }
    });
    // Nothing that would give up waiting is above.
    let stack = boxed(EndpointLayer::new(lab.account.clone()).layer(queue));
    let seen = send(&stack, within(read(), 2000)).await;
    assert_eq!(seen.error().kind(), FailureKind::DeadlineExceeded);
    assert_eq!(lab.wire().len(), 0);
    let seen = send(&stack, within(read(), 4000)).await;
    assert_eq!(seen.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A");
}
