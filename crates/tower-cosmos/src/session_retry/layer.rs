use tower_layer::Layer;

use super::SessionRetryPolicy;
use crate::Account;
use crate::retry::Retry;

/// Layers [`SessionRetry`]. See the [module](super).
#[derive(Clone, Debug)]
#[must_use]
pub struct SessionRetryLayer {
    policy: SessionRetryPolicy,
}

impl SessionRetryLayer {
    /// A layer that moves among the account's regions.
    pub fn new(account: Account) -> Self {
        Self {
            policy: SessionRetryPolicy::new(account),
        }
    }

    /// Whether the retries on a single-write account ask the service to be processed in the hub
    /// only (`x-ms-cosmos-hub-region-processing-only`). A region that is not the hub, although
    /// the account document says so, then answers 403/3 and the operation moves on. Beyond the
    /// specification; default `false`.
    pub fn hub_only(mut self, hub_only: bool) -> Self {
        self.policy.hub_only = hub_only;
        self
    }
}

impl<S> Layer<S> for SessionRetryLayer {
    type Service = SessionRetry<S>;

    fn layer(&self, inner: S) -> Self::Service {
        SessionRetry::with_policy(inner, self.policy.clone())
    }
}

/// Tries another region after 404/1002. See the [module](super).
pub type SessionRetry<S> = Retry<SessionRetryPolicy, S>;

impl<S> SessionRetry<S> {
    /// Wraps a service with the specification's budgets.
    pub fn new(inner: S, account: Account) -> Self {
        Self::with_policy(inner, SessionRetryPolicy::new(account))
    }

    /// A layer with the specification's budgets.
    pub fn layer(account: Account) -> SessionRetryLayer {
        SessionRetryLayer::new(account)
    }
}
