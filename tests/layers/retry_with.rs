//! `RetryWithLayer`: 449, the same region.

use cosmos_core::{Reason, Status};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, execute, read, read_metadata};

fn lab() -> Lab {
    Lab::new(Document::multi_write(["A", "B"]))
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_operation_is_repeated_in_the_same_region_with_growing_waits() {
    for request in [read(), create(), execute(), read_metadata()] {
        let lab = lab();
        lab.regions
            .script("A", (0..3).map(|_| Step::status(449, 0)));
        let seen = lab.send(request).await;
        assert!(seen.status().is_success());
        assert_eq!(lab.wire().regions(), "A A A A");
        assert_eq!(lab.wire().times_ms(), [0, 10, 30, 70]);
        assert_eq!(
            seen.journal.unwrap().attempts()[3].reason,
            Reason::RetryWith
        );
        // No sign of health: the next operation starts at A.
        assert!(lab.send(read()).await.status().is_success());
        assert_eq!(lab.wire().count("B"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn thirty_seconds_slept_then_the_449() {
    let lab = lab();
    lab.regions.script("A", always(449, 0));
    assert_eq!(lab.send(create()).await.status(), Status::RETRY_WITH);
    let wire = lab.wire();
    assert_eq!(wire.count("A"), wire.len());
    // 7 waits up to 640 ms make 1.27 s; 28 more of a second each fit into the rest.
    assert_eq!(wire.len(), 1 + 7 + 28);
}

#[tokio::test(start_paused = true)]
async fn every_request_tells_the_gateway_not_to_do_it_itself() {
    let lab = lab();
    lab.regions
        .script("A", [Step::status(449, 0), Step::status(503, 0)]);
    assert!(lab.send(create()).await.status().is_success());
    assert_eq!(lab.wire().regions(), "A A B");
    for entry in lab.wire().0 {
        assert_eq!(entry.header("x-ms-noretry-449").to_lowercase(), "true");
    }
}

#[tokio::test(start_paused = true)]
async fn it_does_not_use_up_the_moves() {
    let lab = lab();
    let collisions = || (0..2).map(|_| Step::status(449, 0));
    lab.regions
        .script("A", collisions().chain([Step::status(503, 0)]));
    lab.regions
        .script("B", collisions().chain([Step::status(503, 0)]));
    let seen = lab.send(create()).await;
    assert!(seen.status().is_success());
    assert_eq!(
        seen.journal.unwrap().spent(cosmos_core::Budget::Failover),
        2
    );
}
