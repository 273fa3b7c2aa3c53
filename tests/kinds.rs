//! Every layer in one shape, so that one test can be run for all.

use cosmos_core::health::BreakerOptions;
use cosmos_core::policy::Jitter;
use cosmos_testbed::scripted::{Container, Document, ScriptedAccount};
use tower::limit::ConcurrencyLimit;
use tower::{Layer, Service, ServiceExt};
use tower_cosmos::endpoint::Endpoint;
use tower_cosmos::region_failover::RegionFailover;
use tower_cosmos::{
    Account, AttemptTimeoutLayer, BufferLayer, BufferRequestLayer, CircuitBreakerLayer,
    DeadlineLayer, EndpointLayer, PartitionLayer, PpafLayer, RegionFailoverLayer, RetryWithLayer,
    SessionRetryLayer, SessionTokenLayer, ShardReconnectLayer, SigningLayer, ThrottleRetryLayer,
};

use crate::{Req, Stack, account, boxed, breaker, credential, s};

/// A layer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `DeadlineLayer`.
    Deadline,
    /// `PartitionLayer`.
    Partition,
    /// `PpafLayer`.
    Ppaf,
    /// `RegionFailoverLayer`.
    Failover,
    /// `SessionRetryLayer`.
    Session,
    /// `SessionTokenLayer`.
    SessionToken,
    /// `CircuitBreakerLayer`.
    CircuitBreaker,
    /// `RetryWithLayer`.
    RetryWith,
    /// `ThrottleRetryLayer`.
    Throttle,
    /// `ShardReconnectLayer`.
    Reconnect,
    /// `EndpointLayer`.
    Endpoint,
    /// `SigningLayer`.
    Signing,
    /// `BufferLayer`.
    Buffer,
    /// `AttemptTimeoutLayer`, below a buffer.
    AttemptTimeout,
    /// `BufferRequestLayer`.
    BufferRequest,
}

impl Kind {
    /// Every layer.
    pub const ALL: [Self; 15] = [
        Self::Deadline,
        Self::Partition,
        Self::Ppaf,
        Self::Failover,
        Self::Session,
        Self::SessionToken,
        Self::CircuitBreaker,
        Self::RetryWith,
        Self::Throttle,
        Self::Reconnect,
        Self::Endpoint,
        Self::Signing,
        Self::Buffer,
        Self::AttemptTimeout,
        Self::BufferRequest,
    ];

    /// The layers that carry the specification, which integrators put into any order: here in the
    /// recommended one.
    pub const ORDERED: [Self; 7] = [
        Self::Deadline,
        Self::Ppaf,
        Self::Session,
        Self::Failover,
        Self::CircuitBreaker,
        Self::Throttle,
        Self::Reconnect,
    ];

    /// Puts the layer around a stack, without jitter.
    #[must_use]
    pub fn wrap(self, account: &Account, inner: Stack) -> Stack {
        match self {
            Self::Deadline => boxed(DeadlineLayer::new().timeout(s(600)).layer(inner)),
            Self::Failover => boxed(
                RegionFailoverLayer::new(account.clone())
                    .jitter(Jitter::None)
                    .layer(inner),
            ),
            Self::Partition => boxed(PartitionLayer::new(account.clone()).layer(inner)),
            Self::Ppaf => boxed(PpafLayer::new(account.clone()).layer(inner)),
            Self::CircuitBreaker => boxed(
                CircuitBreakerLayer::new(account.clone())
                    .settings(breaker(BreakerOptions::new()))
                    .layer(inner),
            ),
            Self::Session => boxed(SessionRetryLayer::new(account.clone()).layer(inner)),
            Self::SessionToken => boxed(SessionTokenLayer::new(account.clone()).layer(inner)),
            Self::RetryWith => boxed(RetryWithLayer::new().jitter(Jitter::None).layer(inner)),
            Self::Throttle => boxed(ThrottleRetryLayer::new().jitter(Jitter::None).layer(inner)),
            Self::Reconnect => boxed(ShardReconnectLayer::new().layer(inner)),
            Self::Endpoint => boxed(EndpointLayer::new(account.clone()).layer(inner)),
            Self::Signing => boxed(SigningLayer::new(credential()).layer(inner)),
            Self::Buffer => boxed(BufferLayer::new().layer(inner)),
            Self::AttemptTimeout => {
                boxed(BufferLayer::new().layer(AttemptTimeoutLayer::new().layer(inner)))
            }
            Self::BufferRequest => boxed(BufferRequestLayer::new().layer(inner)),
        }
    }
}

/// Builds the layers, outermost first, over the endpoint layer and the attempt's limits.
#[must_use]
pub fn build(order: &[Kind], account: &Account, regions: &ScriptedAccount) -> Stack {
    let attempt = Kind::AttemptTimeout.wrap(account, leaf(regions));
    let signed = Kind::Signing.wrap(account, attempt);
    let placed = Kind::Endpoint.wrap(account, signed);
    order
        .iter()
        .rev()
        .fold(placed, |inner, kind| kind.wrap(account, inner))
}

/// Regions that know the container of the tests' operations.
#[must_use]
pub fn known_regions(document: Document) -> ScriptedAccount {
    let regions = ScriptedAccount::new(document);
    regions.set_container("dbs/d/colls/c", Container::new("rid"));
    regions
}

/// Two such regions that both write, and their account, which has been read.
pub async fn two_regions() -> (ScriptedAccount, Account) {
    let regions = known_regions(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    (regions, account)
}

/// The failover layer alone, with its types.
pub fn failover<S>(account: &Account, leaf: S) -> RegionFailover<Endpoint<S>> {
    let endpoint = EndpointLayer::new(account.clone()).layer(leaf);
    RegionFailoverLayer::new(account.clone()).layer(endpoint)
}

/// Whether one more caller of a service gets a permit.
pub async fn has_permit<S: Service<Req>>(mut limited: ConcurrencyLimit<S>) -> bool {
    let ready = tokio::time::timeout(s(1), limited.ready()).await;
    ready.is_ok()
}

/// The regions below a buffer: the least that a stack of any layers needs.
#[must_use]
pub fn leaf(regions: &ScriptedAccount) -> Stack {
    boxed(BufferLayer::new().layer(regions.clone()))
}

/// A layer alone, with the endpoint layer at the bottom.
#[must_use]
pub fn alone(kind: Kind, account: &Account, leaf: Stack) -> Stack {
    match kind {
        Kind::Endpoint => Kind::Endpoint.wrap(account, leaf),
        // These two stand below the endpoint layer.
        Kind::Signing | Kind::AttemptTimeout => {
            Kind::Endpoint.wrap(account, kind.wrap(account, leaf))
        }
        kind => kind.wrap(account, Kind::Endpoint.wrap(account, leaf)),
    }
}
