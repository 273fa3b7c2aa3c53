//! Where partitions take their writes, as far as that has been seen.
#![allow(missing_docs, clippy::unwrap_used)]

mod reference;
mod rules;

use cosmos_core::write_regions::WriteRegions;
use cosmos_core::{Partition, RangeId, Region};

fn region(name: &str) -> Region {
    Region::named(name).unwrap()
}

fn carts(range: &RangeId) -> Partition<'_> {
    Partition {
        container: "dbs/shop/colls/carts",
        range: Some(range),
    }
}

#[test]
fn nothing_is_remembered_of_partitions_that_the_hub_serves() {
    let (regions, range, hub) = (WriteRegions::default(), RangeId::from(7), region("Hub"));
    assert_eq!(regions.remembered(carts(&range)), None);
    regions.confirmed(carts(&range), hub, hub, 1);
    assert_eq!(regions.remembered(carts(&range)), None);
    assert!(regions.is_empty());
    assert_eq!(regions.len(), 0);
}

#[test]
fn another_region_is_remembered_for_its_partition_alone() {
    let (regions, range) = (WriteRegions::default(), RangeId::from(7));
    let (hub, a) = (region("Hub"), region("A"));
    regions.confirmed(carts(&range), a, hub, 1);
    assert_eq!(regions.remembered(carts(&range)), Some(a));
    assert_eq!(regions.len(), 1);
    assert!(!regions.is_empty());
    let other = RangeId::from(8);
    assert_eq!(regions.remembered(carts(&other)), None);
    // The hub serves the other one: that says nothing of this one.
    regions.confirmed(carts(&other), hub, hub, 2);
    assert_eq!(regions.remembered(carts(&range)), Some(a));
    let elsewhere = Partition {
        container: "dbs/shop/colls/other",
        range: Some(&range),
    };
    assert_eq!(regions.remembered(elsewhere), None);
}

#[test]
fn the_hub_that_confirms_again_ends_it() {
    let (regions, range) = (WriteRegions::default(), RangeId::from(7));
    let (hub, a) = (region("Hub"), region("A"));
    regions.confirmed(carts(&range), a, hub, 1);
    regions.confirmed(carts(&range), hub, hub, 2);
    assert_eq!(regions.remembered(carts(&range)), None);
    assert!(regions.is_empty());
}

#[test]
fn a_region_that_became_the_hub_is_the_hub() {
    let (regions, range) = (WriteRegions::default(), RangeId::from(7));
    let (hub, a) = (region("Hub"), region("A"));
    regions.confirmed(carts(&range), a, hub, 1);
    regions.confirmed(carts(&range), a, a, 2);
    assert_eq!(regions.remembered(carts(&range)), None);
}

#[test]
fn only_what_is_newer_than_the_record_changes_it() {
    let (regions, range) = (WriteRegions::default(), RangeId::from(7));
    let (hub, a, b) = (region("Hub"), region("A"), region("B"));
    regions.confirmed(carts(&range), a, hub, 10);
    for old in [1, 9, 10] {
        regions.confirmed(carts(&range), b, hub, old);
        regions.confirmed(carts(&range), hub, hub, old);
        assert_eq!(regions.remembered(carts(&range)), Some(a), "{old}");
    }
    // The same region again is newer knowledge, too.
    regions.confirmed(carts(&range), a, hub, 20);
    regions.confirmed(carts(&range), b, hub, 15);
    assert_eq!(regions.remembered(carts(&range)), Some(a));
    regions.confirmed(carts(&range), b, hub, 21);
    assert_eq!(regions.remembered(carts(&range)), Some(b));
}

#[test]
fn what_the_hub_ended_does_not_come_back_with_a_slow_answer() {
    let (regions, range) = (WriteRegions::default(), RangeId::from(7));
    let (hub, a) = (region("Hub"), region("A"));
    regions.confirmed(carts(&range), a, hub, 1);
    regions.confirmed(carts(&range), hub, hub, 10);
    for old in [5, 10] {
        regions.confirmed(carts(&range), a, hub, old);
        assert_eq!(regions.remembered(carts(&range)), None);
    }
    regions.confirmed(carts(&range), a, hub, 11);
    assert_eq!(regions.remembered(carts(&range)), Some(a));
}

#[test]
fn a_failover_of_the_account_ends_all_and_keeps_slow_answers_out() {
    let regions = WriteRegions::default();
    let (hub, a) = (region("Hub"), region("A"));
    let ranges: Vec<RangeId> = (0..1000).map(RangeId::from).collect();
    for (sequence, range) in (1..).zip(&ranges) {
        regions.confirmed(carts(range), a, hub, sequence);
    }
    assert_eq!(regions.len(), 1000);
    regions.clear(1005);
    assert_eq!(regions.len(), 0);
    for range in &ranges {
        regions.confirmed(carts(range), a, hub, 1005);
        assert_eq!(regions.remembered(carts(range)), None);
    }
    regions.confirmed(carts(&ranges[3]), a, hub, 1006);
    assert_eq!(regions.remembered(carts(&ranges[3])), Some(a));
}

#[test]
fn a_forgotten_container_and_a_forgotten_range_are_not_remembered() {
    let regions = WriteRegions::default();
    let (hub, a) = (region("Hub"), region("A"));
    let (range, other) = (RangeId::from(7), RangeId::from(8));
    let elsewhere = Partition {
        container: "dbs/shop/colls/other",
        range: Some(&range),
    };
    for partition in [carts(&range), carts(&other), elsewhere] {
        regions.confirmed(partition, a, hub, 1);
    }
    regions.forget_range("dbs/shop/colls/carts", &range, 1);
    assert_eq!(regions.remembered(carts(&range)), None);
    assert_eq!(regions.remembered(carts(&other)), Some(a));
    assert_eq!(regions.len(), 2);
    regions.forget_container("dbs/shop/colls/carts", 1);
    assert_eq!(regions.remembered(carts(&other)), None);
    assert_eq!(regions.remembered(elsewhere), Some(a));
    // Its successor's partitions are remembered anew, and drive the old ones out.
    regions.confirmed(carts(&other), a, hub, 2);
    assert_eq!(regions.remembered(carts(&other)), Some(a));
    for _ in 0..4 {
        regions.confirmed(carts(&other), a, hub, 3);
    }
    assert_eq!(regions.len(), 2);
}

#[test]
fn what_does_not_fit_is_not_remembered_and_counted() {
    let regions = WriteRegions::with_capacity(100);
    let (hub, a) = (region("Hub"), region("A"));
    for number in 0..1000 {
        let range = RangeId::from(number);
        regions.confirmed(carts(&range), a, hub, u64::from(number));
        let fits = number < 100;
        assert_eq!(
            regions.remembered(carts(&range)).is_some(),
            fits,
            "{number}"
        );
    }
    assert_eq!(regions.len(), 100);
    assert_eq!(regions.unremembered(), 900);
    // Those that are known can still change.
    let range = RangeId::from(50);
    regions.confirmed(carts(&range), region("B"), hub, 5000);
    assert_eq!(regions.remembered(carts(&range)), Some(region("B")));
    // And what ends makes room.
    regions.confirmed(carts(&range), hub, hub, 5001);
    let range = RangeId::from(2000);
    regions.confirmed(carts(&range), a, hub, 5002);
    assert_eq!(regions.remembered(carts(&range)), Some(a));
    assert_eq!(regions.unremembered(), 900);
}

#[test]
fn a_forgotten_container_makes_room() {
    let regions = WriteRegions::with_capacity(50);
    let (hub, a) = (region("Hub"), region("A"));
    for number in 1..=50 {
        let range = RangeId::from(number);
        regions.confirmed(carts(&range), a, hub, 1);
    }
    regions.forget_container("dbs/shop/colls/carts", 1);
    for number in 1..=2000 {
        let range = RangeId::from(number);
        let partition = Partition {
            container: "dbs/shop/colls/other",
            range: Some(&range),
        };
        regions.confirmed(partition, a, hub, 2);
    }
    let remembered = (1..=2000).filter(|number| {
        let range = RangeId::from(*number);
        let partition = Partition {
            container: "dbs/shop/colls/other",
            range: Some(&range),
        };
        regions.remembered(partition).is_some()
    });
    assert_eq!(remembered.count(), 50);
}

#[test]
fn two_hundred_thousand_fit_by_default() {
    let regions = WriteRegions::default();
    let (hub, a) = (region("Hub"), region("A"));
    for number in 0..200_001 {
        let range = RangeId::from(number);
        regions.confirmed(carts(&range), a, hub, 1);
    }
    assert_eq!(regions.len(), 200_000);
    assert_eq!(regions.unremembered(), 1);
}
