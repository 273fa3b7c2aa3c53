//! Addressing a request to a region.

use cosmos_core::headers::{self, put_if_absent};
use cosmos_core::{Route, Topology};
use http::header::HOST;
use http::{HeaderValue, Request};
use uuid::Uuid;

use crate::protocol::put_protocol_headers;

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
    route.add_headers(map);
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

fn new_activity_id() -> HeaderValue {
    let random = fastrand::u128(..).to_be_bytes();
    let id = uuid::Builder::from_random_bytes(random).into_uuid();
    let mut buffer = Uuid::encode_buffer();
    let text = id.hyphenated().encode_lower(&mut buffer);
    // Hex digits and hyphens are a header value.
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
