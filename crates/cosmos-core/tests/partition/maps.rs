//! From pages to maps, and from keys to ranges.

use cosmos_core::partition::PartitionKeyKind::MultiHash;
use cosmos_core::partition::{EpkTarget, RangeMap, RangeMapError, RangePage};
use http::HeaderValue;

use crate::{build, definition, epk, ids, page, range, three};

#[test]
fn a_key_is_in_the_range_that_begins_at_or_before_it() {
    let map = three();
    assert_eq!(ids(map.ids()), "0 1 2", "in the order of the bounds");
    assert_eq!((map.len(), map.container()), (3, Some("c0")));
    for (key, expected) in [
        ("", "0"),
        ("00", "0"),
        ("3EFFFF", "0"),
        ("3F", "1"),
        ("3F0000", "1"),
        ("3F01", "1"),
        ("7EFF", "1"),
        ("7F", "2"),
        ("FEFFFFFF", "2"),
        ("FF", "2"),
        ("FFFF", "2"),
    ] {
        assert_eq!(map.find(&epk(key)), &expected.into(), "{key}");
        let point = EpkTarget::Point(epk(key));
        assert_eq!(map.find_target(&point), Some(&expected.into()), "{key}");
    }
}

#[test]
fn the_beginning_of_a_key_has_a_range_only_if_it_lies_within_one() {
    let two = definition(MultiHash, 2);
    let target = two.effective(&"redmond".into()).unwrap();
    let beginning = "22E342F38A486A088463DFF7838A5963";
    let whole = three();
    assert_eq!(whole.find_target(&target), Some(&"0".into()));
    let inside = format!("{beginning}20");
    let cut = build(&[("0", "", &inside, ""), ("1", &inside, "FF", "")]).unwrap();
    assert_eq!(cut.find_target(&target), None, "it is spread over two");
    // A split at the beginning itself, in the short form and in the padded one.
    for bound in [beginning.to_owned(), format!("{beginning:0<64}")] {
        let at = build(&[("0", "", &bound, ""), ("1", &bound, "FF", "")]).unwrap();
        assert_eq!(at.find_target(&target), Some(&"1".into()), "{bound}");
        let end = format!("{beginning}FF");
        let both = [
            ("0", "", &*bound, ""),
            ("1", &*bound, &*end, ""),
            ("2", &*end, "FF", ""),
        ];
        let at = build(&both).unwrap();
        assert_eq!(at.find_target(&target), Some(&"1".into()), "{bound}");
    }
    let closed = |at: &str| EpkTarget::Range {
        min: epk(at),
        max: epk(at),
    };
    for (at, expected) in [("3EFF", "0"), ("3F", "1"), ("7F", "2")] {
        let found = whole.find_target(&closed(at));
        assert_eq!(found, Some(&expected.into()), "{at} to {at} is a point");
    }
    let all = two.effective(&cosmos_core::PartitionKey::empty()).unwrap();
    assert_eq!(whole.find_target(&all), None);
    let one = build(&[("0", "", "FF", "")]).unwrap();
    assert_eq!(one.find_target(&all), Some(&"0".into()));
}

#[test]
fn bounds_of_different_lengths_meet_if_only_zeros_differ() {
    let short = "06AB34CFE4E482236BCACBBF50E234AB";
    let long = format!("{short}{}", "00".repeat(16));
    let map = build(&[("1", &long, "FF", ""), ("0", "", short, "")]).unwrap();
    assert_eq!(map.find(&epk(short)), &"1".into());
    assert_eq!(map.find(&epk(&long)), &"1".into());
    assert!(
        build(&[("0", "00", "FF", "")]).is_ok(),
        "nor does the start"
    );
}

#[test]
fn pages_without_a_range_never_make_a_map() {
    assert!(matches!(RangeMap::build([]), Err(RangeMapError::Empty)));
    let empty = [page(&[]), page(&[])];
    assert!(matches!(RangeMap::build(empty), Err(RangeMapError::Empty)));
    assert!(matches!(three().updated([]), Err(RangeMapError::Empty)));
}

#[test]
fn ranges_that_leave_a_gap_are_refused() {
    for (entries, at) in [
        (&[("0", "", "3F", ""), ("1", "40", "FF", "")][..], "3F"),
        (&[("0", "01", "FF", "")], ""),
        (&[("0", "", "FE", "")], "FE"),
        (&[("0", "", "3F", ""), ("1", "3F01", "FF", "")], "3F"),
        // Each the other's parent: none is left.
        (&[("0", "", "3F", "1"), ("1", "3F", "FF", "0")], ""),
        (&[("0", "", "FF", "0")], ""),
    ] {
        match build(entries) {
            Err(RangeMapError::Gap { at: found }) => assert_eq!(found, epk(at)),
            other => panic!("{entries:?}: {other:?}"),
        }
    }
}

#[test]
fn ranges_that_overlap_are_refused() {
    for (entries, at) in [
        (&[("0", "", "40", ""), ("1", "3F", "FF", "")][..], "3F"),
        (&[("0", "", "FF", ""), ("1", "", "FF", "")], ""),
        (&[("0", "", "FF", ""), ("1", "40", "50", "")], "40"),
        (&[("0", "", "FF01", "")], "FF"),
    ] {
        match build(entries) {
            Err(RangeMapError::Overlap { at: found }) => assert_eq!(found, epk(at)),
            other => panic!("{entries:?}: {other:?}"),
        }
    }
}

#[test]
fn more_than_ten_pages_are_read_to_the_last() {
    let bound = |n: u8| match n {
        0 => String::new(),
        25 => "FF".to_owned(),
        n => format!("{:02X}", n * 5),
    };
    let pages = (0..25_u8).map(|n| {
        let etag = HeaderValue::try_from(format!("\"{n}\"")).unwrap();
        page(&[(&n.to_string(), &bound(n), &bound(n + 1), "")]).continuation(Some(etag))
    });
    let map = RangeMap::build(pages).unwrap();
    assert_eq!(map.len(), 25);
    assert_eq!(map.continuation().unwrap(), "\"24\"");
}

#[test]
fn ids_that_are_no_numbers_are_found_too() {
    let map = build(&[
        ("b", "", "3F", ""),
        ("007", "3F", "7F", ""),
        ("7", "7F", "FF", "é"),
    ]);
    let map = map.unwrap();
    for id in ["b", "007", "7"] {
        assert!(map.contains(&id.into()), "{id}");
    }
    assert!(!map.contains(&"é".into()));
    assert_eq!(ids(map.ancestors(&"7".into())), "é");
}

#[test]
fn a_hundred_thousand_ranges_are_a_map_and_one_more_is_not() {
    let bound = |n: u32| match n {
        0 => String::new(),
        n => format!("{n:08X}"),
    };
    let entries = |from: u32, to: u32, last: bool| {
        let ranges: Vec<String> = (from..to)
            .map(|n| {
                let max = if last && n + 1 == to {
                    "FF".into()
                } else {
                    bound(n + 1)
                };
                range((&n.to_string(), &bound(n), &max, ""), None)
            })
            .collect();
        let body = format!(r#"{{"PartitionKeyRanges":[{}]}}"#, ranges.join(","));
        RangePage::parse(body.as_bytes()).unwrap()
    };
    let map = RangeMap::build([entries(0, 50_000, false), entries(50_000, 100_000, true)]);
    let map = map.unwrap();
    assert_eq!(map.len(), 100_000);
    for n in [0, 1, 77_777, 99_999] {
        assert_eq!(map.find(&epk(&bound(n))), &n.into());
        assert!(map.contains(&n.into()));
    }
    assert!(!map.contains(&100_000.into()));
    let again = map.updated([page(&[("0", "", "00000001", "")])]);
    assert_eq!(again.unwrap().len(), 100_000);
    let more = map.updated([page(&[("100000", "", "01", "")])]);
    assert!(matches!(more, Err(RangeMapError::TooManyRanges)));
    let more = [entries(0, 50_000, false), entries(50_000, 100_001, true)];
    assert!(matches!(
        RangeMap::build(more),
        Err(RangeMapError::TooManyRanges)
    ));
}
