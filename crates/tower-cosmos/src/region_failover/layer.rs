use cosmos_core::policy::Jitter;
use cosmos_core::policy::failover::FailoverLimits;
use tower_layer::Layer;

use super::FailoverPolicy;
use crate::Account;
use crate::retry::Retry;

/// Layers [`RegionFailover`]. See the [module](super).
#[derive(Clone, Debug)]
#[must_use]
pub struct RegionFailoverLayer {
    policy: FailoverPolicy,
}

impl RegionFailoverLayer {
    /// A layer that moves among the account's regions.
    pub fn new(account: Account) -> Self {
        Self {
            policy: FailoverPolicy::new(account),
        }
    }

    /// The budgets. Default: 3 moves, and 120 a second apart while the account's topology moves.
    pub fn limits(mut self, limits: FailoverLimits) -> Self {
        self.policy.limits = limits;
        self
    }

    /// Whether the first of the 120 goes without a wait. Default `false`.
    pub fn immediate_first_retry(mut self, immediate: bool) -> Self {
        self.policy.limits.immediate_first_retry = immediate;
        self
    }

    /// Where the random part of a wait comes from. Default [`Jitter::Random`].
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.policy.jitter = jitter;
        self
    }
}

impl<S> Layer<S> for RegionFailoverLayer {
    type Service = RegionFailover<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RegionFailover::with_policy(inner, self.policy.clone())
    }
}

/// Moves an operation to the next region when one fails. See the [module](super).
pub type RegionFailover<S> = Retry<FailoverPolicy, S>;

impl<S> RegionFailover<S> {
    /// Wraps a service with the specification's budgets.
    pub fn new(inner: S, account: Account) -> Self {
        Self::with_policy(inner, FailoverPolicy::new(account))
    }

    /// A layer with the specification's budgets.
    pub fn layer(account: Account) -> RegionFailoverLayer {
        RegionFailoverLayer::new(account)
    }
}
