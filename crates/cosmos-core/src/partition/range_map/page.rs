//! One page of the feed of partition key ranges.

use std::borrow::Cow;

use http::HeaderValue;
use serde::Deserialize;

use super::{MAX_ID, MAX_PARENTS, MAX_RANGES, RangeMapError};
use crate::json::{Capped, Object};
use crate::partition::{Epk, RangeId};

/// One page of a container's ranges: the answer to `GET /dbs/{db}/colls/{container}/pkranges`.
#[derive(Clone, Debug)]
pub struct RangePage {
    pub(super) container: Option<Box<str>>,
    pub(super) records: Vec<Record>,
    pub(super) continuation: Option<HeaderValue>,
}

/// A range as a page has it.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) id: RangeId,
    pub(super) min: Epk,
    pub(super) max: Epk,
    pub(super) parents: Vec<RangeId>,
    /// Which of two records of one range is the newer.
    pub(super) lsn: Option<i64>,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(rename = "_rid", borrow, default)]
    rid: Option<Cow<'a, str>>,
    #[serde(rename = "PartitionKeyRanges", borrow)]
    ranges: Capped<Object<RawRange<'a>>, MAX_RANGES>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRange<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    min_inclusive: Cow<'a, str>,
    #[serde(borrow)]
    max_exclusive: Cow<'a, str>,
    #[serde(borrow, default)]
    parents: Option<Capped<Text<'a>, MAX_PARENTS>>,
    #[serde(rename = "_lsn", default)]
    lsn: Option<i64>,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl RangePage {
    /// Reads the body of a page. A page without ranges is none the less a page.
    ///
    /// # Errors
    ///
    /// [`RangeMapError`] for anything that is no page: other JSON, ranges without an id or with
    /// bounds that are none, more than 100,000 ranges or 1,000 parents of a range.
    pub fn parse(body: &[u8]) -> Result<Self, RangeMapError> {
        let Object(raw): Object<Raw<'_>> =
            serde_json::from_slice(body).map_err(RangeMapError::Json)?;
        let ranges = raw.ranges.all().ok_or(RangeMapError::TooManyRanges)?;
        let records: Result<_, _> = ranges
            .into_iter()
            .map(|Object(range)| Record::new(range))
            .collect();
        Ok(Self {
            container: raw.rid.map(Into::into),
            records: records?,
            continuation: None,
        })
    }

    /// With the response's header `etag`, which asks for what comes behind this page.
    #[must_use]
    pub fn continuation(mut self, etag: Option<HeaderValue>) -> Self {
        self.continuation = etag;
        self
    }

    /// How many ranges are on the page.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl Record {
    fn new(raw: RawRange<'_>) -> Result<Self, RangeMapError> {
        let parents = match raw.parents.map(Capped::all) {
            Some(parents) => parents.ok_or(RangeMapError::TooManyParents)?,
            None => Vec::new(),
        };
        let min = Epk::parse(&raw.min_inclusive)?;
        let max = Epk::parse(&raw.max_exclusive)?;
        if max <= min {
            return Err(RangeMapError::Inverted { min });
        }
        Ok(Self {
            id: id(&raw.id)?,
            min,
            max,
            parents: parents
                .into_iter()
                .map(|Text(parent)| id(&parent))
                .collect::<Result<_, _>>()?,
            lsn: raw.lsn,
        })
    }
}

fn id(text: &str) -> Result<RangeId, RangeMapError> {
    match text.len() {
        1..=MAX_ID => Ok(RangeId::new(text)),
        length => Err(RangeMapError::Id(length)),
    }
}
