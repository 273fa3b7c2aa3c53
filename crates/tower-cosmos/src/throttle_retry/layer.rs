use std::time::Duration;

use cosmos_core::policy::Jitter;
use tower_layer::Layer;

use super::ThrottlePolicy;
use crate::retry::Retry;

/// Layers [`ThrottleRetry`]. See the [module](super).
#[derive(Copy, Clone, Debug, Default)]
#[must_use]
pub struct ThrottleRetryLayer {
    policy: ThrottlePolicy,
}

impl ThrottleRetryLayer {
    /// A layer with the specification's budget: 9 retries and 30 s per operation and region.
    pub fn new() -> Self {
        Self::default()
    }

    /// How often a region is tried again. 0: the first 429 comes straight back. Default 9.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.policy.limits.retries = retries;
        self
    }

    /// How long may be waited in all for a region. Default 30 s.
    pub fn max_total_wait(mut self, wait: Duration) -> Self {
        self.policy.limits.total_wait = wait;
        self
    }

    /// Where the random part of a wait without a hint comes from. Default [`Jitter::Random`].
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.policy.jitter = jitter;
        self
    }
}

impl<S> Layer<S> for ThrottleRetryLayer {
    type Service = ThrottleRetry<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ThrottleRetry::with_policy(inner, self.policy)
    }
}

/// Tries a throttled region again after the time that it asks for. See the [module](super).
pub type ThrottleRetry<S> = Retry<ThrottlePolicy, S>;

impl<S> ThrottleRetry<S> {
    /// Wraps a service with the specification's budget.
    pub fn new(inner: S) -> Self {
        Self::with_policy(inner, ThrottlePolicy::default())
    }

    /// A layer with the specification's budget.
    pub fn layer() -> ThrottleRetryLayer {
        ThrottleRetryLayer::new()
    }
}
