//! Where writes go, and what moves them on.

use bytes::Bytes;
use cosmos_core::{FailureKind, OperationOptions, requests};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, execute, ms, read, s, with, write_metadata};

use super::{asked, document, lab, moved, of};

#[tokio::test(start_paused = true)]
async fn a_write_finds_where_its_partition_moved_and_the_next_goes_straight_there() {
    let (lab, memory) = lab();
    lab.regions.script("A", [Step::status(403, 3)]);
    for range in ["0", "0", "1"] {
        assert_eq!(lab.send(of(range, create())).await.status().code(), 201);
    }
    assert_eq!(lab.wire().regions(), "A B B A");
    assert_eq!(memory.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn it_works_from_the_very_first_request() {
    let (lab, _) = lab();
    lab.regions.script("A", always(503, 0));
    assert_eq!(lab.send(of("0", create())).await.status().code(), 201);
    assert_eq!(lab.wire().regions(), "A B");
    lab.regions.heal("A");
    assert_eq!(asked(&lab, of("1", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn the_first_write_of_a_partition_goes_to_the_hub_whatever_is_preferred() {
    let lab = Lab::with(document(), |account| account.preferred_regions(["C", "B"]));
    lab.regions.script("A", [Step::status(403, 3)]);
    assert_eq!(
        asked(&lab, of("0", create())).await,
        "A B",
        "the account's order"
    );
    assert_eq!(asked(&lab, of("0", read())).await, "C");
    assert_eq!(asked(&lab, of("1", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn whatever_says_that_the_hub_is_out_moves_the_partition() {
    for (step, expected) in [
        (Step::status(403, 3), "A B"),
        (Step::status(403, 1008), "A B"),
        (Step::status(503, 0), "A B"),
        (Step::status(500, 0), "A B"),
        (Step::status(408, 0), "A B"),
        (Step::status(410, 0), "A B"),
        (Step::status(429, 3092), "A B"),
        (Step::fail(FailureKind::Dns), "A B"),
        (Step::fail(FailureKind::Refused), "A A B"),
        (Step::fail(FailureKind::Reset), "A A B"),
        (Step::hang(), "A B"),
        (Step::status(201, 0).body("{").breaking(), "A B"),
    ] {
        let (lab, memory) = lab();
        let count = expected.matches('A').count();
        lab.regions.script("A", vec![step.clone(); count]);
        assert_eq!(asked(&lab, of("0", create())).await, expected, "{step:?}");
        assert_eq!(memory.len(), 1, "{step:?}");
        assert_eq!(asked(&lab, of("0", create())).await, "B", "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_memory_costs_one_retry_and_is_replaced() {
    let (lab, memory) = lab();
    moved(&lab, "0").await;
    lab.regions.script("B", [Step::status(403, 3)]);
    assert_eq!(asked(&lab, of("0", create())).await, "B A");
    assert!(memory.is_empty());
    assert_eq!(asked(&lab, of("0", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_partition_that_moves_on_is_found_by_way_of_the_hub() {
    let (lab, _) = lab();
    moved(&lab, "0").await;
    for region in ["A", "B"] {
        lab.regions.script(region, [Step::status(403, 3)]);
    }
    assert_eq!(asked(&lab, of("0", create())).await, "B A C");
    assert_eq!(asked(&lab, of("0", create())).await, "C");
}

#[tokio::test(start_paused = true)]
async fn the_memory_stays_until_a_write_is_confirmed_elsewhere() {
    let (lab, memory) = lab();
    moved(&lab, "0").await;
    lab.regions.script("B", [Step::status(403, 3)]);
    for region in ["A", "C"] {
        lab.regions.script(region, [Step::status(503, 0)]);
    }
    lab.regions.script("B", [Step::status(503, 0)]);
    let seen = lab.send(of("0", create())).await;
    assert_eq!(seen.status().code(), 503);
    assert_eq!(memory.len(), 1);
    assert!(asked(&lab, of("0", create())).await.starts_with('B'));
}

#[tokio::test(start_paused = true)]
async fn a_remembered_region_that_fails_is_not_asked_again_in_the_operation() {
    for step in [Step::status(503, 0), Step::status(403, 3), Step::hang()] {
        let (lab, _) = lab();
        moved(&lab, "0").await;
        lab.regions.script("B", [step]);
        lab.regions.script("A", [Step::status(503, 0)]);
        assert_eq!(asked(&lab, of("0", create())).await, "B A C");
    }
}

#[tokio::test(start_paused = true)]
async fn writes_of_items_of_every_kind_follow_their_partition() {
    let key = "p".into();
    let body = || Bytes::from_static(b"{}");
    for request in [
        requests::create_item("d", "c", &key, body()),
        requests::upsert_item("d", "c", &key, body()),
        requests::replace_item("d", "c", "1", &key, body()),
        requests::patch_item("d", "c", "1", &key, body()),
        requests::delete_item("d", "c", "1", &key),
        requests::batch("d", "c", &key, Bytes::from_static(b"[]")),
        requests::delete_by_partition_key("d", "c", &key),
    ] {
        let (lab, _) = lab();
        let request = request.build().unwrap();
        let shown = format!("{} {}", request.method(), request.uri());
        lab.regions.script("A", [Step::status(503, 0)]);
        assert_eq!(
            asked(&lab, of("0", request.clone())).await,
            "A B",
            "{shown}"
        );
        assert_eq!(asked(&lab, of("0", request)).await, "B", "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn databases_and_containers_are_made_in_the_hub_alone() {
    let (lab, memory) = lab();
    let container = || {
        let definition = Bytes::from_static(b"{\"id\":\"c\"}");
        requests::create_container("d", definition).build().unwrap()
    };
    for request in [write_metadata(), container()] {
        lab.regions.script("A", [Step::status(503, 0)]);
        assert_eq!(asked(&lab, request).await, "A A");
    }
    assert!(memory.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stored_procedure_follows_its_partition_and_is_not_repeated_once_it_may_have_run() {
    let (lab, memory) = lab();
    lab.regions.script("A", [Step::status(503, 0)]);
    assert_eq!(asked(&lab, of("0", execute())).await, "A");
    assert!(memory.is_empty());
    lab.regions.script("A", [Step::status(403, 3)]);
    assert_eq!(asked(&lab, of("0", execute())).await, "A B");
    assert_eq!(asked(&lab, of("0", execute())).await, "B");
    assert_eq!(asked(&lab, of("0", create())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn a_remembered_region_that_is_excluded_is_never_asked() {
    let (lab, memory) = lab();
    moved(&lab, "0").await;
    let excluding = |regions: &[&str]| {
        let options = OperationOptions::new().partition_key_range("0");
        with(create(), options.exclude_regions(regions).unwrap())
    };
    assert_eq!(asked(&lab, excluding(&["B"])).await, "A");
    assert!(memory.is_empty(), "the hub has confirmed it");
    moved(&lab, "0").await;
    lab.regions.script("A", always(403, 3));
    let seen = asked(&lab, excluding(&["B"])).await;
    assert!(seen.starts_with("A C") && !seen.contains('B'), "{seen}");
    assert_eq!(
        asked(&lab, excluding(&["A"])).await,
        "C",
        "it confirmed the last one"
    );
}

#[tokio::test(start_paused = true)]
async fn with_everything_excluded_the_one_write_goes_to_the_hub_whatever_is_remembered() {
    let (lab, _) = lab();
    moved(&lab, "0").await;
    let options = OperationOptions::new().partition_key_range("0");
    let options = options.exclude_regions(["A", "B", "C"]).unwrap();
    assert_eq!(asked(&lab, with(create(), options)).await, "A");
}

#[tokio::test(start_paused = true)]
async fn reads_stay_where_they_are() {
    let (lab, _) = lab();
    moved(&lab, "0").await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_moved_partition_does_not_darken_the_hub_for_the_others() {
    for step in [Step::status(403, 3), Step::status(503, 0), Step::hang()] {
        let (lab, _) = lab();
        lab.regions.script("A", [step.clone()]);
        assert_eq!(asked(&lab, of("0", create())).await, "A B", "{step:?}");
        assert_eq!(asked(&lab, of("1", create())).await, "A", "{step:?}");
        assert_eq!(asked(&lab, create()).await, "A", "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hub_that_cannot_be_reached_is_marked_for_all() {
    let (lab, _) = lab();
    lab.regions.script("A", [Step::fail(FailureKind::Dns)]);
    assert_eq!(asked(&lab, of("0", create())).await, "A B");
    assert_eq!(asked(&lab, of("1", create())).await, "B");
    assert_eq!(asked(&lab, of("1", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn writes_have_no_circuit_and_reads_no_memory() {
    let mut circuits = None;
    let lab = Lab::around(
        document(),
        |account| account,
        |account| {
            let layers = cosmos_tests::recommended(account);
            circuits = Some(layers.circuits());
            layers
        },
    );
    let circuits = circuits.unwrap();
    for _ in 0..20 {
        lab.regions.script("A", [Step::status(503, 0)]);
        let _ = lab.send(of("0", create())).await;
    }
    lab.regions.heal("A");
    assert_eq!(circuits.counters().tracked, 0);
    for _ in 0..10 {
        lab.regions.script("A", [Step::status(503, 0)]);
        assert_eq!(asked(&lab, of("1", read())).await, "A B");
    }
    assert_eq!(circuits.counters().open, 1);
    assert_eq!(asked(&lab, of("1", read())).await, "B");
    assert_eq!(asked(&lab, of("1", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn without_a_known_range_the_write_is_served_and_nothing_remembered() {
    let (lab, memory) = lab();
    for _ in 0..2 {
        lab.regions.script("A", [Step::status(403, 3)]);
        assert_eq!(asked(&lab, create()).await, "A B");
    }
    assert!(memory.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_budgets_are_the_same_as_without() {
    for (code, substatus) in [(503, 0), (403, 3), (410, 0), (429, 3092)] {
        let (lab, _) = lab();
        lab.account.refresh().await;
        for region in ["A", "B", "C"] {
            lab.regions.script(region, always(code, substatus));
        }
        assert_eq!(asked(&lab, of("0", create())).await, "A B C A");
        let times = lab.wire().times_ms();
        assert_eq!(times.first(), times.last(), "{code}/{substatus}: no wait");
    }
}

#[tokio::test(start_paused = true)]
async fn one_operation_settings_are_not_the_next_ones() {
    let (lab, memory) = lab();
    let options = OperationOptions::new().partition_key_range("0");
    let never_again = with(create(), options.clone().retry_writes(false));
    let elsewhere = with(create(), options.exclude_regions(["B"]).unwrap());
    lab.regions.script("A", [Step::status(503, 0).after(ms(5))]);
    lab.regions.script("A", [Step::status(503, 0).after(ms(5))]);
    let (first, second) = tokio::join!(lab.send(never_again), lab.send(elsewhere));
    assert_eq!(
        first.status().code(),
        503,
        "it failed, and says nothing of where to go"
    );
    assert_eq!(second.status().code(), 201);
    assert_eq!(lab.wire().regions(), "A A C");
    assert_eq!(memory.len(), 1);
    assert_eq!(asked(&lab, of("0", create())).await, "C");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_runs_out_of_time_at_the_hub_leaves_time_for_the_next_region() {
    let (lab, memory) = lab();
    lab.regions
        .script("A", always(503, 0).map(|_| Step::hang().forever()));
    let options = OperationOptions::new().partition_key_range("0");
    let request = with(create(), options.timeout(s(3)));
    assert_eq!(lab.send(request).await.status().code(), 201);
    assert_eq!(lab.wire().regions(), "A B");
    assert_eq!(memory.len(), 1);
    assert_eq!(asked(&lab, of("0", create())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn where_the_account_does_not_move_partitions_writes_stay_in_the_hub() {
    for document in [
        Document::single_write(["A", "B", "C"]),
        Document::single_write(["A"]).per_partition_failover(true),
    ] {
        let lab = Lab::new(document);
        lab.regions.script("A", always(503, 0));
        assert_eq!(asked(&lab, of("0", create())).await, "A A A A");
    }
}
