//! The builder that every operation starts from.

use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::Full;

use super::path::Path;
use super::{PartitionKey, Payload, RequestError};
use crate::headers::{self, value};
use crate::signing::http_date;

/// How consistent a read has to be; never more than the account's own level.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConsistencyLevel {
    /// Reads see every write that was acknowledged.
    Strong,
    /// Reads lag behind by a bounded number of writes or seconds.
    BoundedStaleness,
    /// Reads see the writes of their own session.
    Session,
    /// Reads see writes in order.
    ConsistentPrefix,
    /// Reads see writes at some time.
    Eventual,
}

impl ConsistencyLevel {
    const fn value(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Strong => "Strong",
            Self::BoundedStaleness => "BoundedStaleness",
            Self::Session => "Session",
            Self::ConsistentPrefix => "ConsistentPrefix",
            Self::Eventual => "Eventual",
        })
    }
}

/// A request that is being put together.
///
/// Setters take and return the builder. A setter that is called again replaces what it set
/// before. What is wrong is told by [`build`](Self::build).
#[must_use = "`build` makes the request"]
pub struct RequestBuilder {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
    /// The first thing that went wrong.
    error: Option<RequestError>,
}

impl fmt::Debug for RequestBuilder {
    /// Without what the headers and the body say: they hold keys, tokens and documents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBuilder")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body_bytes", &self.body.len())
            .field("error", &self.error)
            .finish()
    }
}

/// Room for a request's headers and those that the layers add: they need not grow on the way.
const ROOM: usize = 24;

impl RequestBuilder {
    pub(super) fn new(method: Method, path: Path) -> Self {
        let (path, error) = match path.finish() {
            Ok(path) => (path, None),
            Err(error) => (String::new(), Some(error)),
        };
        Self {
            method,
            path,
            headers: HeaderMap::with_capacity(ROOM),
            body: Bytes::new(),
            error,
        }
        .set(headers::ACCEPT, value::JSON)
        .set(headers::CACHE_CONTROL, value::NO_CACHE)
    }

    pub(super) fn body(mut self, content_type: HeaderValue, payload: impl Into<Payload>) -> Self {
        match payload.into().0 {
            Ok(bytes) => self.body = bytes,
            Err(error) => self.fail(RequestError::Body(error)),
        }
        self.set(headers::CONTENT_TYPE, content_type)
    }

    pub(super) fn set(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Only if this entity tag is still the resource's (`if-match`); otherwise the answer is 412.
    pub fn if_match(self, etag: &str) -> Self {
        self.header(headers::IF_MATCH, etag)
    }

    /// Only if this entity tag is not the resource's any more (`if-none-match`); otherwise the
    /// answer is 304. On a change feed: where it goes on, or `*` for now.
    pub fn if_none_match(self, etag: &str) -> Self {
        self.header(headers::IF_NONE_MATCH, etag)
    }

    /// On a change feed: changes since this time only (`if-modified-since`); whole seconds.
    pub fn if_modified_since(self, time: SystemTime) -> Self {
        self.header(headers::IF_MODIFIED_SINCE, http_date(time))
    }

    /// The session token that a read must have caught up with (`x-ms-session-token`).
    pub fn session_token(self, token: &str) -> Self {
        self.header(headers::SESSION_TOKEN, token)
    }

    /// The consistency level (`x-ms-consistency-level`); the account's own if not set.
    pub fn consistency_level(self, level: ConsistencyLevel) -> Self {
        self.set(headers::CONSISTENCY_LEVEL, level.value())
    }

    /// The most items of one page (`x-ms-max-item-count`): a positive number, or -1 to leave it
    /// to the service. Anything else is [`RequestError::MaxItemCount`].
    pub fn max_item_count(mut self, count: i32) -> Self {
        if count < 1 && count != -1 {
            self.fail(RequestError::MaxItemCount(count));
        }
        self.set(headers::MAX_ITEM_COUNT, count.into())
    }

    /// Where the page begins, as the page before it said (`x-ms-continuation`).
    pub fn continuation(self, token: &str) -> Self {
        self.header(headers::CONTINUATION, token)
    }

    /// Leaves the written item out of the answer (`prefer: return=minimal`).
    pub fn prefer_minimal(self) -> Self {
        self.set(headers::PREFER, value::RETURN_MINIMAL)
    }

    /// The GUID that names this operation (`x-ms-activity-id`); the layers choose one if it is not
    /// set.
    pub fn activity_id(self, guid: &str) -> Self {
        self.header(headers::ACTIVITY_ID, guid)
    }

    /// The logical partition (`x-ms-documentdb-partitionkey`) that a query or feed is about.
    /// Operations that need one take it as an argument.
    pub fn partition_key(self, key: &PartitionKey) -> Self {
        self.set(headers::PARTITION_KEY, key.to_header_value())
    }

    /// The physical partition (`x-ms-documentdb-partitionkeyrangeid`) that a query or feed is
    /// about.
    pub fn partition_key_range_id(self, id: &str) -> Self {
        self.header(headers::PARTITION_KEY_RANGE_ID, id)
    }

    /// The part of a physical partition that a query or feed is about: effective partition keys
    /// in hexadecimal, from the first to before the second.
    pub fn effective_partition_key_range(self, start: &str, end: &str) -> Self {
        self.set(headers::READ_KEY_TYPE, value::EFFECTIVE_PARTITION_KEY_RANGE)
            .header(headers::START_EPK, start)
            .header(headers::END_EPK, end)
    }

    /// Allows a query to look into every partition.
    pub fn cross_partition_query(self) -> Self {
        self.set(headers::ENABLE_CROSS_PARTITION_QUERY, value::TRUE)
    }

    /// Makes a change feed one of every change, deletions included, and not only of the latest
    /// versions.
    pub fn full_fidelity(self) -> Self {
        self.set(headers::A_IM, value::FULL_FIDELITY_FEED).set(
            headers::CHANGE_FEED_WIRE_FORMAT,
            value::CHANGE_FEED_WIRE_FORMAT,
        )
    }

    /// The fixed throughput of a new database or container, in request units per second.
    pub fn throughput(self, request_units: u32) -> Self {
        self.set(headers::OFFER_THROUGHPUT, request_units.into())
    }

    /// The most throughput that a new database or container scales up to, in request units per
    /// second.
    pub fn autoscale_throughput(self, most: u32) -> Self {
        self.header(
            headers::OFFER_AUTOPILOT_SETTINGS,
            format!("{{\"maxThroughput\":{most}}}"),
        )
    }

    /// Any other header; replaces what was set under its name. A name or value that HTTP does not
    /// allow is [`RequestError::HeaderName`] or [`RequestError::HeaderValue`].
    pub fn header<N, V>(mut self, name: N, value: V) -> Self
    where
        N: TryInto<HeaderName>,
        V: TryInto<HeaderValue>,
    {
        let Ok(name) = name.try_into() else {
            self.fail(RequestError::HeaderName);
            return self;
        };
        let Ok(mut value) = value.try_into() else {
            self.fail(RequestError::HeaderValue(name));
            return self;
        };
        if name == headers::AUTHORIZATION {
            value.set_sensitive(true);
        }
        self.set(name, value)
    }

    /// The request. Its body is a [`Full`], which retries can copy.
    ///
    /// # Errors
    ///
    /// [`RequestError`]: the first thing that was wrong, in the order of the calls.
    pub fn build(self) -> Result<Request<Full<Bytes>>, RequestError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut request = Request::new(Full::new(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = Uri::try_from(self.path).map_err(RequestError::Path)?;
        *request.headers_mut() = self.headers;
        Ok(request)
    }

    pub(super) fn fail(&mut self, error: RequestError) {
        self.error.get_or_insert(error);
    }
}
