//! Partitions split and merge, and containers are made anew.

use bytes::Bytes;
use cosmos_core::{RangeId, requests};
use cosmos_testbed::scripted::{Container, Document, Step};
use cosmos_tests::{Lab, create, ms, read};
use http::HeaderName;
use tower_cosmos::ppaf::WriteRegions;

use super::{LINK, around, journal, lab, layers, range, split, watched};

const RANGE: HeaderName = HeaderName::from_static("x-ms-documentdb-partitionkeyrangeid");
const RID: HeaderName = HeaderName::from_static("x-ms-content-path");

async fn trip(lab: &Lab) {
    lab.regions.script("A", vec![Step::status(503, 0); 10]);
    for _ in 0..10 {
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    lab.regions.clear_wire();
}

#[tokio::test(start_paused = true)]
async fn each_code_of_a_stale_range_has_it_read_afresh_before_the_retry() {
    for substatus in [1000, 1002, 1007, 1008] {
        let lab = lab();
        assert_eq!(range(&lab).await, Some(RangeId::from(0)));
        lab.regions.set_container(LINK, split());
        lab.regions.script("A", [Step::status(410, substatus)]);
        lab.regions.clear_wire();
        let seen = lab.send(read()).await;
        assert_eq!(seen.status().code(), 200);
        let journal = seen.journal.unwrap();
        assert_eq!(journal.range(), Some(RangeId::from(1)), "{journal}");
        assert_eq!(lab.wire().regions(), "A B");
        let times = lab.wire().times_ms();
        assert_eq!(times[1] - times[0], 100, "410/{substatus}");
        let reads = lab.regions.container_reads();
        assert!(!reads.is_empty() && reads.times_ms().iter().all(|at| *at == times[0]));
        // 1000: the container may be another one, so all of it is read.
        let anew = reads.0[0].path.ends_with(LINK);
        assert_eq!(anew, substatus == 1000, "{reads}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_split_the_children_begin_healthy_and_the_parents_circuit_is_gone() {
    let (lab, circuits) = watched();
    trip(&lab).await;
    assert_eq!(circuits.counters().open, 1);
    lab.regions.set_container(LINK, split());
    lab.regions.script("B", [Step::status(410, 1002)]);
    // The retry is for the child already, and goes where that is well.
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "B A");
    assert_eq!(range(&lab).await, Some(RangeId::from(1)));
    assert_eq!(lab.wire().regions(), "B A A");
    let counters = circuits.counters();
    assert_eq!((counters.tracked, counters.open), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn codes_of_a_split_are_not_counted_for_the_children() {
    let (lab, circuits) = watched();
    for number in 0..30 {
        let container = if number % 2 == 0 {
            split()
        } else {
            Container::new("rid")
        };
        lab.regions.set_container(LINK, container);
        lab.regions.script("A", [Step::status(410, 1002)]);
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    assert_eq!(circuits.counters().tracked, 0);
}

#[tokio::test(start_paused = true)]
async fn after_a_merge_the_child_begins_healthy() {
    let (lab, circuits) = watched();
    lab.regions.set_container(LINK, split());
    trip(&lab).await;
    lab.regions
        .set_container(LINK, split().merge(["1", "2"], "3"));
    lab.regions.script("B", [Step::status(410, 1002)]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(range(&lab).await, Some(RangeId::from(3)));
    assert_eq!(lab.wire().regions(), "B A A");
    assert_eq!(circuits.counters().tracked, 0);
}

#[tokio::test(start_paused = true)]
async fn a_container_made_anew_takes_its_circuits_along() {
    let (lab, circuits) = watched();
    trip(&lab).await;
    lab.regions.set_container(LINK, Container::new("another"));
    lab.regions.script("B", [Step::status(410, 1000)]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "B A");
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    assert!(circuits.list().is_empty());
}

/// An account that moves partitions, one of which has moved to B, and what is remembered of them.
async fn moved() -> (Lab, WriteRegions) {
    let mut memory = None;
    let document = Document::single_write(["A", "B", "C"]);
    let lab = Lab::around(
        document.per_partition_failover(true),
        |account| account,
        |account| {
            layers(account).ppaf(|layer| {
                memory = Some(layer.write_regions());
                layer
            })
        },
    );
    let memory = memory.unwrap();
    lab.regions.set_container(LINK, Container::new("rid"));
    lab.account.refresh().await;
    lab.regions.script("A", [Step::status(403, 3)]);
    for _ in 0..2 {
        assert_eq!(lab.send(create()).await.status().code(), 201);
    }
    assert_eq!(lab.wire().regions(), "A B B");
    assert_eq!(memory.len(), 1);
    lab.regions.clear_wire();
    (lab, memory)
}

#[tokio::test(start_paused = true)]
async fn after_a_split_writes_of_the_children_go_to_the_hub() {
    let (lab, memory) = moved().await;
    lab.regions.set_container(LINK, split());
    lab.regions.script("B", [Step::status(410, 1002)]);
    assert_eq!(lab.send(create()).await.status().code(), 201);
    assert_eq!(lab.send(create()).await.status().code(), 201);
    assert_eq!(lab.wire().regions(), "B A A");
    assert!(memory.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_split_that_a_read_meets_takes_the_write_region_along() {
    let (lab, memory) = moved().await;
    lab.regions.set_container(LINK, split());
    lab.regions.script("A", [Step::status(410, 1002)]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert!(memory.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_split_is_noticed_though_the_operation_that_met_it_is_dropped() {
    let (lab, memory) = moved().await;
    lab.regions.set_container(LINK, split());
    lab.regions.script("B", [Step::status(410, 1002)]);
    lab.regions
        .script_container_reads("A", [Step::status(429, 3200).hint("50")]);
    let dropped = tokio::time::timeout(ms(10), lab.send(create())).await;
    assert!(dropped.is_err());
    tokio::time::sleep(ms(100)).await;
    assert!(memory.is_empty());
    assert_eq!(range(&lab).await, Some(RangeId::from(1)));
}

#[tokio::test(start_paused = true)]
async fn a_container_that_is_deleted_or_made_anew_takes_its_write_regions_along() {
    let delete = requests::delete_container("d", "c").build().unwrap();
    let other_rid = Step::status(200, 0).header(RID, "another");
    for (request, step) in [
        (delete, Step::status(204, 0)),
        (read(), other_rid),
        (read(), Step::status(400, 1024)),
    ] {
        let (lab, _) = moved().await;
        lab.regions.set_container(LINK, Container::new("another"));
        lab.regions.script("A", [step.clone()]);
        let _ = lab.send(request).await;
        assert_eq!(lab.send(create()).await.status().code(), 201);
        assert_eq!(lab.wire().regions(), "A A", "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_counts_for_the_partition_that_its_region_was_chosen_for() {
    let (lab, circuits) = watched();
    lab.regions
        .script("A", [Step::status(503, 0).header(RANGE, "5")]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    let list = circuits.list();
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].range, Some(RangeId::from(0)));
}

#[tokio::test(start_paused = true)]
async fn a_split_without_a_partition_key_is_retried_all_the_same() {
    let lab = around(split());
    lab.regions.script("A", [Step::status(410, 1002)]);
    let query = requests::query_items("d", "c", "SELECT * FROM c");
    let seen = lab.send(query.build().unwrap()).await;
    assert!(seen.status().is_success());
    assert_eq!(lab.wire().regions(), "A B");
    assert!(lab.regions.container_reads().is_empty());
    let item = requests::create_item("d", "c", &"p".into(), Bytes::from_static(b"{}"));
    assert_eq!(
        journal(&lab, item.build().unwrap()).await.range(),
        Some(RangeId::from(1))
    );
}
