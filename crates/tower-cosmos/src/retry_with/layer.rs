use std::time::Duration;

use cosmos_core::policy::Jitter;
use tower_layer::Layer;

use super::RetryWithPolicy;
use crate::retry::Retry;

/// Layers [`RetryWith`]. See the [module](super).
#[derive(Copy, Clone, Debug, Default)]
#[must_use]
pub struct RetryWithLayer {
    policy: RetryWithPolicy,
}

impl RetryWithLayer {
    /// A layer that waits for up to 30 s in all.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long may be waited in all, per operation. Zero: the first 449 comes straight back.
    /// Default 30 s.
    pub fn max_total_wait(mut self, wait: Duration) -> Self {
        self.policy.total_wait = wait;
        self
    }

    /// Where the random part of a wait comes from. Default [`Jitter::Random`].
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.policy.jitter = jitter;
        self
    }
}

impl<S> Layer<S> for RetryWithLayer {
    type Service = RetryWith<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RetryWith::with_policy(inner, self.policy)
    }
}

/// Tries a region again after 449. See the [module](super).
pub type RetryWith<S> = Retry<RetryWithPolicy, S>;

impl<S> RetryWith<S> {
    /// Wraps a service; waits for up to 30 s in all.
    pub fn new(inner: S) -> Self {
        Self::with_policy(inner, RetryWithPolicy::default())
    }

    /// A layer that waits for up to 30 s in all.
    pub fn layer() -> RetryWithLayer {
        RetryWithLayer::new()
    }
}
