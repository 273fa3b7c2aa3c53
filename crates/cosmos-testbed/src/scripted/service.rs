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
use super::{Document, ScriptedBody, Step, Wire, WireEntry};

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
    scripts: HashMap<String, VecDeque<Step>>,
    account_scripts: HashMap<String, VecDeque<Step>>,
    // Every region that ever was, by its host label.
    names: HashMap<String, String>,
    data: Wire,
    account_reads: Wire,
    open: usize,
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
            scripts: HashMap::new(),
            account_scripts: HashMap::new(),
            data: Wire::default(),
            account_reads: Wire::default(),
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
        let mut state = self.0.state.lock();
        state
            .scripts
            .entry(label_of(region))
            .or_default()
            .extend(steps);
    }

    /// Forgets what is left of a region's script: it answers well again.
    pub fn heal(&self, region: &str) {
        self.0.state.lock().scripts.remove(&label_of(region));
    }

    /// Adds steps for reads of the account document at a region, or `global`.
    pub fn script_account_reads(&self, region: &str, steps: impl IntoIterator<Item = Step>) {
        let mut state = self.0.state.lock();
        state
            .account_scripts
            .entry(label_of(region))
            .or_default()
            .extend(steps);
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

    /// The requests that arrived so far, account reads apart.
    #[must_use]
    pub fn wire(&self) -> Wire {
        self.0.state.lock().data.clone()
    }

    /// The reads of the account document that arrived so far.
    #[must_use]
    pub fn account_reads(&self) -> Wire {
        self.0.state.lock().account_reads.clone()
    }

    /// Forgets the requests that arrived so far.
    pub fn clear_wire(&self) {
        let mut state = self.0.state.lock();
        state.data = Wire::default();
        state.account_reads = Wire::default();
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

    fn next_step(&mut self, region: &str, account_read: bool) -> Option<Step> {
        let scripts = if account_read {
            &mut self.account_scripts
        } else {
            &mut self.scripts
        };
        let script = scripts.get_mut(&label_of(region))?;
        if script.front()?.forever {
            script.front().cloned()
        } else {
            script.pop_front()
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
            let account_read = parts.method == Method::GET && parts.uri.path() == "/";
            let create = parts.method == Method::POST;
            let (step, document) = {
                let mut state = shared.state.lock();
                let host = parts.uri.host().unwrap_or_default();
                let Some(region) = state.region_of(host) else {
                    return Err(format!("no such host: {host:?}").into());
                };
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
                let log = if account_read {
                    &mut state.account_reads
                } else {
                    &mut state.data
                };
                log.0.push(entry);
                (state.next_step(&region, account_read), state.document())
            };
            let Some(step) = step else {
                return Ok(if account_read {
                    Response::new(document.into())
                } else {
                    good_answer(create)
                });
            };
            tokio::time::sleep(step.delay).await;
            perform(step.then).await
        })
    }
}

fn good_answer(create: bool) -> Response<ScriptedBody> {
    let mut response = Response::new(Bytes::from_static(b"{}").into());
    if create {
        *response.status_mut() = StatusCode::CREATED;
    }
    response
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
