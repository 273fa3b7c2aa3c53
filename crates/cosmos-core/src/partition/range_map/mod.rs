//! A container's partition key ranges, and which of them a key is in.
//!
//! The problem: ranges split and merge while they are used. The service lists them in a feed of
//! pages; later it lists only what has changed: the new ranges, each with the ids of those that
//! it came from. A reader that stops early, mixes two moments, or misses one of two children has a
//! map with a hole: keys in it would have no range, or a wrong one.
//!
//! So a [`RangeMap`] exists only if its ranges lie end to end, from the first effective partition
//! key to the last. It never changes: an update makes a new one from it, or fails, and then the old
//! one goes on serving while everything is read again.
//!
//! ```
//! use cosmos_core::partition::{Epk, RangeMap, RangePage};
//!
//! let page = RangePage::parse(
//!     br#"{"PartitionKeyRanges":[{"id":"0","minInclusive":"","maxExclusive":"FF"}]}"#,
//! )?;
//! let map = RangeMap::build([page])?;
//!
//! let changes = RangePage::parse(
//!     br#"{"PartitionKeyRanges":[
//!         {"id":"1","minInclusive":"","maxExclusive":"1F","parents":["0"]},
//!         {"id":"2","minInclusive":"1F","maxExclusive":"FF","parents":["0"]}]}"#,
//! )?;
//! let split = map.updated([changes])?;
//! assert_eq!(split.find(&Epk::parse("0A")?), &"1".into());
//! assert_eq!(split.ancestors(&"1".into()), ["0".into()]);
//! assert_eq!(split.gone_since(&map), ["0".into()]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod draft;
mod error;
mod page;

use std::fmt;

use http::HeaderValue;

use self::draft::Draft;
pub use self::error::RangeMapError;
pub use self::page::RangePage;
use super::{Epk, EpkTarget, RangeId};

/// The most ranges of a container.
const MAX_RANGES: usize = 100_000;
/// The most bytes of a range's id.
const MAX_ID: usize = 255;
/// The most ancestors of a range.
const MAX_PARENTS: usize = 1000;

/// All partition key ranges of a container at one moment.
#[derive(Clone)]
pub struct RangeMap {
    /// Sorted by where they begin; each ends where the next one begins. Never empty.
    ranges: Box<[Range]>,
    /// Indices of ranges, sorted by id.
    by_id: Box<[u32]>,
    container: Option<Box<str>>,
    continuation: Option<HeaderValue>,
}

#[derive(Clone)]
struct Range {
    id: RangeId,
    min: Epk,
    /// Sorted.
    ancestors: Box<[RangeId]>,
    lsn: Option<i64>,
}

impl RangeMap {
    /// The map of a full read: of all pages, from the first to the last.
    ///
    /// If a range is listed more than once, the record with the greatest `_lsn` counts, and of
    /// equal ones the last. Ranges that others name as parents are gone, even if they are listed.
    ///
    /// # Errors
    ///
    /// [`RangeMapError`] if there is no page, if the ranges leave a gap or overlap, or if there are
    /// too many.
    pub fn build(pages: impl IntoIterator<Item = RangePage>) -> Result<Self, RangeMapError> {
        Draft::default().read(pages)?.finish()
    }

    /// The map of an incremental read: what was known and what the pages add, without what has
    /// been split or merged. A page may say nothing new, and may come late.
    ///
    /// # Errors
    ///
    /// [`RangeMapError`] as for [`RangeMap::build`], and if the pages are of another container.
    /// This map is as good as before; what has become of the ranges, only a full read can tell.
    pub fn updated(
        &self,
        pages: impl IntoIterator<Item = RangePage>,
    ) -> Result<Self, RangeMapError> {
        Draft::of(self).read(pages)?.finish()
    }

    fn new(
        ranges: Box<[Range]>,
        container: Option<Box<str>>,
        continuation: Option<HeaderValue>,
    ) -> Self {
        let mut by_id: Box<[u32]> = (0..).take(ranges.len()).collect();
        by_id.sort_unstable_by(|a, b| ranges[*a as usize].id.cmp(&ranges[*b as usize].id));
        Self {
            ranges,
            by_id,
            container,
            continuation,
        }
    }

    /// The range of an effective partition key. Beyond the end, where no key is, it is the last.
    #[must_use]
    pub fn find(&self, epk: &Epk) -> &RangeId {
        &self.ranges[self.index(epk)].id
    }

    /// The range of a target; `None` if it is spread over several.
    #[must_use]
    pub fn find_target(&self, target: &EpkTarget) -> Option<&RangeId> {
        self.find_with_ancestors(target).map(|(id, _)| id)
    }

    /// The range of a target, and its [`ancestors`](Self::ancestors).
    #[must_use]
    pub fn find_with_ancestors(&self, target: &EpkTarget) -> Option<(&RangeId, &[RangeId])> {
        let index = match target {
            EpkTarget::Point(epk) => self.index(epk),
            EpkTarget::Range { min, max } => {
                let index = self.index(min);
                let next = self.ranges.get(index + 1);
                let end = next.map_or(&Epk::MAX, |next| &next.min);
                if max > end {
                    return None;
                }
                index
            }
        };
        let range = &self.ranges[index];
        Some((&range.id, &range.ancestors))
    }

    fn index(&self, epk: &Epk) -> usize {
        // The first range begins before everything.
        self.ranges[1..].partition_point(|range| range.min <= *epk)
    }

    /// Whether this is one of the ranges.
    #[must_use]
    pub fn contains(&self, id: &RangeId) -> bool {
        self.get(id).is_some()
    }

    /// The ranges that this one came from by splits and merges, as far as they are known, in the
    /// order of their ids; empty if it is none of the map's ranges.
    #[must_use]
    pub fn ancestors(&self, id: &RangeId) -> &[RangeId] {
        self.get(id).map_or(&[], |range| &range.ancestors)
    }

    fn get(&self, id: &RangeId) -> Option<&Range> {
        let at = |index: &u32| &self.ranges[*index as usize];
        let found = self.by_id.binary_search_by(|index| at(index).id.cmp(id));
        Some(at(&self.by_id[found.ok()?]))
    }

    /// What became of a range that is gone: those that came from it, in the order of their bounds.
    /// Looks at every range.
    pub fn descendants<'a>(&'a self, id: &'a RangeId) -> impl Iterator<Item = &'a RangeId> {
        self.ranges
            .iter()
            .filter(|range| range.ancestors.binary_search(id).is_ok())
            .map(|range| &range.id)
    }

    /// The ranges of an older map that are not in this one, in the order of their bounds.
    #[must_use]
    pub fn gone_since(&self, older: &Self) -> Vec<RangeId> {
        let gone = older.ids().filter(|id| !self.contains(id));
        gone.cloned().collect()
    }

    /// The ids of all ranges, in the order of their bounds.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &RangeId> {
        self.ranges.iter().map(|range| &range.id)
    }

    /// How many ranges there are: at least one.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The container's resource id, if a page named it.
    #[must_use]
    pub fn container(&self) -> Option<&str> {
        self.container.as_deref()
    }

    /// The last page's `etag`, for the header `if-none-match` of the next incremental read.
    #[must_use]
    pub const fn continuation(&self) -> Option<&HeaderValue> {
        self.continuation.as_ref()
    }
}

/// Without the ranges, of which there may be very many.
impl fmt::Debug for RangeMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeMap")
            .field("container", &self.container)
            .field("ranges", &self.ranges.len())
            .field("continuation", &self.continuation)
            .finish_non_exhaustive()
    }
}
