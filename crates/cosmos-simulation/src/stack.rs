//! A plan's layers, over its regions.

use std::sync::Arc;

use cosmos_core::health::BreakerOptions;
use cosmos_core::retry_guard::RetryGuardOptions;
use cosmos_testbed::ScriptedAccount;
use cosmos_tests::foreign::Again;
use cosmos_tests::kinds::Kind;
use cosmos_tests::{Req, Res, Stack, boxed, breaker, credential};
use http::HeaderMap;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tower::limit::{ConcurrencyLimitLayer, GlobalConcurrencyLimitLayer};
use tower::{Layer, ServiceExt};
use tower_cosmos::{
    Account, AttemptTimeoutLayer, BufferLayer, CircuitBreakerLayer, DeadlineLayer, PpafLayer,
    SessionRetryLayer, SigningLayer,
};

use tower_cosmos::circuit_breaker::Circuits;
use tower_cosmos::ppaf::WriteRegions;

use crate::plan::{Over, Plan};

/// A client, and what its operator can see of it.
pub(crate) struct Client {
    pub(crate) account: Account,
    pub(crate) stack: Stack,
    pub(crate) circuits: Vec<Circuits>,
    pub(crate) write_regions: Vec<WriteRegions>,
    /// The permits of the limit below, and how many there are.
    pub(crate) permits: Option<(Arc<Semaphore>, usize)>,
    /// What a foreign host saw.
    pub(crate) foreign: Arc<Mutex<Vec<HeaderMap>>>,
}

impl Client {
    pub(crate) fn new(plan: &Plan, regions: &ScriptedAccount) -> Self {
        let account = cosmos_tests::account(regions, |account| {
            let account = account.preferred_regions(plan.preferred.iter().copied());
            if plan.guarded {
                account.retry_guard(RetryGuardOptions::new().reserve(3))
            } else {
                account
            }
        });
        let foreign = Arc::default();
        let stack = leaf(regions, &foreign);
        let mut client = Self {
            stack,
            account,
            circuits: Vec::new(),
            write_regions: Vec::new(),
            permits: None,
            foreign,
        };
        if let Some(most) = plan.layers.limit_below {
            let permits = Arc::new(Semaphore::new(most));
            let layer = GlobalConcurrencyLimitLayer::with_semaphore(Arc::clone(&permits));
            client.stack = boxed(layer.layer(client.stack));
            client.permits = Some((permits, most));
        }
        let clock = client.account.clock().clone();
        let signing = SigningLayer::new(credential()).clock(clock);
        client.stack = boxed(signing.layer(client.stack));
        client.add(Over::Endpoint);
        for layer in plan.layers.over.iter().rev() {
            client.add(*layer);
        }
        client
    }

    fn add(&mut self, layer: Over) {
        let inner = self.stack.clone();
        let account = self.account.clone();
        self.stack = match layer {
            Over::Deadline(None) => boxed(DeadlineLayer::new().layer(inner)),
            Over::Deadline(Some(timeout)) => {
                boxed(DeadlineLayer::new().timeout(timeout).layer(inner))
            }
            Over::Failover => Kind::Failover.wrap(&account, inner),
            Over::Session { hub_only } => {
                let layer = SessionRetryLayer::new(account).hub_only(hub_only);
                boxed(layer.layer(inner))
            }
            Over::Partition => Kind::Partition.wrap(&account, inner),
            Over::Ppaf => {
                let layer = PpafLayer::new(account);
                self.write_regions.push(layer.write_regions());
                boxed(layer.layer(inner))
            }
            Over::CircuitBreaker { tolerated } => {
                let options = BreakerOptions::new()
                    .reads_tolerated(tolerated)
                    .writes_tolerated(tolerated);
                let layer = CircuitBreakerLayer::new(account).settings(breaker(options));
                self.circuits.push(layer.circuits());
                boxed(layer.layer(inner))
            }
            Over::SessionToken => Kind::SessionToken.wrap(&account, inner),
            Over::RetryWith => Kind::RetryWith.wrap(&account, inner),
            Over::Throttle => Kind::Throttle.wrap(&account, inner),
            Over::Reconnect => Kind::Reconnect.wrap(&account, inner),
            Over::Endpoint => Kind::Endpoint.wrap(&account, inner),
            Over::BufferRequest => Kind::BufferRequest.wrap(&account, inner),
            Over::AttemptTimeout => Kind::AttemptTimeout.wrap(&account, inner),
            Over::Timeout(limit) => boxed(tower::timeout::TimeoutLayer::new(limit).layer(inner)),
            Over::Limit(permits) => boxed(ConcurrencyLimitLayer::new(permits).layer(inner)),
            Over::Shed => boxed(tower::load_shed::LoadShedLayer::new().layer(inner)),
            Over::Queue => boxed(tower::buffer::BufferLayer::new(2).layer(inner)),
            Over::Again(times) => boxed(tower::retry::RetryLayer::new(Again(times)).layer(inner)),
        };
    }
}

/// The regions, and a foreign host besides.
fn leaf(regions: &ScriptedAccount, foreign: &Arc<Mutex<Vec<HeaderMap>>>) -> Stack {
    let attempt = AttemptTimeoutLayer::new().layer(regions.clone());
    let regions = boxed(BufferLayer::new().layer(attempt));
    let foreign = Arc::clone(foreign);
    boxed(tower::service_fn(move |request: Req| {
        let regions = regions.clone();
        let foreign = Arc::clone(&foreign);
        async move {
            if request.uri().host() == Some("foreign.test") {
                foreign.lock().push(request.headers().clone());
                return Ok(Res::default());
            }
            regions.oneshot(request).await
        }
    }))
}
