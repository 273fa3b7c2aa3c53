//! Whatever a server sends: never a panic, never a map with a hole, never more work than there is
//! to read.

use cosmos_core::partition::{RangeMap, RangeMapError, RangePage};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{body, build, epk, ids, range};

const BOUNDS: [&str; 6] = ["", "10", "1080", "3F", "3FFFFF", "FF"];
/// A key in the middle of each piece between two bounds.
const KEYS: [&str; 5] = ["05", "1000FF", "20", "3FFFF0", "7F"];

#[derive(Clone, Debug)]
struct Listed {
    id: usize,
    /// Indices of bounds.
    min: usize,
    max: usize,
    parents: Vec<usize>,
    lsn: Option<i64>,
}

fn listed() -> impl Strategy<Value = Listed> {
    let parents = prop_oneof![4 => Just(vec![]), 1 => prop::collection::vec(0..8_usize, 1..3)];
    let lsn = prop::option::of(0..4_i64);
    (0..8_usize, 0..5_usize, 1..6_usize, parents, lsn)
        .prop_filter("bounds in order", |(_, min, max, ..)| min < max)
        .prop_map(|(id, min, max, parents, lsn)| Listed {
            id,
            min,
            max,
            parents,
            lsn,
        })
}

/// The rules, one after the other, with no regard to speed.
fn reference(listed: &[Listed]) -> Option<Vec<Listed>> {
    let gone: Vec<usize> = listed.iter().flat_map(|one| one.parents.clone()).collect();
    let mut newest: Vec<Listed> = Vec::new();
    for one in listed {
        match newest.iter_mut().find(|known| known.id == one.id) {
            None => newest.push(one.clone()),
            Some(known) => {
                let older = known
                    .lsn
                    .zip(one.lsn)
                    .is_some_and(|(known, new)| new < known);
                if !older {
                    *known = one.clone();
                }
            }
        }
    }
    newest.retain(|one| !gone.contains(&one.id));
    newest.sort_by_key(|one| one.min);
    let mut end = 0;
    for one in &newest {
        if one.min != end {
            return None;
        }
        end = one.max;
    }
    (end == BOUNDS.len() - 1).then_some(newest)
}

fn pages(listed: &[Listed], size: usize) -> Vec<RangePage> {
    let entries: Vec<String> = listed
        .iter()
        .map(|one| {
            let parents: Vec<String> = one.parents.iter().map(ToString::to_string).collect();
            let (min, max) = (BOUNDS[one.min], BOUNDS[one.max]);
            range((&one.id.to_string(), min, max, &parents.join(" ")), one.lsn)
        })
        .collect();
    let pages = entries.chunks(size).map(|entries| {
        let body = format!(r#"{{"PartitionKeyRanges":[{}]}}"#, entries.join(","));
        RangePage::parse(body.as_bytes()).unwrap()
    });
    pages.collect()
}

fn check(map: Option<&RangeMap>, expected: Option<&[Listed]>) -> Result<(), TestCaseError> {
    let (Some(map), Some(expected)) = (map, expected) else {
        prop_assert_eq!(map.is_some(), expected.is_some());
        return Ok(());
    };
    let expected_ids: Vec<String> = expected.iter().map(|one| one.id.to_string()).collect();
    prop_assert_eq!(ids(map.ids()), expected_ids.join(" "));
    for (piece, key) in KEYS.iter().enumerate() {
        let one = expected
            .iter()
            .find(|one| one.min <= piece && piece < one.max)
            .unwrap();
        prop_assert_eq!(map.find(&epk(key)).to_string(), one.id.to_string());
    }
    Ok(())
}

/// Ranges from end to end, among which random ones may stand.
fn whole() -> impl Strategy<Value = Vec<Listed>> {
    prop::sample::subsequence(vec![1, 2, 3, 4], 0..=4).prop_map(|mut cuts| {
        cuts.insert(0, 0);
        cuts.push(5);
        let pairs = cuts.windows(2).enumerate();
        pairs
            .map(|(id, pair)| Listed {
                id,
                min: pair[0],
                max: pair[1],
                parents: vec![],
                lsn: None,
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn random_pages_are_read_as_the_rules_say(
        whole in whole(),
        more in prop::collection::vec(listed(), 0..5),
        places in prop::collection::vec(any::<Index>(), 5),
        size in 1..5_usize,
    ) {
        let mut listed = whole;
        for (one, place) in more.into_iter().zip(places) {
            listed.insert(place.index(listed.len() + 1), one);
        }
        let map = RangeMap::build(pages(&listed, size)).ok();
        check(map.as_ref(), reference(&listed).as_deref())?;
    }

    #[test]
    fn random_updates_are_read_as_the_rules_say(
        whole in whole(),
        more in prop::collection::vec(listed(), 1..5),
        size in 1..5_usize,
    ) {
        let before = RangeMap::build(pages(&whole, size)).unwrap();
        let map = before.updated(pages(&more, size)).ok();
        let all = [whole, more].concat();
        check(map.as_ref(), reference(&all).as_deref())?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = RangePage::parse(&bytes);
    }

    #[test]
    fn a_damaged_page_is_read_or_refused(
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<Index>()),
    ) {
        let entries = [("1", "", "1F", "0"), ("2", "1F", "3f00", "0"), ("3", "3F", "FF", "")];
        let mut bytes = body(&entries).into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        if let Ok(map) = RangePage::parse(&bytes).and_then(|page| RangeMap::build([page])) {
            prop_assert!(map.len() > 0);
            for key in ["", "1E", "1F", "3E", "3F", "FF"] {
                prop_assert!(map.contains(map.find(&epk(key))));
            }
        }
    }
}

/// Ranges of the ids from `first` on, which all come from range 0, a range with its own parents.
fn children(count: usize, parents: usize) -> Result<RangeMap, RangeMapError> {
    let first = 10_000;
    let bound = |n: usize| match n {
        0 => String::new(),
        n if n == count => "FF".to_owned(),
        n => format!("{n:08X}"),
    };
    let ids: Vec<String> = (1..=parents).map(|id| id.to_string()).collect();
    let mut ranges = vec![range(("0", "", "FF", &ids.join(" ")), None)];
    for n in 0..count {
        let id = (first + n).to_string();
        ranges.push(range((&id, &bound(n), &bound(n + 1), "0"), None));
    }
    let body = format!(r#"{{"PartitionKeyRanges":[{}]}}"#, ranges.join(","));
    RangeMap::build([RangePage::parse(body.as_bytes())?])
}

#[test]
fn a_range_inherits_at_most_1000_ancestors() {
    let map = children(2, 999).unwrap();
    assert_eq!(map.ancestors(&"10001".into()).len(), 1000);
    assert!(matches!(
        children(2, 1000),
        Err(RangeMapError::TooManyParents)
    ));
}

#[test]
fn all_ranges_together_inherit_at_most_two_million_ancestors() {
    assert!(children(4000, 500).is_ok());
    let error = children(4001, 500).unwrap_err();
    assert!(matches!(error, RangeMapError::TooManyParents));
}

#[test]
fn records_of_one_range_have_at_most_1000_parents_together() {
    let records = |count: usize| {
        let ids: Vec<String> = (1..=count).map(|id| id.to_string()).collect();
        let (half, rest) = ids.split_at(500);
        let (half, rest) = (half.join(" "), rest.join(" "));
        let both = [
            ("0", "", "FF", &*half),
            ("0", "", "FF", &*rest),
            ("0", "", "FF", &*half),
        ];
        build(&both).map(|map| map.ancestors(&"0".into()).len())
    };
    assert_eq!(records(999).unwrap(), 999);
    assert_eq!(records(1000).unwrap(), 1000);
    assert!(matches!(records(1001), Err(RangeMapError::TooManyParents)));
}

#[test]
fn ancestors_that_are_each_the_others_do_not_hold_anybody_up() {
    let map = build(&[
        ("1", "", "10", "2"),
        ("2", "10", "20", "3"),
        ("3", "20", "30", "1"),
        ("4", "", "FF", "1"),
    ]);
    assert_eq!(ids(map.unwrap().ancestors(&"4".into())), "1 2 3");
}

#[test]
fn a_range_that_is_listed_again_and_again_is_one_range() {
    let parents: Vec<String> = (1..=999).map(|id| id.to_string()).collect();
    let long = range(("0", "", "FF", &parents.join(" ")), None);
    let short = range(("0", "", "FF", "7"), None);
    let ranges = [vec![long.clone()], vec![short; 50_000], vec![long]].concat();
    let body = format!(r#"{{"PartitionKeyRanges":[{}]}}"#, ranges.join(","));
    let map = RangeMap::build([RangePage::parse(body.as_bytes()).unwrap()]).unwrap();
    assert_eq!(map.ancestors(&"0".into()).len(), 999);
}

#[test]
fn a_range_that_is_gone_has_few_parents_too() {
    let records = |last: usize| {
        let ids: Vec<String> = (1..=last).map(|id| id.to_string()).collect();
        let mut ranges = vec![range(("9999", "", "FF", "0"), None)];
        let parents = ids.chunks(1000).map(|ids| ids.join(" "));
        ranges.extend(parents.map(|ids| range(("0", "", "FF", &ids), None)));
        let body = format!(r#"{{"PartitionKeyRanges":[{}]}}"#, ranges.join(","));
        RangeMap::build([RangePage::parse(body.as_bytes()).unwrap()])
    };
    assert_eq!(records(999).unwrap().ancestors(&"9999".into()).len(), 1000);
    for last in [1000, 2000, 2001, 9000] {
        assert!(
            matches!(records(last), Err(RangeMapError::TooManyParents)),
            "{last}"
        );
    }
}
