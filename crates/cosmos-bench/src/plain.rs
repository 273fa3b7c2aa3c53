//! A hyper client that knows one region: what one writes first, and what is below the layers.

use bytes::Bytes;
use cosmos_core::BoxError;
use cosmos_core::headers::{VERSION, value};
use http::uri::{Authority, Scheme};
use http::{Request, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// hyper's client with its pool, in cleartext.
pub(crate) type Hyper = Client<HttpConnector, Full<Bytes>>;

/// A client that speaks HTTP/2 only, or HTTP/1.1.
pub(crate) fn hyper(http2: bool) -> Hyper {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new())
        .http2_only(http2)
        .build(connector)
}

/// Where an endpoint is.
pub(crate) fn region(endpoint: &str) -> Result<Authority, BoxError> {
    let parts = endpoint.parse::<Uri>()?.into_parts();
    Ok(parts.authority.ok_or("an endpoint without a host")?)
}

/// Sends a request to a region, with the version that every one has to name.
pub(crate) fn address<B>(request: &mut Request<B>, region: &Authority) -> Result<(), BoxError> {
    let mut uri = std::mem::take(request.uri_mut()).into_parts();
    uri.scheme = Some(Scheme::HTTP);
    uri.authority = Some(region.clone());
    *request.uri_mut() = Uri::from_parts(uri)?;
    request.headers_mut().insert(VERSION, value::VERSION);
    Ok(())
}
