//! Exclusions are policy: they hold on every path.

use cosmos_core::{FailureKind, OperationOptions, Status};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, execute, read, read_metadata, with, write_metadata};

fn without(regions: &[&str]) -> OperationOptions {
    OperationOptions::new()
        .exclude_regions(regions)
        .expect("good names")
}

#[tokio::test(start_paused = true)]
async fn an_excluded_region_is_not_asked_even_if_all_others_fail() {
    for steps in [
        always(503, 0),
        always(403, 1008),
        [Step::fail(FailureKind::Refused).forever()],
    ] {
        let lab = Lab::new(Document::multi_write(["A", "B", "C"]));
        lab.regions.script("B", steps.clone());
        lab.regions.script("C", steps);
        for request in [read(), create(), execute(), read_metadata()] {
            let _ = lab.send(with(request, without(&["a"]))).await;
        }
        assert_eq!(lab.wire().count("A"), 0, "{}", lab.wire());
    }
}

#[tokio::test(start_paused = true)]
async fn the_accounts_own_exclusions_hold_for_every_operation() {
    let lab = Lab::with(Document::multi_write(["A", "B"]), |a| {
        a.excluded_regions(["A"])
    });
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "B");
}

#[tokio::test(start_paused = true)]
async fn with_everything_excluded_exactly_one_request_goes_to_the_hub() {
    for answer in [
        Step::status(503, 0),
        Step::status(429, 0).hint("1"),
        Step::status(403, 1008),
        Step::fail(FailureKind::Refused),
    ] {
        let lab = Lab::with(Document::single_write(["B", "A"]), |a| {
            a.preferred_regions(["A"])
        });
        lab.regions.script("B", [answer.forever()]);
        let _ = lab.send(with(read(), without(&["A", "B"]))).await;
        assert_eq!(lab.wire().regions(), "B", "{}", lab.wire());
    }
    let lab = Lab::with(Document::multi_write(["B", "A"]), |a| {
        a.preferred_regions(["A"])
    });
    let _ = lab.send(with(create(), without(&["A", "B"]))).await;
    assert_eq!(
        lab.wire().regions(),
        "A",
        "multi-write: the first preferred write region"
    );
}

#[tokio::test(start_paused = true)]
async fn strict_exclusions_send_nothing_and_say_why() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    let options = without(&["A", "B"]).strict_exclusions(true);
    let seen = lab.send(with(read(), options)).await;
    assert_eq!(seen.error().kind(), FailureKind::Excluded);
    assert!(lab.wire().is_empty());
}

#[tokio::test(start_paused = true)]
async fn metadata_goes_to_the_global_endpoint_when_every_region_is_excluded_or_marked() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    let _ = lab.send(with(read_metadata(), without(&["A", "B"]))).await;
    assert_eq!(lab.wire().regions(), "global");

    let lab = Lab::unguarded(Document::multi_write(["A", "B"]));
    lab.regions.script("A", always(503, 0));
    lab.regions.script("B", always(503, 0));
    assert_eq!(lab.send(read_metadata()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A B global");
}

#[tokio::test(start_paused = true)]
async fn data_never_goes_to_the_global_endpoint() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    for region in ["A", "B"] {
        lab.regions
            .script(region, [Step::fail(FailureKind::Refused).forever()]);
    }
    for request in [read(), create(), execute()] {
        let _ = lab.send(request).await;
    }
    assert_eq!(lab.wire().count("global"), 0, "{}", lab.wire());
}

#[tokio::test(start_paused = true)]
async fn metadata_writes_go_to_the_hub_even_on_a_multi_write_account() {
    let lab = Lab::with(Document::multi_write(["B", "A"]), |a| {
        a.preferred_regions(["A"])
    });
    assert_eq!(lab.send(write_metadata()).await.status().code(), 201);
    assert_eq!(lab.wire().regions(), "B");
}

#[tokio::test(start_paused = true)]
async fn when_a_refresh_leaves_only_excluded_regions_the_original_answer_is_surfaced() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    lab.regions.script("A", always(403, 1008));
    assert_eq!(
        lab.send(with(read(), without(&["A"])))
            .await
            .status()
            .code(),
        200
    );
    lab.regions.clear_wire();
    lab.regions.set_document(Document::single_write(["B"]));
    let seen = lab.send(with(read(), without(&["B"]))).await;
    assert_eq!(seen.status(), Status::DATABASE_ACCOUNT_NOT_FOUND);
    assert_eq!(lab.wire().count("B"), 0);
}
