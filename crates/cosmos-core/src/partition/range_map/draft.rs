//! From pages to a map.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use http::HeaderValue;

use super::page::Record;
use super::{MAX_PARENTS, MAX_RANGES, Range, RangeMap, RangeMapError, RangePage};
use crate::partition::{Epk, RangeId};

/// How many ancestors all ranges together may inherit from ancestors that are known themselves, so
/// that no pages can make a map of them that is far larger than they are.
const MAX_INHERITED: usize = 20 * MAX_RANGES;

/// The ranges that pages, and a map before them, have named so far.
#[derive(Default)]
pub(super) struct Draft {
    container: Option<Box<str>>,
    continuation: Option<HeaderValue>,
    records: HashMap<RangeId, Record>,
}

impl Draft {
    pub(super) fn of(map: &RangeMap) -> Self {
        let ends = map.ranges[1..].iter().map(|next| &next.min);
        let records = map.ranges.iter().zip(ends.chain([&Epk::MAX]));
        Self {
            container: map.container.clone(),
            continuation: map.continuation.clone(),
            records: records
                .map(|(range, max)| {
                    let record = Record {
                        id: range.id.clone(),
                        min: range.min.clone(),
                        max: max.clone(),
                        parents: range.ancestors.to_vec(),
                        lsn: range.lsn,
                    };
                    (record.id.clone(), record)
                })
                .collect(),
        }
    }

    pub(super) fn read(
        mut self,
        pages: impl IntoIterator<Item = RangePage>,
    ) -> Result<Self, RangeMapError> {
        let mut pages = pages.into_iter();
        let first = pages.next().ok_or(RangeMapError::Empty)?;
        for page in std::iter::once(first).chain(pages) {
            self.read_page(page)?;
        }
        Ok(self)
    }

    fn read_page(&mut self, page: RangePage) -> Result<(), RangeMapError> {
        match (&self.container, page.container) {
            (Some(known), Some(other)) if *known != other => {
                return Err(RangeMapError::OtherContainer);
            }
            (None, Some(container)) => self.container = Some(container),
            _ => {}
        }
        self.continuation = page.continuation;
        for record in page.records {
            let known = self.records.len();
            match self.records.entry(record.id.clone()) {
                Entry::Vacant(_) if known == MAX_RANGES => {
                    return Err(RangeMapError::TooManyRanges);
                }
                Entry::Vacant(entry) => {
                    entry.insert(record);
                }
                Entry::Occupied(mut entry) => entry.get_mut().replace(record),
            }
        }
        Ok(())
    }

    /// The map of the ranges that are left when all that were split or merged are taken away.
    pub(super) fn finish(self) -> Result<RangeMap, RangeMapError> {
        if self.records.is_empty() {
            return Err(RangeMapError::Empty);
        }
        let named = self.records.values().flat_map(|record| &record.parents);
        let gone: HashSet<&RangeId> = named.collect();
        let present = self.records.values();
        let mut present: Vec<&Record> = present.filter(|r| !gone.contains(&r.id)).collect();
        present.sort_unstable_by(|a, b| a.min.cmp(&b.min));
        check(&present)?;

        let mut inherited = 0;
        let ranges = present.into_iter().map(|record| {
            Ok(Range {
                id: record.id.clone(),
                min: record.min.clone(),
                ancestors: self.ancestors(record, &mut inherited)?,
                lsn: record.lsn,
            })
        });
        let ranges: Result<Box<[Range]>, RangeMapError> = ranges.collect();
        Ok(RangeMap::new(ranges?, self.container, self.continuation))
    }

    /// A range's parents, their parents if they are known, and so on.
    fn ancestors(
        &self,
        record: &Record,
        inherited: &mut usize,
    ) -> Result<Box<[RangeId]>, RangeMapError> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&RangeId> = record.parents.iter().collect();
        while let Some(id) = open.pop() {
            if !found.insert(id) {
                continue;
            }
            if found.len() > MAX_PARENTS {
                return Err(RangeMapError::TooManyParents);
            }
            if let Some(ancestor) = self.records.get(id) {
                *inherited += ancestor.parents.len();
                if *inherited > MAX_INHERITED {
                    return Err(RangeMapError::TooManyParents);
                }
                open.extend(&ancestor.parents);
            }
        }
        Ok(found.into_iter().cloned().collect())
    }
}

impl Record {
    /// Takes what another record of the same range says: all of it if that is not the older one.
    /// A parent of either is a parent, as an id is never used again.
    fn replace(&mut self, mut other: Self) {
        let mut parents = std::mem::take(&mut self.parents);
        parents.append(&mut other.parents);
        let older = matches!((self.lsn, other.lsn), (Some(known), Some(lsn)) if lsn < known);
        if !older {
            *self = other;
        }
        self.parents = parents;
    }
}

/// Whether ranges, sorted by where they begin, lie end to end from the first effective partition
/// key to the last.
fn check(sorted: &[&Record]) -> Result<(), RangeMapError> {
    let mut end = &Epk::MIN;
    for record in sorted {
        meets(end, &record.min)?;
        end = &record.max;
    }
    meets(end, &Epk::MAX)
}

/// Whether what comes next begins where what was before ends.
fn meets(end: &Epk, next: &Epk) -> Result<(), RangeMapError> {
    match next.cmp(end) {
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(RangeMapError::Gap { at: end.clone() }),
        Ordering::Less => Err(RangeMapError::Overlap { at: next.clone() }),
    }
}
