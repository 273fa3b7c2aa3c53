//! When the map of ranges is read afresh, and what becomes of one that cannot be.

use cosmos_core::{RangeId, requests};
use cosmos_testbed::scripted::{Container, Step};
use cosmos_tests::{ms, read, s};
use http::HeaderName;

use super::{LINK, journal, lab, range, split, watched};

const RANGE: HeaderName = HeaderName::from_static("x-ms-documentdb-partitionkeyrangeid");
const RID: HeaderName = HeaderName::from_static("x-ms-content-path");

#[tokio::test(start_paused = true)]
async fn the_waits_for_a_split_double_and_end_with_the_budget() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    for region in ["A", "B", "C"] {
        lab.regions
            .script(region, [Step::status(410, 1007).forever()]);
    }
    lab.regions.clear_wire();
    let seen = lab.send(read()).await;
    assert_eq!(seen.status().to_string(), "410/1007");
    let times = lab.wire().times_ms();
    let waits: Vec<u128> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits, [100, 200, 400]);
    let reads = lab.regions.container_reads();
    assert_eq!(reads.len(), 3, "one before each retry: {reads}");
}

#[tokio::test(start_paused = true)]
async fn a_hundred_operations_that_meet_a_split_read_it_once() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    lab.regions.set_container(LINK, split());
    lab.regions
        .script("A", vec![Step::status(410, 1002).after(ms(5)); 100]);
    lab.regions.clear_wire();
    let all = futures::future::join_all((0..100).map(|_| range(&lab))).await;
    assert!(all.iter().all(|id| *id == Some(RangeId::from(1))));
    let reads = lab.regions.container_reads();
    assert_eq!(reads.len(), 2, "the news, and no more: {reads}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_names_another_range_has_the_map_read_afresh() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    lab.regions.set_container(LINK, split());
    lab.regions.clear_wire();
    lab.regions
        .script("A", [Step::status(200, 0).header(RANGE, "1")]);
    let corrected = journal(&lab, read()).await;
    assert_eq!(corrected.range(), Some(RangeId::from(1)));
    assert!(lab.regions.container_reads().is_empty(), "it did not wait");
    assert_eq!(range(&lab).await, Some(RangeId::from(1)));
    assert_eq!(lab.regions.container_reads().len(), 2, "the next one did");
}

#[tokio::test(start_paused = true)]
async fn answers_that_no_map_agrees_with_do_not_have_it_read_all_the_time() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    lab.regions.clear_wire();
    lab.regions
        .script("A", [Step::status(200, 0).header(RANGE, "7").forever()]);
    for _ in 0..1000 {
        assert_eq!(range(&lab).await, Some(RangeId::from(7)));
        tokio::time::sleep(ms(10)).await;
    }
    let reads = lab.regions.container_reads().len();
    assert_eq!(reads, 2, "in ten seconds: at once, and five seconds later");
}

#[tokio::test(start_paused = true)]
async fn while_a_map_that_was_shown_to_be_wrong_cannot_be_read_operations_go_by_it() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    for region in ["A", "B", "C"] {
        lab.regions
            .script_container_reads(region, [Step::hang().forever()]);
    }
    lab.regions
        .script("A", [Step::status(200, 0).header(RANGE, "1")]);
    assert_eq!(range(&lab).await, Some(RangeId::from(1)));
    tokio::task::yield_now().await;
    let start = lab.regions.elapsed();
    for _ in 0..10 {
        assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    }
    assert_eq!(lab.regions.elapsed(), start + s(1), "nobody waits longer");
}

#[tokio::test(start_paused = true)]
async fn an_incremental_read_that_leaves_a_gap_is_read_in_full() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    lab.regions.set_container(LINK, split());
    // One child of the two.
    let gap = r#"{"_rid":"rid","PartitionKeyRanges":[
        {"id":"1","minInclusive":"","maxExclusive":"20","parents":["0"]}]}"#;
    let page = Step::status(200, 0).body(gap);
    lab.regions.script_container_reads("A", [page]);
    lab.regions.script("A", [Step::status(410, 1002)]);
    lab.regions.clear_wire();
    assert_eq!(range(&lab).await, Some(RangeId::from(1)));
    let reads = lab.regions.container_reads();
    assert!(!reads.0[0].header("if-none-match").is_empty());
    let anew = reads
        .0
        .iter()
        .filter(|entry| entry.header("if-none-match").is_empty());
    assert_eq!(anew.count(), 1, "{reads}");
    let key = "redmond".into();
    let other = requests::read_item("d", "c", "1", &key).build().unwrap();
    assert_eq!(journal(&lab, other).await.range(), Some(RangeId::from(2)));
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_keeps_the_map_that_is_known() {
    let empty = r#"{"_rid":"rid","PartitionKeyRanges":[]}"#;
    let cut = r#"{"_rid":"rid","PartitionKeyRanges":[{"id":"#;
    for step in [
        Step::status(503, 0),
        Step::status(404, 0),
        Step::status(200, 0).body("<html>"),
        Step::status(200, 0).body(cut),
        Step::status(200, 0).body(empty),
    ] {
        let lab = lab();
        assert_eq!(range(&lab).await, Some(RangeId::from(0)));
        for region in ["A", "B", "C"] {
            lab.regions
                .script_container_reads(region, [step.clone().forever()]);
        }
        lab.regions.script("A", [Step::status(410, 1002)]);
        assert_eq!(lab.send(read()).await.status().code(), 200, "{step:?}");
        assert_eq!(range(&lab).await, Some(RangeId::from(0)), "{step:?}");
        for region in ["A", "B", "C"] {
            lab.regions.heal_container_reads(region);
        }
        lab.regions.set_container(LINK, split());
        tokio::time::sleep(s(1)).await;
        lab.regions.script("A", [Step::status(410, 1002)]);
        assert_eq!(range(&lab).await, Some(RangeId::from(1)), "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_hangs_leaves_time_for_another_region() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    for region in ["A", "B", "C"] {
        lab.regions
            .script_container_reads(region, [Step::hang().forever()]);
    }
    lab.regions.script("A", [Step::status(410, 1002)]);
    let options = cosmos_core::OperationOptions::new().timeout(s(1));
    let start = lab.regions.elapsed();
    let seen = lab.send(cosmos_tests::with(read(), options)).await;
    assert_eq!(seen.status().code(), 200);
    assert_eq!(lab.regions.elapsed(), start + ms(500) + ms(100));
    assert_eq!(lab.wire().regions(), "A A B");
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_hangs_costs_an_operation_a_second_at_most() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    for region in ["A", "B", "C"] {
        lab.regions
            .script_container_reads(region, [Step::hang().forever()]);
    }
    lab.regions.script("A", [Step::status(410, 1002)]);
    let start = lab.regions.elapsed();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.regions.elapsed(), start + s(1) + ms(100));
}

#[tokio::test(start_paused = true)]
async fn a_region_that_is_behind_does_not_have_the_container_read_all_the_time() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    let before = lab.regions.container_reads().len();
    let behind = Step::status(200, 0).header(RID, "another");
    lab.regions.script("A", [behind.forever()]);
    for _ in 0..100 {
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    let reads = lab.regions.container_reads().len() - before;
    assert!(reads <= 4, "{reads} reads of the container");
}

#[tokio::test(start_paused = true)]
async fn a_region_that_fails_and_names_another_container_is_left_as_well() {
    let (lab, circuits) = watched();
    let failing = Step::status(503, 0).header(RID, "another");
    lab.regions.script("A", [failing.forever()]);
    for _ in 0..10 {
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    assert_eq!(circuits.counters().open, 1);
    lab.regions.clear_wire();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "B");
}

#[tokio::test(start_paused = true)]
async fn a_feed_without_an_end_is_given_up() {
    let lab = lab();
    let page = r#"{"PartitionKeyRanges":[{"id":"0","minInclusive":"","maxExclusive":"FF"}]}"#;
    let next = Step::status(200, 0)
        .body(page)
        .header(http::header::ETAG, "1");
    let other = next.clone().header(http::header::ETAG, "2");
    let properties = r#"{"_rid":"rid","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    let pages = (0..2000).map(|n| {
        if n % 2 == 0 {
            next.clone()
        } else {
            other.clone()
        }
    });
    let first = Step::status(200, 0).body(properties);
    lab.regions
        .script_container_reads("A", [first].into_iter().chain(pages));
    assert_eq!(range(&lab).await, None);
    assert!(lab.regions.container_reads().len() <= 1001);
}

#[tokio::test(start_paused = true)]
async fn a_container_that_is_another_one_now_is_read_again() {
    let other_rid = Step::status(200, 0).header(RID, "another");
    for step in [other_rid, Step::status(400, 1024)] {
        let (lab, circuits) = watched();
        lab.regions.script("A", [Step::status(503, 0)]);
        assert_eq!(lab.send(read()).await.status().code(), 200);
        assert_eq!(circuits.list().len(), 1);
        let another = Container::new("another").split("0", "20", ["5", "6"]);
        lab.regions.set_container(LINK, another);
        lab.regions.script("A", [step.clone()]);
        let _ = lab.send(read()).await;
        assert_eq!(range(&lab).await, Some(RangeId::from(5)), "{step:?}");
        assert!(circuits.list().is_empty(), "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn ranges_of_another_container_have_its_properties_read_as_well() {
    let (lab, circuits) = watched();
    lab.regions.script("A", [Step::status(503, 0)]);
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    assert_eq!(circuits.list().len(), 1);
    // Keys of version 1 begin with 05, those of version 2 of this key with 22.
    let another = Container::new("another").unversioned();
    lab.regions
        .set_container(LINK, another.split("0", "10", ["5", "6"]));
    let key = "redmond".into();
    let read = || requests::read_item("d", "c", "1", &key).build().unwrap();
    lab.regions.script("A", [Step::status(410, 1002)]);
    assert_eq!(journal(&lab, read()).await.range(), Some(RangeId::from(5)));
    assert!(circuits.list().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_container_that_was_deleted_is_read_again() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    lab.regions.script("A", [Step::status(204, 0)]);
    let delete = requests::delete_container("d", "c").build().unwrap();
    assert_eq!(lab.send(delete).await.status().code(), 204);
    lab.regions.clear_wire();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    assert_eq!(lab.regions.container_reads().len(), 3);
}
