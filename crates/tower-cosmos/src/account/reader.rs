//! Reading the account document from one endpoint.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cosmos_core::policy::throttle::{self, ThrottleLimits};
use cosmos_core::policy::{Jitter, Verdict, verdict};
use cosmos_core::{
    Action, BoxError, Endpoint, FailureKind, Operation, Outcome, Resource, Sent, Status, headers,
};
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;
use tower_service::Service;

use super::refresh::RefreshSettings;
use super::refresh_error::RefreshError;
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::credential::{Credential, ToSign};
use crate::metadata::body_of;
use crate::protocol::put_protocol_headers;
use crate::transport;

/// The largest account document read, in bytes.
const MAX_DOCUMENT: usize = 1024 * 1024;

/// Further tries at an endpoint that could not be reached, while nothing is known yet.
const START_UP_WAITS: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(200)];

/// The leaf for reads of our own.
pub(crate) type Leaf = BoxCloneSyncService<Request<Full<Bytes>>, Response<LeafBody>, BoxError>;

type LeafBody = UnsyncBoxBody<Bytes, BoxError>;

/// Reads account documents, each read signed and limited.
pub(super) struct Reader {
    leaf: Leaf,
    documents: BoxCloneSyncService<Request<Full<Bytes>>, Response<Full<Bytes>>, BoxError>,
    credential: Arc<dyn Credential>,
    clock: Clock,
    timeout: Duration,
    jitter: Jitter,
}

impl Reader {
    pub(super) fn new<L, R>(
        leaf: L,
        credential: Arc<dyn Credential>,
        clock: Clock,
        settings: RefreshSettings,
    ) -> Self
    where
        L: Service<Request<Full<Bytes>>, Response = Response<R>> + Clone + Send + Sync + 'static,
        L::Error: Into<BoxError>,
        L::Future: Send,
        R: Body<Data = Bytes> + Send + 'static,
        R::Error: Into<BoxError>,
    {
        let leaf = leaf
            .map_response(|response: Response<R>| {
                response.map(|body| body.map_err(Into::into).boxed_unsync())
            })
            .map_err(|error: L::Error| -> BoxError { error.into() });
        let leaf = BoxCloneSyncService::new(leaf);
        Self {
            documents: BoxCloneSyncService::new(Buffer::new(leaf.clone(), MAX_DOCUMENT)),
            leaf,
            credential,
            clock,
            timeout: settings.read_timeout,
            jitter: settings.jitter,
        }
    }

    pub(super) fn leaf(&self) -> Leaf {
        self.leaf.clone()
    }

    pub(super) fn credential(&self) -> Arc<dyn Credential> {
        Arc::clone(&self.credential)
    }

    /// Reads the document from one endpoint, within the read timeout, waits included.
    pub(super) async fn read(
        &self,
        endpoint: &Endpoint,
        starting_up: bool,
    ) -> Result<Bytes, RefreshError> {
        let read = self.read_persistently(endpoint, starting_up);
        match tokio::time::timeout(self.timeout, read).await {
            Ok(result) => result,
            Err(_) => Err(RefreshError::Timeout),
        }
    }

    async fn read_persistently(
        &self,
        endpoint: &Endpoint,
        starting_up: bool,
    ) -> Result<Bytes, RefreshError> {
        let mut throttled = (0, Duration::ZERO);
        let mut waits = START_UP_WAITS.iter().filter(|_| starting_up);
        loop {
            let wait = match self.read_once(endpoint).await {
                Ok(response) => {
                    let status = Status::of_response(&response);
                    if status.is_success() {
                        return Ok(body_of(response).await);
                    }
                    let operation = Operation::new(Action::Read, Resource::Account);
                    let verdict = verdict(operation, true, false, Outcome::Answered(status));
                    let hint = throttle::hint(response.headers());
                    let limits = ThrottleLimits::default();
                    match throttle::wait(limits, throttled, hint, self.jitter) {
                        Some(wait) if verdict == Verdict::Throttled => {
                            throttled = (throttled.0 + 1, throttled.1 + wait);
                            wait
                        }
                        _ => return Err(RefreshError::Status(status)),
                    }
                }
                Err(error) => {
                    let kind = transport::classify(&*error);
                    match waits.next() {
                        Some(wait)
                            if kind.sent() == Sent::No && kind != FailureKind::Credential =>
                        {
                            *wait
                        }
                        _ => return Err(RefreshError::Transport(error)),
                    }
                }
            };
            tokio::time::sleep(wait).await;
        }
    }

    async fn read_once(&self, endpoint: &Endpoint) -> Result<Response<Full<Bytes>>, BoxError> {
        let (date, authorization) = self.clock.with_date(|date| {
            let to_sign = ToSign {
                method: &Method::GET,
                path: "/",
                date: &date.text,
            };
            (date.value.clone(), self.credential.authorize(&to_sign))
        });
        let authorization = authorization
            .map_err(|error| cosmos_core::TransportError::caused(FailureKind::Credential, error))?;
        let mut request = Request::new(Full::default());
        *request.uri_mut() = endpoint.uri(None);
        let map = request.headers_mut();
        map.insert(http::header::HOST, endpoint.host_header().clone());
        map.insert(headers::AUTHORIZATION, authorization);
        map.insert(headers::DATE, date);
        map.insert(headers::ACCEPT, headers::value::JSON);
        put_protocol_headers(map);
        self.documents.clone().oneshot(request).await
    }
}
