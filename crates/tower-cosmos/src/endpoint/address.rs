//! Addressing a request to a region.

use cosmos_core::{Route, Topology, headers};
use http::header::{HOST, HeaderMap, HeaderValue, USER_AGENT};
use http::{HeaderName, Request};
use uuid::Uuid;

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("tower-cosmos/", env!("CARGO_PKG_VERSION")));

/// Adds the headers that every request to the service carries, where they are absent.
pub(crate) fn put_protocol_headers(map: &mut HeaderMap) {
    put_if_absent(map, &headers::VERSION, || headers::value::VERSION);
    put_if_absent(map, &headers::SUPPORTED_CAPABILITIES, || {
        headers::value::CAPABILITIES
    });
    put_if_absent(map, &USER_AGENT, || AGENT);
}

/// Addresses the request of an operation to an endpoint.
pub(super) fn address<B>(
    request: &mut Request<B>,
    endpoint: &cosmos_core::Endpoint,
    topology: &Topology,
    route: &Route,
) {
    *request.uri_mut() = endpoint.uri(request.uri().path_and_query());
    let map = request.headers_mut();
    map.insert(HOST, endpoint.host_header().clone());
    put_protocol_headers(map);
    put_if_absent(map, &headers::ACTIVITY_ID, || {
        route.activity_id(new_activity_id)
    });
    if topology.is_multi_write() && route.operation().is_write() {
        put_if_absent(map, &headers::ALLOW_TENTATIVE_WRITES, || {
            headers::value::TRUE
        });
    }
}

/// Whether the request is for the account: it names no host, or one of the account's.
pub(super) fn is_for<B>(request: &Request<B>, topology: &Topology) -> bool {
    request.uri().authority().is_none() || topology.owns(request.uri())
}

fn put_if_absent(map: &mut HeaderMap, name: &HeaderName, value: impl FnOnce() -> HeaderValue) {
    if !map.contains_key(name) {
        map.insert(name, value());
    }
}

fn new_activity_id() -> HeaderValue {
    let random = fastrand::u128(..).to_be_bytes();
    let id = uuid::Builder::from_random_bytes(random).into_uuid();
    let mut buffer = Uuid::encode_buffer();
    let text = id.hyphenated().encode_lower(&mut buffer);
    // Hex digits and hyphens are a header value.
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
