//! What one writes first: a plain hyper client that is pinned to the preferred region. It signs, it
//! has a time limit, it tries nothing twice, and it keeps as many connections as it takes.

use std::error::Error;
use std::time::SystemTime;

use bytes::Bytes;
use cosmos_core::headers::{self, value};
use cosmos_core::signing::{MasterKey, http_date};
use cosmos_core::{BoxError, Operation};
use cosmos_examples::client::{Answer, Client};
use cosmos_testbed::EmbeddedAccount;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::{Instant, timeout_at};

use crate::setup::HUB;

/// A plain client of one region, over HTTP/1.1.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    client: HyperClient<HttpConnector, Full<Bytes>>,
    key: MasterKey,
    region: Authority,
    multi_write: bool,
}

impl Plain {
    /// A client of the account's preferred region.
    pub(crate) fn new(
        account: &EmbeddedAccount,
        multi_write: bool,
    ) -> Result<Self, Box<dyn Error>> {
        let endpoint = account.region_endpoint(HUB).ok_or("no such region")?;
        let region = endpoint.parse::<Uri>()?.into_parts().authority;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Ok(Self {
            client: HyperClient::builder(TokioExecutor::new()).build(connector),
            key: MasterKey::from_base64(account.key())?,
            region: region.ok_or("an endpoint without a host")?,
            multi_write,
        })
    }

    async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<Response<Bytes>, BoxError> {
        // What every request to the service carries.
        let date = http_date(now());
        let signature = self.key.sign(request.method(), request.uri().path(), &date);
        let operation =
            Operation::classify(request.method(), request.uri().path(), request.headers());
        let map = request.headers_mut();
        map.insert(headers::AUTHORIZATION, signature);
        map.insert(headers::DATE, HeaderValue::try_from(date)?);
        map.insert(headers::VERSION, value::VERSION);
        if self.multi_write && operation.is_some_and(Operation::is_write) {
            map.insert(headers::ALLOW_TENTATIVE_WRITES, value::TRUE);
        }
        let mut uri = request.uri().clone().into_parts();
        uri.scheme = Some(Scheme::HTTP);
        uri.authority = Some(self.region.clone());
        *request.uri_mut() = Uri::from_parts(uri)?;

        let (parts, body) = self.client.request(request).await?.into_parts();
        // An answer is one when all of it is there.
        let body = body.collect().await?.to_bytes();
        Ok(Response::from_parts(parts, body))
    }
}

impl Client for Plain {
    async fn perform(&self, request: Request<Full<Bytes>>, deadline: Instant) -> Answer {
        match timeout_at(deadline, self.send(request)).await {
            Ok(result) => Answer::of(&result),
            Err(_) => Answer::given_up("deadline exceeded"),
        }
    }
}

/// The wall time, for the date that is signed.
#[allow(clippy::disallowed_methods)]
fn now() -> SystemTime {
    SystemTime::now()
}
