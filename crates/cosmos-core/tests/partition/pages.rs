//! What is a page of ranges, and what is none.

use cosmos_core::partition::{EpkError, RangeMap, RangeMapError, RangePage};

use crate::{ids, page, range};

fn parse(text: &str) -> Result<RangePage, RangeMapError> {
    RangePage::parse(text.as_bytes())
}

fn ranges(ranges: &str) -> Result<RangePage, RangeMapError> {
    parse(&format!(r#"{{"PartitionKeyRanges":[{ranges}]}}"#))
}

#[test]
fn a_page_is_read_whatever_else_it_says() {
    let page = page(&[("0", "", "3F", ""), ("1", "3F", "FF", "")]);
    assert_eq!(page.len(), 2);
    assert!(!page.is_empty());
    let bare = r#"{"maxExclusive":"FF","\u0069d":"0","minInclusive":"","new":{"a":[1]}}"#;
    assert_eq!(ranges(bare).unwrap().len(), 1);
    let nulls = r#"{"id":"0","minInclusive":"","maxExclusive":"ff","parents":null,"_lsn":null}"#;
    assert_eq!(ranges(nulls).unwrap().len(), 1);
    assert!(ranges("").unwrap().is_empty());
    assert!(parse(r#"{"_rid":null,"PartitionKeyRanges":[]}"#).is_ok());
}

#[test]
fn a_text_that_is_no_page_is_an_error() {
    for text in [
        "",
        "null",
        "{}",
        "[]",
        "[null,[]]",
        "<html></html>",
        r#"{"PartitionKeyRanges":null}"#,
        r#"{"PartitionKeyRanges":{}}"#,
        r#"{"PartitionKeyRanges":[null]}"#,
        r#"{"PartitionKeyRanges":[["0","","FF"]]}"#,
        r#"{"PartitionKeyRanges":[{"id":"0","minInclusive":"","maxExclusive":"FF"}"#,
        r#"{"PartitionKeyRanges":[{"id":"0","minInclusive":""}]}"#,
        r#"{"PartitionKeyRanges":[{"minInclusive":"","maxExclusive":"FF"}]}"#,
        r#"{"PartitionKeyRanges":[{"id":0,"minInclusive":"","maxExclusive":"FF"}]}"#,
        r#"{"PartitionKeyRanges":[{"id":"0","minInclusive":null,"maxExclusive":"FF"}]}"#,
        r#"{"PartitionKeyRanges":[{"id":"0","minInclusive":"","maxExclusive":"FF","parents":[0]}]}"#,
    ] {
        assert!(matches!(parse(text), Err(RangeMapError::Json(_))), "{text}");
    }
}

#[test]
fn bounds_that_are_none_or_are_not_in_order_are_an_error() {
    for (min, max, expected) in [
        ("0", "FF", EpkError::Odd),
        ("", "FG", EpkError::Digit),
        ("", &"FF".repeat(513), EpkError::TooLong(1026)),
    ] {
        let error = ranges(&range(("0", min, max, ""), None)).unwrap_err();
        assert!(matches!(error, RangeMapError::Bound(found) if found == expected));
    }
    for (min, max) in [("3F", "3F"), ("3F", "3F00"), ("40", "3F"), ("", "00")] {
        let error = ranges(&range(("0", min, max, ""), None)).unwrap_err();
        assert!(matches!(error, RangeMapError::Inverted { .. }), "{min}");
    }
    let longest = "3F".repeat(512);
    assert!(ranges(&range(("0", "", &longest, ""), None)).is_ok());
}

#[test]
fn an_id_has_from_1_to_255_bytes() {
    let long = "7".repeat(256);
    for (id, parents) in [("", ""), (&long, ""), ("0", &long)] {
        let error = ranges(&range((id, "", "FF", parents), None)).unwrap_err();
        assert!(matches!(error, RangeMapError::Id(0 | 256)), "{id}");
    }
    assert!(ranges(&range((&long[1..], "", "FF", &long[1..]), None)).is_ok());
    let empty = r#"{"id":"0","minInclusive":"","maxExclusive":"FF","parents":[""]}"#;
    assert!(matches!(ranges(empty), Err(RangeMapError::Id(0))));
}

#[test]
fn a_range_has_at_most_1000_parents() {
    let parents = |count: usize| {
        let ids: Vec<String> = (1..=count).map(|id| id.to_string()).collect();
        ranges(&range(("0", "", "FF", &ids.join(" ")), None))
    };
    assert!(parents(1000).is_ok());
    let error = parents(1001).unwrap_err();
    assert!(matches!(error, RangeMapError::TooManyParents));
}

#[test]
fn a_page_has_at_most_100_000_ranges() {
    let one = r#"{"id":"0","minInclusive":"","maxExclusive":"FF"}"#;
    let page = ranges(&vec![one; 100_000].join(",")).unwrap();
    assert_eq!(page.len(), 100_000);
    assert_eq!(ids(RangeMap::build([page]).unwrap().ids()), "0");
    let error = ranges(&vec![one; 100_001].join(",")).unwrap_err();
    assert!(matches!(error, RangeMapError::TooManyRanges));
}
