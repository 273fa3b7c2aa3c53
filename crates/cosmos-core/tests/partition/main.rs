//! Where partition keys lie, and which range is for them.
#![allow(missing_docs, clippy::unwrap_used)]

mod container;
mod histories;
mod hostile;
mod keys;
mod maps;
mod pages;
mod updates;
mod vectors;

use cosmos_core::PartitionKey;
use cosmos_core::partition::{
    Epk, EpkTarget, PartitionKeyDefinition, PartitionKeyKind, RangeId, RangeMap, RangeMapError,
    RangePage,
};

fn epk(hex: &str) -> Epk {
    Epk::parse(hex).unwrap()
}

fn definition(kind: PartitionKeyKind, paths: usize) -> PartitionKeyDefinition {
    PartitionKeyDefinition::new(kind, paths).unwrap()
}

/// The effective partition key of a header's text, as the service writes it.
fn point(definition: PartitionKeyDefinition, header: &str) -> String {
    let key: PartitionKey = header.parse().unwrap();
    match definition.effective(&key) {
        Some(EpkTarget::Point(epk)) => epk.to_string(),
        other => panic!("{header}: {other:?}"),
    }
}

/// A range as a page has it: id, bounds, and the parents' ids separated by spaces.
type Entry<'a> = (&'a str, &'a str, &'a str, &'a str);

fn page(entries: &[Entry<'_>]) -> RangePage {
    RangePage::parse(body(entries).as_bytes()).unwrap()
}

fn body(entries: &[Entry<'_>]) -> String {
    let ranges: Vec<String> = entries.iter().map(|entry| range(*entry, None)).collect();
    format!(
        r#"{{"_rid":"c0","PartitionKeyRanges":[{}],"_count":{}}}"#,
        ranges.join(","),
        ranges.len()
    )
}

fn range((id, min, max, parents): Entry<'_>, lsn: Option<i64>) -> String {
    let parents: Vec<String> = parents
        .split_whitespace()
        .map(|id| format!("\"{id}\""))
        .collect();
    let lsn = lsn.map_or(String::new(), |lsn| format!(r#","_lsn":{lsn}"#));
    format!(
        r#"{{"_rid":"r{id}","id":"{id}","_etag":"\"0\"","minInclusive":"{min}","maxExclusive":"{max}",
        "ridPrefix":0,"throughputFraction":0.5,"status":"online","parents":[{}]{lsn}}}"#,
        parents.join(",")
    )
}

fn build(entries: &[Entry<'_>]) -> Result<RangeMap, RangeMapError> {
    RangeMap::build([page(entries)])
}

fn ids<'a>(ids: impl IntoIterator<Item = &'a RangeId>) -> String {
    let ids: Vec<String> = ids.into_iter().map(ToString::to_string).collect();
    ids.join(" ")
}

fn three() -> RangeMap {
    build(&[
        ("2", "7F", "FF", ""),
        ("0", "", "3F", ""),
        ("1", "3F", "7F", ""),
    ])
    .unwrap()
}

fn lsn_page(entries: &[(Entry<'_>, i64)]) -> RangePage {
    let entries: Vec<String> = entries
        .iter()
        .map(|(e, lsn)| range(*e, Some(*lsn)))
        .collect();
    let body = format!(r#"{{"PartitionKeyRanges":[{}]}}"#, entries.join(","));
    RangePage::parse(body.as_bytes()).unwrap()
}
