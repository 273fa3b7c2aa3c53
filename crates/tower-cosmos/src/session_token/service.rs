use std::sync::Arc;

use cosmos_core::{
    Action, AnswerListener, Operation, RangeId, Resource, Route, Status, Topology, headers,
};
use http::{HeaderMap, HeaderValue, Request};
use tower_layer::Layer;

use super::store::Store;
use crate::Account;
use crate::prepare::{Preparation, Prepare};

/// The default number of containers whose tokens are kept.
const MAX_CONTAINERS: usize = 1000;

/// Layers [`SessionToken`]. See the [module](super). Services made by one layer share what they
/// learn.
#[derive(Clone, Debug)]
#[must_use]
pub struct SessionTokenLayer {
    account: Account,
    store: Arc<Store>,
    enabled: bool,
}

impl SessionTokenLayer {
    /// A layer that keeps the tokens of up to 1,000 containers.
    pub fn new(account: Account) -> Self {
        Self {
            account,
            store: Arc::new(Store::new(MAX_CONTAINERS)),
            enabled: true,
        }
    }

    /// With `false`, the layer does nothing. Default `true`.
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// How many containers' tokens are kept, at least one; the one used longest ago goes first.
    /// Default 1,000.
    pub fn max_containers(mut self, containers: usize) -> Self {
        self.store = Arc::new(Store::new(containers));
        self
    }
}

impl<S> Layer<S> for SessionTokenLayer {
    type Service = SessionToken<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Prepare::with(inner, SessionTokenPreparation(self.clone()))
    }
}

/// Puts session tokens on requests and learns them from answers. See the [module](super).
pub type SessionToken<S> = Prepare<SessionTokenPreparation, S>;

/// Asks for an operation's session token and learns from its answers.
#[derive(Clone, Debug)]
pub struct SessionTokenPreparation(SessionTokenLayer);

impl Preparation for SessionTokenPreparation {
    fn is_off(&self) -> bool {
        !self.0.enabled
    }

    fn account(&self) -> &Account {
        &self.0.account
    }

    fn prepare<B>(&self, request: &Request<B>, route: &Route) {
        let Some(container) = route.container() else {
            return;
        };
        // Fixed by the first attempt, with a token or without: below a layer that retries, what was
        // learned meanwhile is for later operations.
        let is_open = route.with_attempts(<[_]>::is_empty);
        if is_open && self.0.sends(route.operation(), request.headers()) {
            let ancestors = route.ancestors().unwrap_or_default();
            let range = route.range();
            let value = self.0.store.value(container, range.as_ref(), &ancestors);
            if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
                route.put_header(headers::SESSION_TOKEN, value);
            }
        }
        let store = Arc::clone(&self.0.store);
        route.listen(|| {
            Arc::new(Learner {
                store,
                container: container.into(),
                range: route.range(),
            })
        });
    }
}

impl SessionTokenLayer {
    /// Whether an operation is to carry what was learned.
    fn sends(&self, operation: Operation, map: &HeaderMap) -> bool {
        operation.is_document()
            && !map.contains_key(headers::SESSION_TOKEN)
            && (operation.is_read() || self.account.is_multi_write())
            && self.is_session(map)
    }

    fn is_session(&self, map: &HeaderMap) -> bool {
        let asked = map
            .get(headers::READ_CONSISTENCY_STRATEGY)
            .or_else(|| map.get(headers::CONSISTENCY_LEVEL));
        if let Some(level) = asked {
            let level = level.as_bytes().trim_ascii();
            return level.eq_ignore_ascii_case(b"session");
        }
        let topology = self.account.snapshot();
        let topology = topology.as_deref();
        topology.is_none_or(Topology::has_session_consistency)
    }
}

fn range_of(map: &HeaderMap) -> Option<&str> {
    text(map, &headers::PARTITION_KEY_RANGE_ID)
}

fn text<'a>(map: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    map.get(name)?
        .to_str()
        .ok()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

/// Learns from the answers of one operation.
#[derive(Debug)]
struct Learner {
    store: Arc<Store>,
    container: Box<str>,
    // As it was when the operation was given its token; an answer may correct it.
    range: Option<RangeId>,
}

impl AnswerListener for Learner {
    fn answered(&self, operation: Operation, status: Status, map: &HeaderMap) {
        if operation.resource() == Resource::Container && operation.action() == Action::Delete {
            if status.is_success() {
                self.store.forget(&self.container);
            }
            return;
        }
        let teaches = status.is_success()
            || matches!(status.code(), 304 | 409 | 412)
            || status.code() == 404 && status != Status::READ_SESSION_NOT_AVAILABLE;
        if !operation.is_document() || !teaches {
            return;
        }
        if let Some(value) = text(map, &headers::SESSION_TOKEN) {
            let rid = text(map, &headers::CONTENT_PATH);
            let asked = self.range.as_ref();
            self.store
                .learn(&self.container, rid, asked, range_of(map), value);
        }
    }
}
