//! `ThrottleRetryLayer`: the same region after the time that it asks for.

use cosmos_core::{Reason, Region, Status};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, account, always, boxed, create, ms, read, s, send};
use tower::Layer;
use tower_cosmos::{EndpointLayer, ThrottleRetryLayer};

fn lab() -> Lab {
    Lab::new(Document::multi_write(["A", "B"]))
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_waited_for_exactly_in_the_same_region() {
    let lab = lab();
    let step = Step::status(429, 3200)
        .hint("1500")
        .header(http::header::RETRY_AFTER, "60");
    lab.regions.script("A", [step]);
    let seen = lab.send(read()).await;
    assert_eq!(seen.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A A");
    assert_eq!(lab.wire().times_ms(), [0, 1500]);
    assert_eq!(seen.journal.unwrap().attempts()[1].reason, Reason::Throttle);
}

#[tokio::test(start_paused = true)]
async fn without_a_hint_the_waits_double() {
    let lab = lab();
    lab.regions
        .script("A", (0..5).map(|_| Step::status(429, 0)));
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().times_ms(), [0, 5, 15, 35, 75, 155]);
}

#[tokio::test(start_paused = true)]
async fn hints_that_are_no_waiting_time_count_as_absent() {
    for hint in ["-5", "NaN", "", "soon", "\u{ff}"] {
        let lab = lab();
        lab.regions.script("A", [Step::status(429, 0).hint(hint)]);
        assert_eq!(lab.send(read()).await.status().code(), 200);
        assert_eq!(lab.wire().times_ms(), [0, 5], "{hint:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_fractional_hint_is_rounded_up() {
    let lab = lab();
    lab.regions.script("A", [Step::status(429, 0).hint("12.5")]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().times_ms(), [0, 13]);
}

#[tokio::test(start_paused = true)]
async fn a_hint_beyond_the_budget_surfaces_the_429_at_once() {
    for hint in [
        "60000",
        "18446744073709551615",
        "99999999999999999999",
        "1e400",
    ] {
        let lab = lab();
        lab.regions
            .script("A", [Step::status(429, 3200).hint(hint)]);
        let began = tokio::time::Instant::now();
        let seen = lab.send(read()).await;
        assert_eq!(seen.status(), Status::new(429, 3200));
        assert_eq!(seen.result.unwrap().headers()["x-ms-retry-after-ms"], hint);
        assert_eq!(lab.wire().len(), 1);
        assert_eq!(began.elapsed(), ms(0));
    }
}

#[tokio::test(start_paused = true)]
async fn nine_retries_then_the_429_with_its_headers() {
    let lab = lab();
    let step = Step::status(429, 3200).hint("1").body("busy").forever();
    lab.regions.script("A", [step]);
    let seen = lab.send(create()).await;
    assert_eq!(lab.wire().regions(), "A A A A A A A A A A");
    assert_eq!(seen.status(), Status::new(429, 3200));
    let journal = seen.journal.clone().unwrap();
    assert_eq!(journal.throttled(Region::named("A").unwrap()), (9, ms(9)));
    assert_eq!(seen.text().await, "busy");
}

#[tokio::test(start_paused = true)]
async fn thirty_seconds_slept_in_all_then_the_429() {
    let lab = lab();
    lab.regions
        .script("A", [Step::status(429, 0).hint("8000").forever()]);
    assert_eq!(lab.send(read()).await.status().code(), 429);
    assert_eq!(lab.wire().times_ms(), [0, 8000, 16000, 24000]);
}

#[tokio::test(start_paused = true)]
async fn zero_retries_bring_the_first_429_straight_back() {
    let lab = lab();
    let account = account(&lab.regions, |account| account);
    let inner = EndpointLayer::new(account).layer(lab.regions.clone());
    let inner = tower_cosmos::BufferLayer::new().layer(inner);
    let stack = boxed(ThrottleRetryLayer::new().max_retries(0).layer(inner));
    lab.regions.script("A", always(429, 0));
    assert_eq!(send(&stack, read()).await.status().code(), 429);
    assert_eq!(lab.wire().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_budget_is_per_region() {
    let lab = lab();
    let throttled = |n| (0..n).map(|_| Step::status(429, 0).hint("1"));
    lab.regions
        .script("A", throttled(9).chain([Step::status(503, 0)]));
    lab.regions.script("B", throttled(9));
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!((lab.wire().count("A"), lab.wire().count("B")), (10, 10));
}

#[tokio::test(start_paused = true)]
async fn lack_of_a_system_resource_moves_on_without_a_wait() {
    let lab = lab();
    lab.regions
        .script("A", [Step::status(429, 3092).hint("5000")]);
    assert_eq!(lab.send(create()).await.status().code(), 201);
    assert_eq!(lab.wire().regions(), "A B");
    assert_eq!(lab.wire().times_ms(), [0, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_ends_the_wait_and_nothing_more_is_sent() {
    let lab = lab();
    lab.regions.script("A", [Step::status(429, 0).hint("1000")]);
    let sending = tokio::time::timeout(ms(50), lab.send(read()));
    assert!(sending.await.is_err());
    tokio::time::sleep(s(10)).await;
    assert_eq!(lab.wire().len(), 1);
    assert_eq!(lab.regions.open(), 0);
}
