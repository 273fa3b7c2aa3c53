//! The account as a Tower service.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use cosmos_core::{BoxError, TransportError};
use futures::future::BoxFuture;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Collected, Full};
use parking_lot::Mutex;
use tokio::time::Instant;
use tower_service::Service;

use super::document::label_of;
use super::step::Then;
use super::{Container, Document, ScriptedBody, Step, Wire, WireEntry};

/// What a request is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// An operation of a caller.
    Data,
    /// The account document.
    AccountRead,
    /// The properties or the ranges of a known container.
    ContainerRead,
}

type Respond = Arc<dyn Fn(Purpose, &WireEntry) -> Option<Step> + Send + Sync>;

/// Regions that follow scripts. Clones share everything.
#[derive(Clone)]
pub struct ScriptedAccount(Arc<Shared>);

struct Shared {
    start: Instant,
    state: Mutex<State>,
}

struct State {
    document: Document,
    // What is served for `GET /` instead of the document's JSON.
    raw_document: Option<Bytes>,
    // By link.
    containers: HashMap<String, Container>,
    // Every region that ever was, by its host label.
    names: HashMap<String, String>,
    data: Traffic,
    account_reads: Traffic,
    container_reads: Traffic,
    respond: Option<Respond>,
    open: usize,
}

/// Requests of one kind: how regions answer them, and which arrived.
#[derive(Default)]
struct Traffic {
    scripts: HashMap<String, VecDeque<Step>>,
    wire: Wire,
}

impl Traffic {
    fn script(&mut self, region: &str, steps: impl IntoIterator<Item = Step>) {
        let script = self.scripts.entry(label_of(region)).or_default();
        script.extend(steps);
    }

    fn next_step(&mut self, region: &str) -> Option<Step> {
        let script = self.scripts.get_mut(&label_of(region))?;
        if script.front()?.forever {
            script.front().cloned()
        } else {
            script.pop_front()
        }
    }
}

impl ScriptedAccount {
    /// The global endpoint of every scripted account.
    pub const ENDPOINT: &'static str = "https://scripted.test/";

    /// An account with this document, whose regions answer well until scripted otherwise.
    #[must_use]
    pub fn new(document: Document) -> Self {
        let mut state = State {
            names: HashMap::new(),
            document,
            raw_document: None,
            containers: HashMap::new(),
            data: Traffic::default(),
            account_reads: Traffic::default(),
            container_reads: Traffic::default(),
            respond: None,
            open: 0,
        };
        state.learn_names();
        Self(Arc::new(Shared {
            start: Instant::now(),
            state: Mutex::new(state),
        }))
    }

    /// The time since the account was made, as the wire log counts it.
    #[must_use]
    pub fn elapsed(&self) -> std::time::Duration {
        self.0.start.elapsed()
    }

    /// Adds steps to a region's script; `global` scripts the global endpoint's data requests.
    pub fn script(&self, region: &str, steps: impl IntoIterator<Item = Step>) {
        self.0.state.lock().data.script(region, steps);
    }

    /// Forgets what is left of a region's script: it answers well again.
    pub fn heal(&self, region: &str) {
        self.0.state.lock().data.scripts.remove(&label_of(region));
    }

    /// Adds steps for reads of the account document at a region, or `global`.
    pub fn script_account_reads(&self, region: &str, steps: impl IntoIterator<Item = Step>) {
        self.0.state.lock().account_reads.script(region, steps);
    }

    /// Adds steps for reads of known containers at a region.
    pub fn script_container_reads(&self, region: &str, steps: impl IntoIterator<Item = Step>) {
        self.0.state.lock().container_reads.script(region, steps);
    }

    /// Forgets what is left of a region's script for reads of known containers.
    pub fn heal_container_reads(&self, region: &str) {
        let mut state = self.0.state.lock();
        state.container_reads.scripts.remove(&label_of(region));
    }

    /// Asks this what to do with every request that no script has a step for; `None` is a good
    /// answer. It must not use the account.
    pub fn respond_with(
        &self,
        respond: impl Fn(Purpose, &WireEntry) -> Option<Step> + Send + Sync + 'static,
    ) {
        self.0.state.lock().respond = Some(Arc::new(respond));
    }

    /// Serves the properties and the partition key ranges of a container, such as `dbs/d/colls/c`,
    /// from now on.
    pub fn set_container(&self, link: &str, container: Container) {
        let mut state = self.0.state.lock();
        state.containers.insert(link.to_owned(), container);
    }

    /// Serves another document from now on.
    pub fn set_document(&self, document: Document) {
        let mut state = self.0.state.lock();
        state.document = document;
        state.raw_document = None;
        state.learn_names();
    }

    /// Serves these bytes as the account document from now on.
    pub fn set_raw_document(&self, text: impl Into<Bytes>) {
        self.0.state.lock().raw_document = Some(text.into());
    }

    /// The requests that arrived so far, reads of the account and of known containers apart.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.0.state.lock().data.wire.clone()
    }

    /// The reads of the account document that arrived so far.
    #[must_use]
    pub fn account_reads(&self) -> Wire {
        self.0.state.lock().account_reads.wire.clone()
    }

    /// The reads of known containers that arrived so far.
    #[must_use]
    pub fn container_reads(&self) -> Wire {
        self.0.state.lock().container_reads.wire.clone()
    }

    /// Forgets the requests that arrived so far.
    pub fn clear_wire(&self) {
        let mut state = self.0.state.lock();
        for traffic in state.all_traffic() {
            traffic.wire = Wire::default();
        }
    }

    /// How many requests have arrived and were neither answered nor dropped.
    #[must_use]
    pub fn open(&self) -> usize {
        self.0.state.lock().open
    }
}

impl State {
    fn learn_names(&mut self) {
        for name in self.document.readable.iter().chain(&self.document.writable) {
            self.names.insert(label_of(name), name.clone());
        }
    }

    fn region_of(&self, host: &str) -> Option<String> {
        let label = host.strip_suffix(".test")?;
        match label.strip_prefix("scripted-") {
            Some(region) => self.names.get(region).cloned(),
            None => (label == "scripted").then(|| "global".to_owned()),
        }
    }

    fn all_traffic(&mut self) -> [&mut Traffic; 3] {
        [
            &mut self.data,
            &mut self.account_reads,
            &mut self.container_reads,
        ]
    }

    /// What a request is for, and how it is answered unless a script says
    /// otherwise.
    fn receive(&self, method: &Method, path: &str, etag: Option<&str>) -> (Purpose, Good) {
        if method == Method::GET && path == "/" {
            return (Purpose::AccountRead, Good::Document(self.document()));
        }
        let (link, ranges) = match path.trim_matches('/').strip_suffix("/pkranges") {
            Some(link) => (link, true),
            None => (path.trim_matches('/'), false),
        };
        if let (&Method::GET, Some(container)) = (method, self.containers.get(link)) {
            let good = if ranges {
                let (page, etag) = container.ranges(etag);
                Good::Ranges(page, etag)
            } else {
                Good::Document(container.properties().to_string().into())
            };
            return (Purpose::ContainerRead, good);
        }
        let good = if method == Method::POST {
            Good::Created
        } else {
            Good::Read
        };
        (Purpose::Data, good)
    }

    fn traffic(&mut self, purpose: Purpose) -> &mut Traffic {
        match purpose {
            Purpose::Data => &mut self.data,
            Purpose::AccountRead => &mut self.account_reads,
            Purpose::ContainerRead => &mut self.container_reads,
        }
    }

    fn document(&self) -> Bytes {
        let raw = self.raw_document.clone();
        raw.unwrap_or_else(|| self.document.to_json().into())
    }
}

/// A request under way: no longer open once it is answered or dropped.
struct Open(Arc<Shared>);

impl Open {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.state.lock().open += 1;
        Self(Arc::clone(shared))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.state.lock().open -= 1;
    }
}

impl Service<Request<Full<Bytes>>> for ScriptedAccount {
    type Response = Response<ScriptedBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            let _open = Open::new(&shared);
            let (parts, body) = request.into_parts();
            let body = body
                .collect()
                .await
                .map(Collected::to_bytes)
                .unwrap_or_default();
            let (step, good) = {
                let mut state = shared.state.lock();
                let host = parts.uri.host().unwrap_or_default();
                let Some(region) = state.region_of(host) else {
                    return Err(format!("no such host: {host:?}").into());
                };
                let etag = parts.headers.get(http::header::IF_NONE_MATCH);
                let etag = etag.and_then(|etag| etag.to_str().ok());
                let (purpose, good) = state.receive(&parts.method, parts.uri.path(), etag);
                let entry = WireEntry {
                    region: region.clone(),
                    at: shared.start.elapsed(),
                    method: parts.method,
                    path: parts
                        .uri
                        .path_and_query()
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                    headers: parts.headers,
                    body,
                };
                let respond = state.respond.clone();
                let traffic = state.traffic(purpose);
                let step = traffic.next_step(&region);
                let step = step.or_else(|| respond.and_then(|respond| respond(purpose, &entry)));
                traffic.wire.0.push(entry);
                (step, good)
            };
            let Some(step) = step else {
                return good.answer();
            };
            tokio::time::sleep(step.delay).await;
            perform(step.then).await
        })
    }
}

/// How a request is answered unless a script says otherwise.
enum Good {
    Read,
    Created,
    Document(Bytes),
    /// A page of ranges, if there is news, and its etag.
    Ranges(Option<serde_json::Value>, String),
}

impl Good {
    fn answer(self) -> Result<Response<ScriptedBody>, BoxError> {
        let response = Response::builder();
        Ok(match self {
            Self::Read => response.body(Bytes::from_static(b"{}").into())?,
            Self::Created => response
                .status(StatusCode::CREATED)
                .body(Bytes::from_static(b"{}").into())?,
            Self::Document(document) => response.body(document.into())?,
            Self::Ranges(None, etag) => response
                .status(StatusCode::NOT_MODIFIED)
                .header(http::header::ETAG, etag)
                .body(Bytes::new().into())?,
            Self::Ranges(Some(page), etag) => response
                .header(http::header::ETAG, etag)
                .body(Bytes::from(page.to_string()).into())?,
        })
    }
}

async fn perform(then: Then) -> Result<Response<ScriptedBody>, BoxError> {
    match then {
        Then::Answer {
            status,
            headers,
            body,
            end,
        } => {
            let body = ScriptedBody::new(body, end);
            let mut response = Response::new(body);
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            Ok(response)
        }
        Then::Fail(kind) => Err(TransportError::new(kind).into()),
        Then::Hang => std::future::pending().await,
    }
}

impl fmt::Debug for ScriptedAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.state.lock();
        f.debug_struct("ScriptedAccount")
            .field("document", &state.document)
            .finish_non_exhaustive()
    }
}
