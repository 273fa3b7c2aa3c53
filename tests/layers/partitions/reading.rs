//! How containers are read: once for all, bounded, through every region that answers.

use std::time::Duration;

use cosmos_core::{FailureKind, RangeId, requests};
use cosmos_testbed::scripted::{Container, Document, Step};
use cosmos_tests::{Lab, Req, ms, read, s};

use super::{LINK, around, journal, lab, layers, range, split};

fn in_container(name: &str) -> Req {
    requests::read_item("d", name, "1", &"p".into())
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_hundred_operations_at_once_are_one_read() {
    let lab = around(split());
    let slow = Step::status(404, 0).after(ms(20));
    lab.regions.script_container_reads("A", [slow]);
    let all = futures::future::join_all((0..100).map(|_| lab.send(read()))).await;
    assert!(all.iter().all(|seen| seen.status().code() == 200));
    assert_eq!(lab.regions.container_reads().len(), 1);
    tokio::time::sleep(s(1)).await;
    lab.regions.clear_wire();
    let all = futures::future::join_all((0..100).map(|_| range(&lab))).await;
    assert!(all.iter().all(|id| *id == Some(RangeId::from(1))));
    let reads = lab.regions.container_reads();
    assert_eq!(reads.len(), 3, "properties, ranges, no more: {reads}");
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_leaves_does_not_end_the_read_for_the_others() {
    let lab = lab();
    let slow = Step::status(503, 0).after(ms(100));
    lab.regions.script_container_reads("A", [slow]);
    let (left, stayed) = tokio::join!(tokio::time::timeout(ms(10), lab.send(read())), range(&lab),);
    assert!(left.is_err());
    assert_eq!(stayed, Some(RangeId::from(0)));
}

#[tokio::test(start_paused = true)]
async fn a_failed_read_is_not_tried_again_for_a_second() {
    let lab = lab();
    lab.regions
        .script_container_reads("A", [Step::status(404, 0).forever()]);
    for _ in 0..30 {
        for _ in 0..10 {
            assert_eq!(range(&lab).await, None);
        }
        tokio::time::sleep(ms(100)).await;
    }
    assert_eq!(lab.regions.container_reads().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_throttled_read_is_repeated() {
    let lab = lab();
    let throttled = Step::status(429, 3200).hint("20");
    lab.regions
        .script_container_reads("A", [throttled.clone(), throttled]);
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    let reads = lab.regions.container_reads();
    assert_eq!(reads.regions(), "A A A A A", "{reads}");
}

#[tokio::test(start_paused = true)]
async fn a_read_moves_on_to_a_region_that_answers() {
    for step in [
        Step::status(503, 0),
        Step::status(500, 0),
        Step::status(410, 1022),
        Step::fail(FailureKind::Dns),
    ] {
        let lab = lab();
        lab.regions
            .script_container_reads("A", [step.clone().forever()]);
        assert_eq!(range(&lab).await, Some(RangeId::from(0)), "{step:?}");
        assert!(lab.regions.container_reads().regions().starts_with("A B"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_of_a_region_that_hangs_moves_on_though_nobody_waits_for_it() {
    let lab = lab();
    lab.regions
        .script_container_reads("A", [Step::hang().forever()]);
    assert_eq!(range(&lab).await, None);
    tokio::time::sleep(s(30)).await;
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
}

#[tokio::test(start_paused = true)]
async fn every_read_is_signed_and_dated_and_asks_for_changes() {
    let lab = lab();
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    let reads = lab.regions.container_reads();
    for entry in &reads.0 {
        assert!(!entry.header("authorization").is_empty());
        assert!(!entry.header("x-ms-date").is_empty());
        assert!(!entry.header("x-ms-version").is_empty());
    }
    let paths: Vec<&str> = reads.0.iter().map(|entry| &*entry.path).collect();
    let ranges = format!("/{LINK}/pkranges");
    assert_eq!(paths, [&*format!("/{LINK}"), &*ranges, &*ranges]);
    for entry in &reads.0[1..] {
        assert_eq!(entry.header("a-im"), "Incremental Feed");
        assert_eq!(entry.header("x-ms-max-item-count"), "-1");
    }
    assert_eq!(reads.0[1].header("if-none-match"), "");
    assert_eq!(reads.0[2].header("if-none-match"), "\"rid-1\"");
}

#[tokio::test(start_paused = true)]
async fn the_regions_that_the_account_excludes_are_not_asked() {
    let lab = Lab::around(
        Document::multi_write(["A", "B", "C"]),
        |account| account.excluded_regions(["A"]),
        layers,
    );
    lab.regions.set_container(LINK, Container::new("rid"));
    assert_eq!(range(&lab).await, Some(RangeId::from(0)));
    assert_eq!(lab.regions.container_reads().count("A"), 0);
}

#[tokio::test(start_paused = true)]
async fn reads_of_containers_mark_an_endpoint_only_if_it_cannot_be_reached() {
    for (step, expected) in [
        (Step::status(503, 0), "A"),
        (Step::fail(FailureKind::AttemptTimeout), "A"),
        (Step::fail(FailureKind::Dns), "B"),
    ] {
        let lab = lab();
        for _ in 0..20 {
            lab.regions.script_container_reads("A", [step.clone()]);
        }
        assert_eq!(range(&lab).await, Some(RangeId::from(0)));
        assert_eq!(lab.wire().regions(), expected, "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_container_used_longest_ago_makes_room() {
    let lab = Lab::around(
        Document::multi_write(["A", "B"]),
        |account| account,
        |account| layers(account).partition(|layer| layer.max_containers(2)),
    );
    let reads = async |name: &str| {
        lab.regions.clear_wire();
        let journal = journal(&lab, in_container(name)).await;
        assert_eq!(journal.range(), Some(RangeId::from(0)));
        lab.regions.container_reads().len()
    };
    for name in ["a", "b", "c"] {
        let link = format!("dbs/d/colls/{name}");
        lab.regions.set_container(&link, Container::new(name));
    }
    assert_eq!((reads("a").await, reads("b").await), (3, 3));
    assert_eq!(reads("a").await, 0);
    assert_eq!(reads("c").await, 3);
    assert_eq!((reads("a").await, reads("b").await), (0, 3));
}

#[tokio::test(start_paused = true)]
async fn a_map_of_many_pages_is_read_to_the_last() {
    let mut container = Container::new("rid").paged(2);
    for number in 0..30 {
        let last = if number == 0 {
            "0".to_owned()
        } else {
            format!("r{number}")
        };
        let at = format!("{:02X}", number + 1);
        let next = format!("r{}", number + 1);
        container = container.split(&last, &at, [&format!("l{number}"), &next]);
    }
    let lab = around(container);
    let id = range(&lab).await.unwrap().to_string();
    assert!(id.starts_with('l') || id.starts_with('r'), "{id}");
    let reads = lab.regions.container_reads();
    assert_eq!(reads.len(), 1 + 16 + 1, "31 ranges by twos: {reads}");
}

/// The regions of the reads of ranges, and whether each continued an earlier one.
fn continued(lab: &Lab) -> Vec<(String, bool)> {
    let reads = lab.regions.container_reads();
    let ranges = reads
        .0
        .iter()
        .filter(|entry| entry.path.ends_with("/pkranges"));
    ranges
        .map(|entry| {
            let continues = !entry.header("if-none-match").is_empty();
            (entry.region.clone(), continues)
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_region_that_dies_between_two_pages_is_left_and_all_begun_anew_elsewhere() {
    let lab = around(split().split("2", "30", ["3", "4"]).paged(1));
    // Properties and the first page are there, and then nothing any more.
    let good = |body: String| Step::status(200, 0).body(body);
    let first = r#"{"_rid":"rid","PartitionKeyRanges":[
        {"id":"1","minInclusive":"","maxExclusive":"20","parents":["0"]}]}"#;
    let properties = r#"{"id":"c","_rid":"rid",
        "partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    lab.regions.script_container_reads(
        "A",
        [
            good(properties.to_owned()),
            good(first.to_owned()).header(http::header::ETAG, "\"a-1\""),
            Step::fail(FailureKind::Dns).forever(),
        ],
    );
    assert_eq!(range(&lab).await, Some(RangeId::from(1)));
    let expected: Vec<_> = [
        ("A", false),
        ("A", true),
        ("B", true),
        ("B", false),
        ("B", true),
        ("B", true),
        ("B", true),
    ]
    .map(|(region, continues)| (region.to_owned(), continues))
    .into();
    assert_eq!(continued(&lab), expected);
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_is_dropped_leaves_no_read_behind() {
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let lab = lab();
    for region in ["A", "B", "C"] {
        lab.regions
            .script_container_reads(region, [Step::hang().forever()]);
    }
    assert_eq!(range(&lab).await, None);
    assert!(lab.regions.open() > 0);
    let regions = lab.regions.clone();
    drop(lab);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!((tasks(), regions.open()), (0, 0));
}
