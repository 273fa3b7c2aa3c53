//! The names of the headers that Cosmos DB speaks, and the values that never change.
//!
//! Every name is a prebuilt [`HeaderName`] and every value a prebuilt
//! [`HeaderValue`], so that setting one allocates nothing.
//!
//! ```
//! use cosmos_core::headers;
//!
//! let mut map = http::HeaderMap::new();
//! map.insert(headers::VERSION, headers::value::VERSION);
//! assert_eq!(map["x-ms-version"], "2020-07-15");
//! ```

use http::header::Entry;
use http::{HeaderMap, HeaderName, HeaderValue};

/// Declares constants for header names, each with its documentation.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: HeaderName = HeaderName::from_static($text);)*
    };
}

pub use http::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_MATCH, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, USER_AGENT,
};

// What every request carries.
names! {
    /// The date that the signature covers, as an HTTP date; made anew for every attempt.
    DATE = "x-ms-date";
    /// The version of the protocol; see [`value::VERSION`].
    VERSION = "x-ms-version";
    /// A GUID that names the operation: the same on all of its attempts, and echoed by the service.
    ACTIVITY_ID = "x-ms-activity-id";
    /// A GUID that is stable for one client instance.
    CLIENT_ID = "x-ms-client-id";
    /// A GUID that the pages of one query share.
    CORRELATED_ACTIVITY_ID = "x-ms-cosmos-correlated-activityid";
    /// A decimal bit mask of what the client understands; see [`value::CAPABILITIES`].
    SUPPORTED_CAPABILITIES = "x-ms-cosmos-sdk-supportedcapabilities";
}

// Which partition is meant.
names! {
    /// The partition key, as a JSON array in ASCII.
    PARTITION_KEY = "x-ms-documentdb-partitionkey";
    /// The id of one physical partition's range, on requests and on responses.
    PARTITION_KEY_RANGE_ID = "x-ms-documentdb-partitionkeyrangeid";
    /// The lower bound of a range of effective partition keys, in hexadecimal.
    START_EPK = "x-ms-start-epk";
    /// The upper bound, exclusive, of a range of effective partition keys, in hexadecimal.
    END_EPK = "x-ms-end-epk";
    /// Says that the bounds are effective partition keys.
    READ_KEY_TYPE = "x-ms-read-key-type";
    /// The container's resource id that the caller believes in; a container that was made anew
    /// answers `400/1024`.
    INTENDED_COLLECTION_RID = "x-ms-cosmos-intended-collection-rid";
}

// Consistency and regions.
names! {
    /// The session token, on requests and on responses.
    SESSION_TOKEN = "x-ms-session-token";
    /// The consistency level that this request asks for.
    CONSISTENCY_LEVEL = "x-ms-consistency-level";
    /// How this read is to be served; replaces [`CONSISTENCY_LEVEL`].
    READ_CONSISTENCY_STRATEGY = "x-ms-cosmos-read-consistency-strategy";
    /// Allows a region other than the hub to accept a write; without it, satellites of an account
    /// with several write regions answer `403/3`.
    ALLOW_TENTATIVE_WRITES = "x-ms-cosmos-allow-tentative-writes";
    /// Asks the service to have the hub process a read that is repeated after `404/1002`.
    HUB_REGION_PROCESSING_ONLY = "x-ms-cosmos-hub-region-processing-only";
    /// Asks the gateway not to repeat a request by itself after a 449.
    NO_RETRY_449 = "x-ms-noretry-449";
}

// What kind of operation a request is.
names! {
    /// A POST that creates or replaces.
    IS_UPSERT = "x-ms-documentdb-is-upsert";
    /// A POST whose body is a query.
    IS_QUERY = "x-ms-documentdb-isquery";
    /// A POST that asks how a query would be run.
    IS_QUERY_PLAN_REQUEST = "x-ms-cosmos-is-query-plan-request";
    /// What the caller's query engine can do, separated by commas.
    SUPPORTED_QUERY_FEATURES = "x-ms-cosmos-supported-query-features";
    /// The version of the query plan's format; see [`value::QUERY_VERSION`].
    QUERY_VERSION = "x-ms-cosmos-query-version";
    /// Allows a query to look into every partition.
    ENABLE_CROSS_PARTITION_QUERY = "x-ms-documentdb-query-enablecrosspartition";
    /// Asks for [`QUERY_METRICS`].
    POPULATE_QUERY_METRICS = "x-ms-documentdb-populatequerymetrics";
    /// Asks for the container's quotas and usage.
    POPULATE_QUOTA_INFO = "x-ms-documentdb-populatequotainfo";
    /// A POST whose body is a list of operations on one partition key.
    IS_BATCH_REQUEST = "x-ms-cosmos-is-batch-request";
    /// All operations of the batch happen, or none.
    BATCH_ATOMIC = "x-ms-cosmos-batch-atomic";
    /// Whether the rest of a batch that is not atomic goes on after a failure.
    BATCH_CONTINUE_ON_ERROR = "x-ms-cosmos-batch-continue-on-error";
    /// Makes a read of a feed a read of its changes; see [`value::INCREMENTAL_FEED`].
    A_IM = "a-im";
    /// The format of a full-fidelity change feed; see [`value::CHANGE_FEED_WIRE_FORMAT`].
    CHANGE_FEED_WIRE_FORMAT = "x-ms-cosmos-changefeed-wire-format-version";
}

// Pages, bodies and what a request may cost.
names! {
    /// The most items in one page; `-1` leaves it to the service.
    MAX_ITEM_COUNT = "x-ms-max-item-count";
    /// Where the next page begins, on requests and on responses; opaque.
    CONTINUATION = "x-ms-continuation";
    /// `return=minimal` leaves the written item out of the answer; see [`value::RETURN_MINIMAL`].
    PREFER = "prefer";
    /// The throughput of a new database or container, in request units per second.
    OFFER_THROUGHPUT = "x-ms-offer-throughput";
    /// The autoscale settings of a new database or container, as JSON.
    OFFER_AUTOPILOT_SETTINGS = "x-ms-cosmos-offer-autopilot-settings";
    /// How important a request is when its container is throttled.
    PRIORITY_LEVEL = "x-ms-cosmos-priority-level";
    /// The throughput bucket that pays for a request.
    THROUGHPUT_BUCKET = "x-ms-cosmos-throughput-bucket";
    /// How old an answer of the dedicated gateway's cache may be, in milliseconds.
    DEDICATED_GATEWAY_MAX_AGE = "x-ms-dedicatedgateway-max-age";
    /// The triggers that run before a write, separated by commas.
    PRE_TRIGGER_INCLUDE = "x-ms-documentdb-pre-trigger-include";
    /// The triggers that run after a write, separated by commas.
    POST_TRIGGER_INCLUDE = "x-ms-documentdb-post-trigger-include";
    /// Asks for [`SCRIPT_LOG_RESULTS`].
    SCRIPT_ENABLE_LOGGING = "x-ms-documentdb-script-enable-logging";
}

// What only responses carry.
names! {
    /// Says more than the status, as a decimal number; absent means 0.
    SUBSTATUS = "x-ms-substatus";
    /// How long to wait before the next try, in milliseconds; sometimes fractional.
    RETRY_AFTER_MS = "x-ms-retry-after-ms";
    /// What the request cost, in request units.
    REQUEST_CHARGE = "x-ms-request-charge";
    /// How long the service worked, in milliseconds.
    REQUEST_DURATION_MS = "x-ms-request-duration-ms";
    /// How many items the page holds.
    ITEM_COUNT = "x-ms-item-count";
    /// The log sequence number of the replica that answered.
    LSN = "lsn";
    /// The log sequence number of the item.
    ITEM_LSN = "x-ms-item-lsn";
    /// The replica's own log sequence number.
    LOCAL_LSN = "x-ms-cosmos-llsn";
    /// The log sequence number that every region has.
    GLOBAL_COMMITTED_LSN = "x-ms-global-committed-lsn";
    /// The partition inside the service.
    INTERNAL_PARTITION_ID = "x-ms-cosmos-internal-partition-id";
    /// The physical partition.
    PHYSICAL_PARTITION_ID = "x-ms-cosmos-physical-partition-id";
    /// The owner of the resource, by name.
    ALT_CONTENT_PATH = "x-ms-alt-content-path";
    /// The owner of the resource, by resource id.
    CONTENT_PATH = "x-ms-content-path";
    /// The version of the gateway.
    GATEWAY_VERSION = "x-ms-gatewayversion";
    /// The version of the service.
    SERVICE_VERSION = "x-ms-serviceversion";
    /// How the query was run, as JSON.
    QUERY_EXECUTION_INFO = "x-ms-cosmos-query-execution-info";
    /// What the query cost, step by step.
    QUERY_METRICS = "x-ms-documentdb-query-metrics";
    /// What a stored procedure or trigger logged, percent-encoded.
    SCRIPT_LOG_RESULTS = "x-ms-documentdb-script-log-results";
    /// Whether a change of throughput is still being carried out.
    OFFER_REPLACE_PENDING = "x-ms-offer-replace-pending";
}

/// Values that are the same on every request.
pub mod value {
    use http::HeaderValue;

    /// Declares constants for header values, each with its documentation.
    macro_rules! values {
        ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
            $($(#[$doc])* pub const $name: HeaderValue = HeaderValue::from_static($text);)*
        };
    }

    values! {
        /// A boolean header that is set. The service reads it in any case.
        TRUE = "True";
        /// A boolean header that is explicitly not set.
        FALSE = "False";
        /// The version of the protocol, for [`VERSION`](super::VERSION).
        VERSION = "2020-07-15";
        /// What this client understands, for
        /// [`SUPPORTED_CAPABILITIES`](super::SUPPORTED_CAPABILITIES): it ignores tokens it does
        /// not know.
        CAPABILITIES = "8";
        /// The version of the query plan's format, for [`QUERY_VERSION`](super::QUERY_VERSION).
        QUERY_VERSION = "1.0";
        /// The latest version of every changed item, for [`A_IM`](super::A_IM).
        INCREMENTAL_FEED = "Incremental Feed";
        /// Every change, deletions included, for [`A_IM`](super::A_IM).
        FULL_FIDELITY_FEED = "Full-Fidelity Feed";
        /// For [`CHANGE_FEED_WIRE_FORMAT`](super::CHANGE_FEED_WIRE_FORMAT).
        CHANGE_FEED_WIRE_FORMAT = "2021-09-15";
        /// For [`READ_KEY_TYPE`](super::READ_KEY_TYPE).
        EFFECTIVE_PARTITION_KEY_RANGE = "EffectivePartitionKeyRange";
        /// For [`PREFER`](super::PREFER).
        RETURN_MINIMAL = "return=minimal";
        /// The page size is left to the service, for [`MAX_ITEM_COUNT`](super::MAX_ITEM_COUNT).
        SERVICE_DECIDES = "-1";
        /// The type of most bodies.
        JSON = "application/json";
        /// The type of a query.
        QUERY_JSON = "application/query+json";
        /// The type of a partial update.
        JSON_PATCH = "application/json-patch+json";
        /// For [`CACHE_CONTROL`](super::CACHE_CONTROL).
        NO_CACHE = "no-cache";
    }
}

/// Adds a header unless the caller, or an earlier attempt, set it.
pub fn put_if_absent(map: &mut HeaderMap, name: &HeaderName, value: impl FnOnce() -> HeaderValue) {
    // A map that is full takes no more, and the service will miss it.
    if let Ok(Entry::Vacant(place)) = map.try_entry(name) {
        place.insert(value());
    }
}

/// Whether a boolean header is present and says true, in any case: SDKs send `True` and `true`.
#[must_use]
pub fn is_true(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers
        .get(name)
        .is_some_and(|value| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_are_read_in_any_case() {
        for (text, expected) in [
            ("True", true),
            ("true", true),
            ("TRUE ", true),
            ("false", false),
            ("1", false),
        ] {
            let map = HeaderMap::from_iter([(IS_QUERY, HeaderValue::from_static(text))]);
            assert_eq!(is_true(&map, &IS_QUERY), expected, "{text:?}");
        }
        assert!(!is_true(&HeaderMap::new(), &IS_QUERY));
    }
}
