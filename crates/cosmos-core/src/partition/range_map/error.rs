//! Why there is no map.

use super::{MAX_ID, MAX_PARENTS, MAX_RANGES};
use crate::partition::{Epk, EpkError};

/// Why pages are no map of a container's ranges. Whoever has an older map keeps it and reads all
/// ranges again.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum RangeMapError {
    /// A page is not the JSON of a page of ranges (truncated, HTML ...).
    #[error("not a page of partition key ranges")]
    Json(#[source] serde_json::Error),
    /// A range's id is empty, or longer than 255 bytes.
    #[error("a partition key range's id has from 1 to {MAX_ID} bytes, not {0}")]
    Id(usize),
    /// A range's bound is no effective partition key.
    #[error("a partition key range's bound is no effective partition key")]
    Bound(#[from] EpkError),
    /// A range ends where it begins, or before.
    #[error("a partition key range ends before {min}, its beginning")]
    Inverted {
        /// Where it begins.
        min: Epk,
    },
    /// There are more than 100,000 ranges.
    #[error("more than {MAX_RANGES} partition key ranges")]
    TooManyRanges,
    /// A range has more than 1,000 ancestors, or all together have too many.
    #[error("more than {MAX_PARENTS} ancestors of a partition key range")]
    TooManyParents,
    /// There is no page, or no range on any.
    #[error("no partition key range at all")]
    Empty,
    /// The pages are of different containers: one was deleted and made again meanwhile.
    #[error("partition key ranges of different containers")]
    OtherContainer,
    /// No range begins where another one ends.
    #[error("no partition key range at {at:?}")]
    Gap {
        /// The first effective partition key without a range.
        at: Epk,
    },
    /// A range begins before another one ends.
    #[error("more than one partition key range at {at:?}")]
    Overlap {
        /// An effective partition key with two ranges, or beyond the last one.
        at: Epk,
    },
}
