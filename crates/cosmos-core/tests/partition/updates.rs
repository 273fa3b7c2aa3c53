//! From one map to the next.

use cosmos_core::partition::{RangeMap, RangeMapError, RangePage};
use http::HeaderValue;

use crate::{build, epk, ids, lsn_page, page, range, three};

#[test]
fn an_empty_page_after_a_good_map_keeps_its_ranges() {
    let map = three().updated([page(&[])]).unwrap();
    assert_eq!(ids(map.ids()), "0 1 2");
}

#[test]
fn the_last_page_says_where_to_go_on() {
    let at = |etag: &'static str| Some(HeaderValue::from_static(etag));
    let all = page(&[("0", "", "FF", "")]);
    let map = RangeMap::build([all.clone().continuation(at("1"))]).unwrap();
    assert_eq!(map.continuation(), at("1").as_ref());
    let next = map.updated([page(&[]).continuation(at("2"))]).unwrap();
    assert_eq!(next.continuation(), at("2").as_ref());
    let unknown = next.updated([page(&[])]).unwrap();
    assert_eq!(unknown.continuation(), None);
    let shown = format!("{map:?}");
    assert!(
        shown.contains("ranges: 1") && shown.contains("c0"),
        "{shown}"
    );
}

#[test]
fn after_a_split_the_children_know_their_parent() {
    let split = [("3", "3F", "5F", "1"), ("4", "5F", "7F", "1")];
    let map = three().updated([page(&split)]).unwrap();
    assert_eq!(ids(map.ids()), "0 3 4 2");
    assert_eq!(ids(map.ancestors(&"3".into())), "1");
    assert_eq!(ids(map.ancestors(&"4".into())), "1");
    assert_eq!(ids(map.ancestors(&"0".into())), "");
    assert_eq!(ids(map.ancestors(&"1".into())), "", "it is no longer there");
    assert_eq!(ids(map.descendants(&"1".into())), "3 4");
    assert_eq!(ids(map.descendants(&"0".into())), "");
    assert!(map.contains(&"3".into()) && !map.contains(&"1".into()));
    assert_eq!(ids(&map.gone_since(&three())), "1");
    assert!(map.gone_since(&map).is_empty());
}

#[test]
fn after_a_merge_the_child_knows_both_parents() {
    let map = three().updated([page(&[("3", "", "7F", "1 0")])]).unwrap();
    assert_eq!(ids(map.ids()), "3 2");
    assert_eq!(ids(map.ancestors(&"3".into())), "0 1");
    assert_eq!(ids(&map.gone_since(&three())), "0 1");
    assert_eq!(ids(map.descendants(&"0".into())), "3");
}

#[test]
fn cascaded_splits_arrive_in_any_order() {
    let one = build(&[("0", "", "FF", "")]).unwrap();
    let entries = [
        ("3", "", "1F", "0 1"),
        ("4", "1F", "3F", "0 1"),
        ("2", "3F", "FF", "0"),
        ("1", "", "3F", "0"),
    ];
    for rotation in 0..entries.len() {
        let mut entries = entries;
        entries.rotate_left(rotation);
        let map = one.updated(entries.map(|entry| page(&[entry]))).unwrap();
        assert_eq!(ids(map.ids()), "3 4 2");
        assert_eq!(ids(map.ancestors(&"4".into())), "0 1");
        // The step between the two may never have been seen.
        let unseen = entries.into_iter().filter(|entry| entry.0 != "1");
        let map = one.updated(unseen.map(|entry| page(&[entry]))).unwrap();
        assert_eq!(ids(map.ids()), "3 4 2");
    }
}

#[test]
fn ancestors_are_known_even_if_children_name_only_their_parents() {
    let one = build(&[("0", "", "FF", "")]).unwrap();
    let split = page(&[("1", "", "3F", "0"), ("2", "3F", "FF", "0")]);
    let again = page(&[("3", "", "1F", "1"), ("4", "1F", "3F", "1")]);
    let merged = page(&[("5", "1F", "FF", "4 2")]);
    let at_once = one.updated([again.clone(), merged.clone(), split.clone()]);
    let step_by_step = [split, again, merged]
        .into_iter()
        .try_fold(one, |map, page| map.updated([page]));
    for map in [at_once.unwrap(), step_by_step.unwrap()] {
        assert_eq!(ids(map.ids()), "3 5");
        assert_eq!(ids(map.ancestors(&"3".into())), "0 1");
        assert_eq!(ids(map.ancestors(&"5".into())), "0 1 2 4");
        assert_eq!(ids(map.descendants(&"1".into())), "3 5");
    }
}

#[test]
fn a_delta_that_leaves_a_gap_is_refused_and_the_old_map_is_as_it_was() {
    let map = three();
    let half = page(&[("3", "3F", "5F", "1")]);
    assert!(matches!(map.updated([half]), Err(RangeMapError::Gap { at }) if at == epk("5F")));
    assert_eq!(ids(map.ids()), "0 1 2");
    let stranger = page(&[("9", "10", "20", "")]);
    let refused = map.updated([stranger]);
    assert!(matches!(refused, Err(RangeMapError::Overlap { at }) if at == epk("10")));
}

#[test]
fn a_page_that_comes_late_does_not_bring_a_gone_range_back() {
    let split = page(&[("3", "3F", "5F", "1"), ("4", "5F", "7F", "1")]);
    let map = three().updated([split]).unwrap();
    let again = page(&[("5", "3F", "4F", "3"), ("6", "4F", "5F", "3")]);
    let map = map.updated([again]).unwrap();
    let late = page(&[("1", "3F", "7F", ""), ("0", "", "3F", "")]);
    let map = map.updated([late]).unwrap();
    assert_eq!(ids(map.ids()), "0 5 6 4 2");
    assert_eq!(ids(map.ancestors(&"5".into())), "1 3");
}

#[test]
fn of_two_records_of_a_range_the_newer_counts() {
    let (wide, narrow) = (("0", "", "FF", ""), ("0", "", "3F", ""));
    let rest = (("1", "3F", "FF", ""), 1);
    // The greater number, wherever it stands.
    for pages in [
        vec![lsn_page(&[(wide, 4), (narrow, 5), rest])],
        vec![lsn_page(&[(narrow, 5), rest]), lsn_page(&[(wide, 4)])],
        vec![lsn_page(&[(wide, 4), rest]), lsn_page(&[(narrow, 5)])],
        // Of equal ones, and where one is missing, the later.
        vec![lsn_page(&[(wide, 5), rest]), lsn_page(&[(narrow, 5)])],
        vec![lsn_page(&[(wide, 5), rest]), page(&[narrow])],
        vec![page(&[wide]), lsn_page(&[rest, (narrow, -1)])],
        vec![page(&[wide]), page(&[narrow]), lsn_page(&[rest])],
    ] {
        let map = RangeMap::build(pages).unwrap();
        assert_eq!(ids(map.ids()), "0 1");
    }
    let map = RangeMap::build([lsn_page(&[(narrow, 5), rest])]).unwrap();
    assert!(map.updated([lsn_page(&[(wide, 4)])]).is_ok());
    assert!(map.updated([lsn_page(&[(wide, 6)])]).is_err());
}

#[test]
fn parents_that_any_record_of_a_range_names_are_parents() {
    let rest = ("2", "3F", "FF", "");
    for (first, second) in [(1, 2), (2, 1), (1, 1)] {
        let a = lsn_page(&[(("1", "", "3F", "0 8"), first), (rest, 1)]);
        let b = lsn_page(&[(("1", "", "3F", "9 8"), second)]);
        let map = RangeMap::build([a, b]).unwrap();
        assert_eq!(ids(map.ancestors(&"1".into())), "0 8 9");
        let map = map.updated([page(&[("1", "", "3F", "")])]).unwrap();
        assert_eq!(ids(map.ancestors(&"1".into())), "0 8 9");
    }
}

#[test]
fn pages_of_different_containers_make_no_map() {
    let other = page(&[("1", "3F", "FF", "")]);
    let of = |rid: &str| {
        let body = format!(
            r#"{{"_rid":"{rid}","PartitionKeyRanges":[{}]}}"#,
            range(("0", "", "3F", ""), None)
        );
        RangePage::parse(body.as_bytes()).unwrap()
    };
    let mixed = RangeMap::build([of("c1"), other.clone()]);
    assert!(matches!(mixed, Err(RangeMapError::OtherContainer)));
    let map = RangeMap::build([of("c0"), other]).unwrap();
    let recreated = map.updated([of("c1")]);
    assert!(matches!(recreated, Err(RangeMapError::OtherContainer)));
    let unnamed = lsn_page(&[]);
    assert_eq!(map.updated([unnamed]).unwrap().container(), Some("c0"));
    let named_late = RangeMap::build([lsn_page(&[(("0", "", "FF", ""), 1)])]).unwrap();
    assert_eq!(named_late.container(), None);
    let named = named_late.updated([page(&[])]).unwrap();
    assert_eq!(named.container(), Some("c0"));
}
