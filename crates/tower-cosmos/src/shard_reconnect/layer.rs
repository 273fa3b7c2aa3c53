use tower_layer::Layer;

use super::ReconnectPolicy;
use crate::retry::Retry;

/// Layers [`ShardReconnect`]. See the [module](super).
#[derive(Copy, Clone, Debug, Default)]
#[must_use]
pub struct ShardReconnectLayer {
    policy: ReconnectPolicy,
}

impl ShardReconnectLayer {
    /// A layer that reconnects once per operation and region.
    pub fn new() -> Self {
        Self::default()
    }

    /// How often a region is tried again over another connection. Default 1; 0 switches it off.
    pub fn max_reconnects(mut self, reconnects: u32) -> Self {
        self.policy.limit = reconnects;
        self
    }
}

impl<S> Layer<S> for ShardReconnectLayer {
    type Service = ShardReconnect<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ShardReconnect::with_policy(inner, self.policy)
    }
}

/// Tries a region once more over another connection. See the [module](super).
pub type ShardReconnect<S> = Retry<ReconnectPolicy, S>;

impl<S> ShardReconnect<S> {
    /// Wraps a service that reconnects once per operation and region.
    pub fn new(inner: S) -> Self {
        Self::with_policy(inner, ReconnectPolicy::default())
    }

    /// A layer that reconnects once per operation and region.
    pub fn layer() -> ShardReconnectLayer {
        ShardReconnectLayer::new()
    }
}
