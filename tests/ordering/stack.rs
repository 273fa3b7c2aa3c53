//! Stacks, composed at run time.

use std::time::Duration;

use cosmos_core::health::BreakerOptions;
use cosmos_testbed::ScriptedAccount;
use cosmos_tests::foreign::Again;
use cosmos_tests::kinds::Kind;
use cosmos_tests::{Req, Stack, boxed, breaker, credential, s};
use http::HeaderValue;
use tower::Layer;
use tower::ServiceExt;
use tower::limit::ConcurrencyLimitLayer;
use tower_cosmos::{
    Account, AttemptTimeoutLayer, BufferLayer, CircuitBreakerLayer, DeadlineLayer, EndpointLayer,
    SigningLayer,
};

/// A layer that is not ours.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    Timeout,
    Retry,
    Limit,
    Queue,
    Shed,
    Header,
    Trace,
}

impl Foreign {
    pub(crate) const ALL: [Self; 7] = [
        Self::Timeout,
        Self::Retry,
        Self::Limit,
        Self::Queue,
        Self::Shed,
        Self::Header,
        Self::Trace,
    ];

    fn wrap(self, inner: Stack) -> Stack {
        match self {
            Self::Timeout => boxed(tower::timeout::TimeoutLayer::new(s(3)).layer(inner)),
            Self::Retry => boxed(tower::retry::RetryLayer::new(Again(2)).layer(inner)),
            Self::Limit => boxed(ConcurrencyLimitLayer::new(1).layer(inner)),
            Self::Queue => boxed(tower::buffer::BufferLayer::new(8).layer(inner)),
            Self::Shed => boxed(tower::load_shed::LoadShedLayer::new().layer(inner)),
            Self::Header => boxed(inner.map_request(|mut request: Req| {
                let here = HeaderValue::from_static("here");
                request.headers_mut().append("x-foreign", here);
                request
            })),
            Self::Trace => {
                let trace = tower_http::trace::TraceLayer::new_for_http();
                boxed(BufferLayer::new().layer(trace.layer(inner)))
            }
        }
    }
}

/// A layer above the endpoint layer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Ours(Kind),
    Foreign(Foreign),
}

/// The layers of a stack, outermost first.
#[derive(Clone, Debug)]
pub(crate) struct Order(pub(crate) Vec<Over>);

impl Order {
    pub(crate) fn of(kinds: &[Kind]) -> Self {
        Self(kinds.iter().copied().map(Over::Ours).collect())
    }

    pub(crate) fn with(mut self, position: usize, layer: Over) -> Self {
        self.0.insert(position, layer);
        self
    }

    pub(crate) fn has(&self, layer: Over) -> bool {
        self.0.contains(&layer)
    }

    pub(crate) fn foreign(&self) -> Option<Foreign> {
        self.0.iter().find_map(|layer| match layer {
            Over::Foreign(foreign) => Some(*foreign),
            Over::Ours(_) => None,
        })
    }

    /// Whether all of ours are there, each once, and nothing else.
    pub(crate) fn is_complete(&self) -> bool {
        self.0.len() == Kind::ORDERED.len()
            && Kind::ORDERED.iter().all(|kind| self.has(Over::Ours(*kind)))
    }

    /// Builds the layers over the endpoint layer and what stands below it.
    pub(crate) fn build(
        &self,
        account: &Account,
        regions: &ScriptedAccount,
        timeout: Option<Duration>,
    ) -> Stack {
        let attempt = AttemptTimeoutLayer::new().layer(regions.clone());
        let signed = SigningLayer::new(credential())
            .clock(account.clock().clone())
            .layer(BufferLayer::new().layer(attempt));
        let placed = boxed(EndpointLayer::new(account.clone()).layer(signed));
        self.0
            .iter()
            .rev()
            .fold(placed, |inner, layer| match layer {
                Over::Ours(Kind::Deadline) => boxed(
                    DeadlineLayer::new()
                        .timeout(timeout.unwrap_or(s(600)))
                        .layer(inner),
                ),
                Over::Ours(Kind::CircuitBreaker) => {
                    let little = BreakerOptions::new().reads_tolerated(3).writes_tolerated(3);
                    let layer = CircuitBreakerLayer::new(account.clone());
                    boxed(layer.settings(breaker(little)).layer(inner))
                }
                Over::Ours(kind) => kind.wrap(account, inner),
                Over::Foreign(foreign) => foreign.wrap(inner),
            })
    }
}
