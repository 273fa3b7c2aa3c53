//! Endpoint marks: what sets them, how long they hold, what clears them.

use cosmos_core::FailureKind;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, ms, read, s};

fn lab() -> Lab {
    Lab::unguarded(Document::multi_write(["A", "B"]))
}

#[tokio::test(start_paused = true)]
async fn a_region_that_refuses_is_left_alone_but_for_one_trial_at_a_time() {
    let lab = lab();
    lab.regions
        .script("A", [Step::fail(FailureKind::Refused).forever()]);
    for _ in 0..100 {
        assert_eq!(lab.send(read()).await.status().code(), 200);
        assert_eq!(lab.send(create()).await.status().code(), 201);
        tokio::time::sleep(ms(100)).await;
    }
    assert_eq!(lab.wire().count("A"), 2, "the attempt and its reconnect");
    // The mark has expired: one request tries, without a reconnect, and marks it again.
    tokio::time::sleep(s(60)).await;
    for _ in 0..10 {
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    assert_eq!(lab.wire().count("A"), 3, "{}", lab.wire());
}

#[tokio::test(start_paused = true)]
async fn one_trial_serves_reads_and_writes_of_an_unreachable_region() {
    let lab = lab();
    lab.regions.script(
        "A",
        [
            Step::fail(FailureKind::Refused),
            Step::fail(FailureKind::Refused),
        ],
    );
    assert_eq!(lab.send(read()).await.status().code(), 200);
    lab.regions.script("A", [Step::hang().forever()]);
    tokio::time::sleep(s(61)).await;
    let (first, second) = tokio::join!(lab.send(read()), lab.send(create()));
    assert!(first.status().is_success() && second.status().is_success());
    assert_eq!(lab.wire().count("A"), 3, "{}", lab.wire());
}

#[tokio::test(start_paused = true)]
async fn any_answer_clears_what_could_not_be_reached() {
    let lab = lab();
    lab.regions.script("A", [Step::fail(FailureKind::Tls)]);
    assert_eq!(lab.send(create()).await.status().code(), 201);
    tokio::time::sleep(s(61)).await;
    lab.regions.clear_wire();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.send(create()).await.status().code(), 201);
    assert_eq!(
        lab.wire().regions(),
        "A A",
        "the read's answer cleared the write's mark"
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_read_leaves_writes_where_they_are() {
    let lab = lab();
    lab.regions.script("A", [Step::status(503, 0)]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.send(create()).await.status().code(), 201);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A B A B");
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_is_dropped_frees_its_place() {
    let lab = lab();
    lab.regions.script("A", [Step::status(503, 0)]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    tokio::time::sleep(s(61)).await;
    lab.regions.script("A", [Step::hang()]);
    assert!(
        tokio::time::timeout(ms(10), lab.send(read()))
            .await
            .is_err()
    );
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A B A A");
}

#[tokio::test(start_paused = true)]
async fn throttling_and_ordinary_answers_mark_nothing() {
    for (code, substatus) in [
        (404, 0),
        (409, 0),
        (412, 0),
        (400, 0),
        (408, 21010),
        (410, 1002),
    ] {
        let lab = lab();
        lab.regions.script("A", [Step::status(code, substatus)]);
        let _ = lab.send(read()).await;
        lab.regions.clear_wire();
        assert_eq!(lab.send(read()).await.status().code(), 200);
        assert_eq!(lab.wire().regions(), "A", "{code}/{substatus}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_failures_ask_for_one_refresh() {
    let lab = lab();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    tokio::time::sleep(s(10)).await;
    lab.regions.clear_wire();
    for region in ["A", "B"] {
        lab.regions
            .script(region, [Step::fail(FailureKind::Refused).forever()]);
    }
    for _ in 0..1000 {
        let _ = lab.send(read()).await;
        tokio::time::advance(ms(1)).await;
    }
    let reads = lab.regions.account_reads();
    let first_second = reads.times_ms().iter().filter(|at| **at < 11_000).count();
    assert_eq!(first_second, 1, "{reads}");
}

#[tokio::test(start_paused = true)]
async fn traffic_returns_to_the_preferred_region_once_it_heals() {
    let lab = lab();
    lab.regions.script("A", always(503, 0));
    assert_eq!(lab.send(read()).await.status().code(), 200);
    lab.regions.heal("A");
    tokio::time::sleep(s(60)).await;
    lab.regions.clear_wire();
    for _ in 0..3 {
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    assert_eq!(lab.wire().regions(), "A A A");
}
