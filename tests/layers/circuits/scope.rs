//! Which operations, accounts and partitions a breaker oversees.

use bytes::Bytes;
use cosmos_core::requests;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Req, create, execute, read, read_metadata, s, with, write_metadata};
use tower_cosmos::circuit_breaker::Circuits;

use super::{asked, circuit, fail, lab, of, single, times, trip, trip_by_writes, watched, without};

fn query_plan() -> Req {
    requests::query_plan("d", "c", "SELECT * FROM c", "Distinct")
        .build()
        .unwrap()
}

fn in_container(name: &str) -> Req {
    requests::read_item("d", name, "1", &"p".into())
        .build()
        .unwrap()
}

fn is_clean(circuits: &Circuits) -> bool {
    circuits.counters().tracked == 0 && circuits.counters().trips == 0
}

#[tokio::test(start_paused = true)]
async fn where_one_region_takes_writes_only_reads_are_steered() {
    let lab = single();
    trip(&lab, "0").await;
    assert_eq!(asked(&lab, of("0", read())).await, "B");
    assert_eq!(asked(&lab, of("0", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn where_one_region_takes_writes_their_failures_are_not_counted() {
    let (lab, circuits) = watched(Document::single_write(["A", "B", "C"]));
    lab.regions.script("A", times(400, &Step::status(503, 0)));
    for _ in 0..100 {
        assert_eq!(asked(&lab, of("0", create())).await, "A A A A");
    }
    assert!(is_clean(&circuits));
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn where_every_region_takes_writes_both_are_steered_and_counted() {
    let lab = lab();
    trip_by_writes(&lab, "0").await;
    assert_eq!(asked(&lab, of("0", create())).await, "B");
    assert_eq!(asked(&lab, of("0", read())).await, "B");
    trip(&lab, "1").await;
    assert_eq!(asked(&lab, of("1", create())).await, "B");
    assert_eq!(asked(&lab, of("2", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_stored_procedure_counts_as_a_write_and_is_steered_like_one() {
    let lab = lab();
    lab.regions.script("A", times(5, &Step::status(503, 0)));
    for _ in 0..5 {
        assert_eq!(asked(&lab, of("0", execute())).await, "A");
    }
    assert_eq!(asked(&lab, of("0", execute())).await, "B");
    assert_eq!(asked(&lab, of("0", create())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn documents_of_every_kind_follow_their_circuit() {
    let lab = lab();
    trip(&lab, "0").await;
    let key = "p".into();
    let kinds = [
        requests::head_item("d", "c", "1", &key),
        requests::query_items("d", "c", "SELECT * FROM c"),
        requests::read_feed("d", "c"),
        requests::change_feed("d", "c"),
        requests::upsert_item("d", "c", &key, Bytes::from_static(b"{}")),
        requests::replace_item("d", "c", "1", &key, Bytes::from_static(b"{}")),
        requests::patch_item("d", "c", "1", &key, Bytes::from_static(b"{}")),
        requests::delete_item("d", "c", "1", &key),
        requests::batch("d", "c", &key, Bytes::from_static(b"[]")),
        requests::delete_by_partition_key("d", "c", &key),
    ];
    for kind in kinds {
        let request = kind.build().unwrap();
        let shown = format!("{} {}", request.method(), request.uri());
        assert_eq!(asked(&lab, of("0", request)).await, "B", "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn query_plans_and_metadata_neither_count_for_a_partition_nor_follow_its_circuit() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    trip(&lab, "0").await;
    for request in [query_plan(), read_metadata(), write_metadata()] {
        assert_eq!(asked(&lab, of("0", request)).await, "A");
    }
    lab.regions.script("A", times(9, &Step::status(503, 0)));
    for number in 0..9 {
        let request = [query_plan(), read_metadata()][number % 2].clone();
        assert_eq!(asked(&lab, of("1", request)).await, "A B");
    }
    assert!(circuit(&circuits, "1", "A").is_none());
    assert_eq!(asked(&lab, of("1", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn an_account_of_one_region_has_no_circuits() {
    for document in [Document::multi_write(["A"]), Document::single_write(["A"])] {
        let (lab, circuits) = watched(document);
        lab.regions.script("A", [Step::status(503, 0).forever()]);
        for _ in 0..100 {
            assert_eq!(asked(&lab, of("0", read())).await, "A A A A");
        }
        assert!(is_clean(&circuits));
    }
}

#[tokio::test(start_paused = true)]
async fn with_every_other_region_excluded_every_call_still_reaches_the_one_that_is_left() {
    let lab = lab();
    lab.regions.script("A", [Step::status(503, 0).forever()]);
    let only_a = || {
        let options = cosmos_core::OperationOptions::new().partition_key_range("0");
        with(read(), options.exclude_regions(["B", "C"]).unwrap())
    };
    for _ in 0..100 {
        let seen = lab.send(only_a()).await;
        assert_eq!(seen.status().code(), 503);
    }
    assert_eq!(lab.wire().len(), lab.wire().count("A"));
    assert!(lab.wire().count("A") >= 100);
    lab.regions.heal("A");
    assert_eq!(lab.send(only_a()).await.status().code(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_a_region_is_behind_of_is_read_in_the_hub_though_its_circuit_is_open() {
    let (lab, circuits) = watched(Document::single_write(["A", "B", "C"]));
    trip(&lab, "0").await;
    lab.regions.script("B", [Step::status(404, 1002)]);
    assert_eq!(asked(&lab, of("0", read())).await, "B A");
    assert_eq!(circuits.counters().open, 1, "that was no probe");
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn the_regions_that_the_account_excludes_are_left_out_as_well() {
    let lab = cosmos_tests::Lab::with(Document::multi_write(["A", "B", "C"]), |account| {
        account.excluded_regions(["B"])
    });
    trip(&lab, "0").await;
    assert_eq!(asked(&lab, of("0", read())).await, "C");
    lab.regions.script("C", [Step::status(503, 0).forever()]);
    for _ in 0..20 {
        let seen = asked(&lab, of("0", read())).await;
        assert!(!seen.contains('B'), "{seen}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_known_range_there_is_one_circuit_for_container_and_region() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    fail(&lab, 10, read).await;
    assert_eq!(asked(&lab, read()).await, "B");
    let list = circuits.list();
    assert_eq!(list.len(), 1);
    assert_eq!(
        (&*list[0].container, &list[0].range),
        ("dbs/d/colls/c", &None)
    );
    assert_eq!(asked(&lab, in_container("other")).await, "A");
    assert_eq!(
        asked(&lab, of("0", read())).await,
        "A",
        "a range is another one"
    );
}

#[tokio::test(start_paused = true)]
async fn two_containers_whose_ranges_have_the_same_id_stay_apart() {
    let lab = lab();
    trip(&lab, "0").await;
    assert_eq!(asked(&lab, of("0", in_container("other"))).await, "A");
    assert_eq!(asked(&lab, of("0", in_container("c"))).await, "B");
}

#[tokio::test(start_paused = true)]
async fn a_range_that_a_header_names_is_a_range_like_any() {
    let lab = lab();
    let named = || {
        let request = requests::read_item("d", "c", "1", &"p".into());
        request.partition_key_range_id("0").build().unwrap()
    };
    fail(&lab, 10, named).await;
    assert_eq!(asked(&lab, named()).await, "B");
    assert_eq!(asked(&lab, of("0", read())).await, "B");
    assert_eq!(asked(&lab, of("1", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_region_that_an_operation_excludes_is_left_out_before_its_circuit_is_asked() {
    let lab = lab();
    trip(&lab, "0").await;
    for (excluded, expected) in [("B", "C"), ("C", "B"), ("A", "B"), ("b", "C")] {
        assert_eq!(asked(&lab, without(excluded, "0", read())).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_region_that_leaves_the_account_and_comes_back_is_as_it_was() {
    let lab = lab();
    trip(&lab, "0").await;
    for regions in [&["B", "C"][..], &["A", "B", "C"]] {
        lab.regions
            .set_document(Document::multi_write(regions.iter().copied()));
        tokio::time::sleep(s(6)).await;
        lab.account.refresh().await;
        assert_eq!(asked(&lab, of("0", read())).await, "B");
    }
    assert_eq!(asked(&lab, of("1", read())).await, "A");
    tokio::time::sleep(s(60)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn an_account_whose_writes_move_to_one_region_oversees_reads_only_from_then_on() {
    let lab = lab();
    trip_by_writes(&lab, "0").await;
    lab.regions
        .set_document(Document::single_write(["A", "B", "C"]));
    tokio::time::sleep(s(6)).await;
    lab.account.refresh().await;
    assert_eq!(asked(&lab, of("0", create())).await, "A");
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}
