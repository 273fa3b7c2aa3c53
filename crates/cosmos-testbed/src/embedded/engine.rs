//! The store behind every region: the Azure SDK team's in-memory emulator.

use std::sync::Arc;

use azure_core::http::headers::{HeaderName as CoreName, HeaderValue as CoreValue};
use azure_core::http::{Method as CoreMethod, Request as CoreRequest, Url};
use azure_data_cosmos_driver::in_memory_emulator::{
    EmulatorStore, InMemoryEmulatorHttpClient, VirtualAccountConfig,
};
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};

use super::reply::{self, Reply, ReplyBody};

/// The emulator, spoken to in the vocabulary of the `http` crate.
#[derive(Debug)]
pub(crate) struct Engine {
    emulator: InMemoryEmulatorHttpClient,
    store: Arc<EmulatorStore>,
}

/// A request for the emulator.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) path_and_query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The emulator's answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Engine {
    pub(crate) fn new(config: VirtualAccountConfig) -> Result<Self, String> {
        let emulator =
            InMemoryEmulatorHttpClient::try_new(config).map_err(|error| error.to_string())?;
        let store = emulator.store();
        Ok(Self { emulator, store })
    }

    pub(crate) fn store(&self) -> &Arc<EmulatorStore> {
        &self.store
    }

    /// The region that accepts writes (of a multi-write account: the hub).
    pub(crate) fn hub(&self) -> String {
        self.store.config().write_region_name()
    }

    /// The URL under which the emulator knows the hub.
    pub(crate) fn hub_url(&self) -> Option<Url> {
        let topology = self.store.config().topology_snapshot();
        let hub = topology.write_region;
        let mut regions = topology.active.iter();
        regions
            .find(|region| region.name() == hub)
            .map(|region| region.gateway_url().clone())
    }

    /// Lets the region at `url` answer. What the emulator cannot answer is a 500 that says so.
    pub(crate) async fn answer(&self, url: &Url, ask: Ask) -> Answer {
        match self.try_answer(url, ask).await {
            Ok(answer) => answer,
            Err(error) => Answer {
                status: StatusCode::INTERNAL_SERVER_ERROR,
                headers: HeaderMap::new(),
                body: format!("the emulator did not answer: {error}").into(),
            },
        }
    }

    async fn try_answer(&self, url: &Url, ask: Ask) -> Result<Answer, String> {
        let url = url.join(&ask.path_and_query).map_err(|e| e.to_string())?;
        let method: CoreMethod = ask.method.as_str().parse().map_err(text)?;
        let mut request = CoreRequest::new(url, method);
        for (name, value) in &ask.headers {
            if *name == HOST || *name == CONTENT_LENGTH || *name == CONNECTION {
                continue;
            }
            let value = value.to_str().map_err(|e| e.to_string())?.to_owned();
            let name = CoreName::from(name.as_str().to_owned());
            request.headers_mut().insert(name, CoreValue::from(value));
        }
        request.set_body(ask.body);
        let answer = self.emulator.execute_request(&request).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let (status, core_headers, body) = answer.deconstruct();
        let body = body.collect().await.map_err(text)?;
        let mut headers = HeaderMap::new();
        for (name, value) in core_headers.iter() {
            let name: HeaderName = name.as_str().parse().map_err(|_| "a header's name")?;
            let value = HeaderValue::from_str(value.as_str()).map_err(|_| "a header's value")?;
            headers.insert(name, value);
        }
        // The connection decides about these, not the store.
        for name in [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] {
            headers.remove(name);
        }
        let status = StatusCode::from_u16(status.into()).map_err(|e| e.to_string())?;
        Ok(Answer {
            status,
            headers,
            body,
        })
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn into_reply(self) -> Reply {
        let mut reply = Response::new(ReplyBody::whole(self.body));
        *reply.status_mut() = self.status;
        *reply.headers_mut() = self.headers;
        reply
    }
}

/// A write at a place that does not take it.
pub(crate) fn write_forbidden() -> Reply {
    let message = "Write operations are not permitted at this region.";
    reply::failure(StatusCode::FORBIDDEN, Some(3), None, message)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn text(error: azure_core::Error) -> String {
    error.to_string()
}
