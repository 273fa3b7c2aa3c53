//! Reading a container's properties and its map of ranges.

use bytes::Bytes;
use cosmos_core::partition::{
    ContainerError, ContainerProperties, RangeMap, RangeMapError, RangePage,
};
use cosmos_core::requests::{self, RequestBuilder, RequestError};
use cosmos_core::{BoxError, FailureKind, Region, Status, TransportError};
use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderValue, Response};
use http_body_util::Full;

use crate::metadata::{self, Reads, body_of};

/// More pages, and more ranges on them, than any container's map has.
const MAX_PAGES: usize = 1000;
const MAX_RANGES: usize = 200_000;

/// Why a container's partitions are not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum LookupError {
    #[error("the container could not be read")]
    Transport(#[source] BoxError),
    #[error("reading the container was answered with {0}")]
    Status(Status),
    #[error("the container cannot be asked for")]
    Request(#[from] RequestError),
    #[error("the container's properties are unusable")]
    Container(#[from] ContainerError),
    #[error("the map of partition key ranges is unusable")]
    Ranges(#[from] RangeMapError),
    #[error("the map of partition key ranges has no end")]
    Endless,
    #[error("the container could not be read in time")]
    Late,
    #[error("reading the container ended in a panic")]
    Panicked,
}

impl LookupError {
    /// Whether it says nothing of the container: nothing was sent for an operation that excludes
    /// every region.
    pub(super) fn is_excluded(&self) -> bool {
        let Self::Transport(error) = self else {
            return false;
        };
        let error = TransportError::find(&**error);
        error.is_some_and(|error| error.kind() == FailureKind::Excluded)
    }
}

/// A map, and the region whose state it is: continuations hold there only.
#[derive(Clone, Debug)]
pub(super) struct ReadMap {
    pub(super) map: RangeMap,
    pub(super) region: Option<Region>,
}

/// Reads a container's properties.
pub(super) async fn properties(
    reads: &Reads,
    link: &str,
) -> Result<ContainerProperties, LookupError> {
    let (database, container) = names(link);
    let request = requests::read_container(database, container);
    let (response, _) = send(reads, request, None).await?;
    let status = Status::of_response(&response);
    if !status.is_success() {
        return Err(LookupError::Status(status));
    }
    Ok(ContainerProperties::parse(&body_of(response).await)?)
}

/// Reads the map afresh: what has changed since the known one, if that fits together, else all of
/// it.
pub(super) async fn ranges(
    reads: &Reads,
    link: &str,
    known: Option<&ReadMap>,
) -> Result<ReadMap, LookupError> {
    if let Some(known) = known {
        let continuation = known.map.continuation().cloned();
        match pages(reads, link, continuation, known.region).await? {
            // Nothing has changed.
            Pages::Read(pages, region) if pages.is_empty() => {
                let map = known.map.clone();
                return Ok(ReadMap { map, region });
            }
            Pages::Read(pages, region) => match known.map.updated(pages) {
                Ok(map) => return Ok(ReadMap { map, region }),
                Err(error) => tracing::debug!(%error, "the map is read from scratch"),
            },
            Pages::Moved => {}
        }
    }
    // Once more if the region changes between two pages.
    for _ in 0..2 {
        if let Pages::Read(pages, region) = pages(reads, link, None, None).await? {
            let map = RangeMap::build(pages)?;
            return Ok(ReadMap { map, region });
        }
    }
    Err(LookupError::Endless)
}

enum Pages {
    Read(Vec<RangePage>, Option<Region>),
    /// Another region answered, where the continuation means nothing.
    Moved,
}

/// Reads pages until nothing more has changed, all from one region.
async fn pages(
    reads: &Reads,
    link: &str,
    mut continuation: Option<HeaderValue>,
    mut region: Option<Region>,
) -> Result<Pages, LookupError> {
    let (database, container) = names(link);
    let mut pages: Vec<RangePage> = Vec::new();
    while pages.len() < MAX_PAGES && pages.iter().map(RangePage::len).sum::<usize>() < MAX_RANGES {
        let mut request = requests::read_partition_key_ranges(database, container);
        if let Some(etag) = &continuation {
            request = request.header(IF_NONE_MATCH, etag.clone());
        }
        let (response, from) = send(reads, request, region).await?;
        if continuation.is_some() && region.is_some() && from != region {
            return Ok(Pages::Moved);
        }
        region = from;
        let status = Status::of_response(&response);
        if status.code() == 304 {
            return Ok(Pages::Read(pages, region));
        }
        if !status.is_success() {
            return Err(LookupError::Status(status));
        }
        let etag = response.headers().get(ETAG).cloned();
        let page = RangePage::parse(&body_of(response).await)?.continuation(etag.clone());
        let ended = page.is_empty() || etag.is_none() || etag == continuation;
        pages.push(page);
        if ended {
            return Ok(Pages::Read(pages, region));
        }
        continuation = etag;
    }
    Err(LookupError::Endless)
}

async fn send(
    reads: &Reads,
    request: RequestBuilder,
    region: Option<Region>,
) -> Result<(Response<Full<Bytes>>, Option<Region>), LookupError> {
    metadata::read(reads, request.build()?, region)
        .await
        .map_err(LookupError::Transport)
}

/// The ids of a link's database and container.
fn names(link: &str) -> (&str, &str) {
    let mut parts = link.split('/').skip(1).step_by(2);
    (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    )
}
