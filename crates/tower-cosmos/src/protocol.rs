//! The headers that every request to the service carries.

use cosmos_core::headers::{self, put_if_absent};
use http::header::{HeaderMap, HeaderValue, USER_AGENT};

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
