//! A plan's layers.

use std::sync::Arc;

use cosmos_core::health::BreakerOptions;
use cosmos_core::policy::Jitter;
use cosmos_testbed::ScriptedAccount;
use cosmos_tests::foreign::Again;
use cosmos_tests::{Req, Res, Stack, boxed, breaker, credential};
use http::HeaderMap;
use parking_lot::Mutex;
use tower::limit::ConcurrencyLimitLayer;
use tower::{Layer, ServiceExt};
use tower_cosmos::{
    Account, AttemptTimeoutLayer, BufferLayer, BufferRequestLayer, CircuitBreakerLayer,
    DeadlineLayer, EndpointLayer, PartitionLayer, PpafLayer, RegionFailoverLayer, RetryWithLayer,
    SessionRetryLayer, SessionTokenLayer, ShardReconnectLayer, SigningLayer, ThrottleRetryLayer,
};

use super::plan::{Over, Plan};

/// What a foreign host saw.
pub(crate) type Foreign = Arc<Mutex<Vec<HeaderMap>>>;

/// The regions, and a foreign host besides.
fn leaf(regions: &ScriptedAccount, foreign: &Foreign) -> Stack {
    let regions =
        boxed(BufferLayer::new().layer(AttemptTimeoutLayer::new().layer(regions.clone())));
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

fn wrap(layer: Over, account: &Account, inner: Stack) -> Stack {
    match layer {
        Over::Deadline(None) => boxed(DeadlineLayer::new().layer(inner)),
        Over::Deadline(Some(timeout)) => boxed(DeadlineLayer::new().timeout(timeout).layer(inner)),
        Over::Failover => boxed(
            RegionFailoverLayer::new(account.clone())
                .jitter(Jitter::None)
                .layer(inner),
        ),
        Over::Session { hub_only } => boxed(
            SessionRetryLayer::new(account.clone())
                .hub_only(hub_only)
                .layer(inner),
        ),
        Over::Partition => boxed(PartitionLayer::new(account.clone()).layer(inner)),
        Over::Ppaf => boxed(PpafLayer::new(account.clone()).layer(inner)),
        Over::CircuitBreaker => {
            let tolerant_of_little = BreakerOptions::new().reads_tolerated(2).writes_tolerated(2);
            boxed(
                CircuitBreakerLayer::new(account.clone())
                    .settings(breaker(tolerant_of_little))
                    .layer(inner),
            )
        }
        Over::SessionToken => boxed(SessionTokenLayer::new(account.clone()).layer(inner)),
        Over::RetryWith => boxed(RetryWithLayer::new().jitter(Jitter::None).layer(inner)),
        Over::Throttle => boxed(ThrottleRetryLayer::new().jitter(Jitter::None).layer(inner)),
        Over::Reconnect => boxed(ShardReconnectLayer::new().layer(inner)),
        Over::Endpoint => boxed(EndpointLayer::new(account.clone()).layer(inner)),
        Over::BufferRequest => boxed(BufferRequestLayer::new().layer(inner)),
        Over::AttemptTimeout => {
            boxed(BufferLayer::new().layer(AttemptTimeoutLayer::new().layer(inner)))
        }
        Over::Timeout(limit) => boxed(tower::timeout::TimeoutLayer::new(limit).layer(inner)),
        Over::Limit(permits) => boxed(ConcurrencyLimitLayer::new(permits).layer(inner)),
        Over::Shed => boxed(tower::load_shed::LoadShedLayer::new().layer(inner)),
        Over::Queue => boxed(tower::buffer::BufferLayer::new(2).layer(inner)),
        Over::Again(times) => boxed(tower::retry::RetryLayer::new(Again(times)).layer(inner)),
    }
}

pub(crate) fn build(
    plan: &Plan,
    account: &Account,
    regions: &ScriptedAccount,
    foreign: &Foreign,
) -> Stack {
    let mut stack = leaf(regions, foreign);
    if let Some(permits) = plan.limit_below {
        stack = boxed(ConcurrencyLimitLayer::new(permits).layer(stack));
    }
    let clock = account.clock().clone();
    stack = boxed(SigningLayer::new(credential()).clock(clock).layer(stack));
    stack = boxed(EndpointLayer::new(account.clone()).layer(stack));
    plan.over
        .iter()
        .rev()
        .fold(stack, |inner, layer| wrap(*layer, account, inner))
}
