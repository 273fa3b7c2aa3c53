//! Every layer in one shape, so that one test can be run for all.

use cosmos_core::policy::Jitter;
use cosmos_tests::{Stack, boxed, credential, s};
use tower::Layer;
use tower_cosmos::{
    Account, AttemptTimeoutLayer, BufferLayer, BufferRequestLayer, DeadlineLayer, EndpointLayer,
    RegionFailoverLayer, ShardReconnectLayer, SigningLayer, ThrottleRetryLayer,
};

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Deadline,
    Failover,
    Throttle,
    Reconnect,
    Endpoint,
    Signing,
    Buffer,
    AttemptTimeout,
    BufferRequest,
}

impl Kind {
    pub(crate) const ALL: [Self; 9] = [
        Self::Deadline,
        Self::Failover,
        Self::Throttle,
        Self::Reconnect,
        Self::Endpoint,
        Self::Signing,
        Self::Buffer,
        Self::AttemptTimeout,
        Self::BufferRequest,
    ];

    /// The layers that carry the specification, which integrators put into any order.
    pub(crate) const ORDERED: [Self; 4] = [
        Self::Deadline,
        Self::Failover,
        Self::Throttle,
        Self::Reconnect,
    ];

    pub(crate) fn wrap(self, account: &Account, inner: Stack) -> Stack {
        match self {
            Self::Deadline => boxed(DeadlineLayer::new().timeout(s(600)).layer(inner)),
            Self::Failover => boxed(
                RegionFailoverLayer::new(account.clone())
                    .jitter(Jitter::None)
                    .layer(inner),
            ),
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

/// The regions below a buffer: the least that a stack of any layers needs.
pub(crate) fn leaf(regions: &cosmos_testbed::ScriptedAccount) -> Stack {
    boxed(BufferLayer::new().layer(regions.clone()))
}

/// A layer alone, with the endpoint layer at the bottom.
pub(crate) fn alone(kind: Kind, account: &Account, leaf: Stack) -> Stack {
    match kind {
        Kind::Endpoint => Kind::Endpoint.wrap(account, leaf),
        // These two stand below the endpoint layer.
        Kind::Signing | Kind::AttemptTimeout => {
            Kind::Endpoint.wrap(account, kind.wrap(account, leaf))
        }
        kind => kind.wrap(account, Kind::Endpoint.wrap(account, leaf)),
    }
}
