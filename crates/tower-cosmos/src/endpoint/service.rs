use std::task::{Context, Poll};

use cosmos_core::seeded::{self, Fault};
use cosmos_core::{
    Begin, BoxError, FailureKind, Reason, Route, Topology, TransportError, headers, selection,
};
use http::{Request, Response, Uri};
use tower_layer::Layer;
use tower_service::Service;

use super::address::{address, is_for};
use super::future::{Placed, ResponseFuture};
use crate::Account;
use crate::clock::now;
use crate::held::Held;
use crate::scope::Scope;

/// More headers than endpoint and signing layer, and what layers ask for, add together.
const MOST_HEADERS: usize = 16;

/// Layers [`Endpoint`]. See the [module](super).
#[derive(Clone, Debug)]
#[must_use]
pub struct EndpointLayer {
    account: Account,
}

impl EndpointLayer {
    /// A layer that sends requests to the account's regions.
    pub fn new(account: Account) -> Self {
        Self { account }
    }
}

impl<S> Layer<S> for EndpointLayer {
    type Service = Endpoint<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Endpoint::new(inner, self.account.clone())
    }
}

/// Sends requests to the account's regions. See the [module](super).
#[derive(Clone, Debug)]
pub struct Endpoint<S> {
    inner: S,
    account: Account,
}

impl<S> Endpoint<S> {
    /// Wraps a service.
    pub fn new(inner: S, account: Account) -> Self {
        Self { inner, account }
    }

    /// A layer for the account.
    pub fn layer(account: Account) -> EndpointLayer {
        EndpointLayer::new(account)
    }
}

impl<S, B, R> Service<Request<B>> for Endpoint<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
{
    type Response = Response<R>;
    type Error = BoxError;
    type Future = ResponseFuture<S, B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let Some(scope) = Scope::enter(&mut request) else {
            return ResponseFuture::pass(self.inner.call(request));
        };
        scope.route.observe(|| self.account.observer());
        let topology = self.account.snapshot();
        let Some(topology) = topology.as_deref() else {
            let held = Held::new(&mut self.inner, request);
            return ResponseFuture::wait(self.account.clone(), held, scope);
        };
        match place(&self.account, topology, &scope, &mut request) {
            Ok(placed) => {
                let future = {
                    let _operation = scope.trace();
                    self.inner.call(request)
                };
                ResponseFuture::send(scope, placed, future)
            }
            Err(error) => {
                // The readiness that is not used is given up, or it would keep a permit.
                let clone = self.inner.clone();
                let ready = std::mem::replace(&mut self.inner, clone);
                if seeded::is(Fault::LeakedPermit) {
                    std::mem::forget(ready);
                }
                ResponseFuture::refused(error)
            }
        }
    }
}

/// Whether the request is one more try of an operation that has begun in the account: the region
/// that its URI names may have left meanwhile, but the operation stays the account's.
fn is_under_way(route: &Route, uri: &Uri, topology: &Topology) -> bool {
    let begun = || route.with_attempts(|attempts| !attempts.is_empty());
    match route.steering.attempt {
        // Placed by another endpoint layer, which may be one of another account.
        Some(_) => topology.owned(uri),
        None => !route.is_foreign() && begun(),
    }
}

/// Chooses the region of a request, begins the attempt and addresses it. `None`: the request is
/// for a foreign host, or another endpoint layer placed it, and is to pass as it is.
pub(super) fn place<B>(
    account: &Account,
    topology: &Topology,
    scope: &Scope,
    request: &mut Request<B>,
) -> Result<Option<Placed>, TransportError> {
    let route = &scope.route;
    if !is_for(request, topology) && !is_under_way(route, request.uri(), topology) {
        if route.steering.attempt.is_some() {
            // An attempt of another account: what signs for this one must not take it for its own.
            let mut onward = route.clone();
            onward.steering.attempt = None;
            onward.ride(request);
        } else {
            route.set_foreign();
        }
        return Ok(None);
    }
    // Before the attempt begins: a map that is full would panic.
    request
        .headers_mut()
        .try_reserve(MOST_HEADERS)
        .map_err(|_| scope.error(FailureKind::InvalidRequest))?;
    if let Some(passed) = route.passed() {
        // What layers in between have asked for since it was placed.
        passed.add_headers(request.headers_mut());
        passed.ride(request);
        return Ok(None);
    }
    let now = now();
    let reason = route.reason();
    // Whoever sends the same request again has not paid again.
    let paid = route.steering.paid.filter(|_| reason != Reason::Foreign);
    let refuse = |kind: FailureKind| {
        if let Some(region) = paid {
            route.pay_back(region);
        }
        route.note_problem(kind.name());
        scope.error(kind)
    };
    let placement = account
        .choose_and_take(topology, route, now)
        .map_err(refuse)?;
    let choice = placement.choice;
    let access = selection::access(route.operation());
    let endpoint = topology
        .endpoint(choice.region, access)
        .ok_or_else(|| scope.error(FailureKind::NoTopology))?;
    let attempt = route
        .begin(
            now,
            Begin {
                region: choice.region,
                reason,
                sequence: placement.sequence,
                trial: choice.trial,
                probe: choice.probe,
                sole: choice.sole,
                last_resort: choice.last_resort,
                oversight: placement.oversight,
                paid,
            },
        )
        .map_err(refuse)?;
    if placement.has_alternative {
        route.note_alternative(attempt);
    }
    address(request, endpoint, topology, route);
    if reason != Reason::First && seeded::is(Fault::DroppedToken) {
        request.headers_mut().remove(headers::SESSION_TOKEN);
    }
    route.placed(attempt).ride(request);
    Ok(Some(Placed::new(
        account,
        route.clone(),
        attempt,
        placement,
    )))
}
