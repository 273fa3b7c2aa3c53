//! The headers that every request to the service carries.

use cosmos_core::headers;
use http::header::{Entry, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("tower-cosmos/", env!("CARGO_PKG_VERSION")));

/// Adds version, capabilities and user agent where they are absent.
pub(crate) fn put_protocol_headers(map: &mut HeaderMap) {
    put_if_absent(map, &headers::VERSION, || headers::value::VERSION);
    put_if_absent(map, &headers::SUPPORTED_CAPABILITIES, || {
        headers::value::CAPABILITIES
    });
    put_if_absent(map, &USER_AGENT, || AGENT);
}

/// Adds a header unless the caller, or an earlier attempt, set it.
pub(crate) fn put_if_absent(
    map: &mut HeaderMap,
    name: &HeaderName,
    value: impl FnOnce() -> HeaderValue,
) {
    // A map that is full takes no more, and the service will miss it.
    if let Ok(Entry::Vacant(place)) = map.try_entry(name) {
        place.insert(value());
    }
}
