//! A container that the scripted account knows: how it is partitioned.

use serde_json::{Value, json};

/// How a container is partitioned: its properties and its partition key ranges.
#[derive(Clone, Debug)]
#[must_use]
pub struct Container {
    rid: String,
    key: Value,
    ranges: Vec<Range>,
    // How many ranges there ever were.
    made: u64,
    page: usize,
}

#[derive(Clone, Debug)]
struct Range {
    id: String,
    min: String,
    max: String,
    parents: Vec<String>,
    // How many ranges there were when it was made, itself included.
    number: u64,
}

impl Container {
    /// A container of this RID with one range, `0`, and keys that are hashed by version 2.
    pub fn new(rid: &str) -> Self {
        let container = Self {
            rid: rid.to_owned(),
            key: Value::Null,
            ranges: Vec::new(),
            made: 0,
            page: usize::MAX,
        };
        container
            .with_key(json!({ "paths": ["/pk"], "kind": "Hash", "version": 2 }))
            .with_range("0", "", "FF", Vec::new())
    }

    /// Hashes keys by version 1, as the document of an old container says it: by not naming any.
    pub fn unversioned(self) -> Self {
        self.with_key(json!({ "paths": ["/pk"], "kind": "Hash" }))
    }

    /// Gives the container hierarchical keys of these paths.
    pub fn hierarchical(self, paths: &[&str]) -> Self {
        self.with_key(json!({ "paths": paths, "kind": "MultiHash", "version": 2 }))
    }

    /// Serves so many ranges with each page; all by default.
    pub fn paged(mut self, ranges: usize) -> Self {
        self.page = ranges;
        self
    }

    /// Splits a range at an effective partition key.
    ///
    /// # Panics
    /// If there is no such range.
    pub fn split(mut self, id: &str, at: &str, into: [&str; 2]) -> Self {
        let Range {
            min, max, parents, ..
        } = self.take(id);
        let parents: Vec<String> = parents.into_iter().chain([id.to_owned()]).collect();
        let [low, high] = into;
        self.with_range(low, &min, at, parents.clone())
            .with_range(high, at, &max, parents)
    }

    /// Merges two neighbours, the lower one first.
    ///
    /// # Panics
    /// If there are no such ranges.
    pub fn merge(mut self, ids: [&str; 2], into: &str) -> Self {
        let [low, high] = ids.map(|id| self.take(id));
        let own = ids.map(str::to_owned);
        let parents = low.parents.into_iter().chain(high.parents).chain(own);
        let parents = parents.collect();
        self.with_range(into, &low.min, &high.max, parents)
    }

    fn with_key(mut self, key: Value) -> Self {
        self.key = key;
        self
    }

    fn with_range(mut self, id: &str, min: &str, max: &str, parents: Vec<String>) -> Self {
        self.made += 1;
        self.ranges.push(Range {
            id: id.to_owned(),
            min: min.to_owned(),
            max: max.to_owned(),
            parents,
            number: self.made,
        });
        self
    }

    fn take(&mut self, id: &str) -> Range {
        let position = self.ranges.iter().position(|range| range.id == id);
        self.ranges.remove(position.expect("a range of this id"))
    }

    /// The container's document.
    pub(super) fn properties(&self) -> Value {
        json!({ "id": "c", "_rid": self.rid, "partitionKey": self.key })
    }

    /// The ranges that a reader with this etag does not know, a page of them at most (`None` if
    /// there are none), and the etag of what it knows then.
    pub(super) fn ranges(&self, known: Option<&str>) -> (Option<Value>, String) {
        let known = known.and_then(|etag| etag.trim_matches('"').rsplit_once('-'));
        let known: u64 = known
            .filter(|(rid, _)| *rid == self.rid)
            .and_then(|(_, number)| number.parse().ok())
            .unwrap_or_default();
        let news: Vec<&Range> = self
            .ranges
            .iter()
            .filter(|range| range.number > known)
            .take(self.page)
            .collect();
        let known = news.last().map_or(known, |range| range.number);
        let listed: Vec<Value> = news.into_iter().map(Range::document).collect();
        let page =
            json!({ "_rid": self.rid, "_count": listed.len(), "PartitionKeyRanges": listed });
        let etag = format!("\"{}-{known}\"", self.rid);
        ((!listed.is_empty()).then_some(page), etag)
    }
}

impl Range {
    fn document(&self) -> Value {
        json!({
            "id": self.id,
            "minInclusive": self.min,
            "maxExclusive": self.max,
            "parents": self.parents,
        })
    }
}
