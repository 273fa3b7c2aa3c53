use std::sync::Arc;
use std::task::{Context, Poll};

use cosmos_core::{Action, AnswerListener, BoxError, Operation, Resource, Route, Status, headers};
use http::{HeaderMap, HeaderValue, Request, Response};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use super::store::Store;
use crate::Account;
use crate::scope::Scope;

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
        let account = self.account.clone();
        SessionToken {
            inner,
            account,
            store: Arc::clone(&self.store),
            enabled: self.enabled,
        }
    }
}

/// Puts session tokens on requests and learns them from answers. See the [module](super).
#[derive(Clone, Debug)]
pub struct SessionToken<S> {
    inner: S,
    account: Account,
    store: Arc<Store>,
    enabled: bool,
}

impl<S> SessionToken<S> {
    fn prepare<B>(&self, request: &Request<B>, route: &Route) {
        let Some(container) = Operation::container_of(request.uri().path()) else {
            return;
        };
        if self.sends(route.operation(), request.headers()) {
            let range = range_of(request.headers()).or(route.rules().range.as_deref());
            let value = self.store.value(&container, range);
            if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
                route.put_header(headers::SESSION_TOKEN, value);
            }
        }
        let store = Arc::clone(&self.store);
        route.listen(|| {
            Arc::new(Learner {
                store,
                container: container.into(),
            })
        });
    }

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
        match asked {
            Some(level) => level
                .as_bytes()
                .trim_ascii()
                .eq_ignore_ascii_case(b"session"),
            None => self
                .account
                .topology()
                .is_none_or(|t| t.has_session_consistency()),
        }
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
            self.store.learn(&self.container, rid, range_of(map), value);
        }
    }
}

impl<S, B, R> Service<Request<B>> for SessionToken<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let scope = if self.enabled {
            Scope::enter(&mut request)
        } else {
            None
        };
        if let Some(scope) = &scope {
            self.prepare(&request, &scope.route);
        }
        let future = self.inner.call(request);
        ResponseFuture { scope, future }
    }
}

pin_project! {
    /// The response future of [`SessionToken`].
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct ResponseFuture<F> {
        scope: Option<Scope>,
        #[pin]
        future: F,
    }
}

impl<F, R, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<R>, BoxError>;

    fn poll(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let scope = this.scope.as_ref();
        let _operation = scope.map(Scope::trace);
        let result = this.future.poll(cx).map_err(Into::into);
        result.map_ok(|response| match scope {
            Some(scope) => scope.answer(response),
            None => response,
        })
    }
}
