use std::sync::Arc;

use cosmos_core::Route;
use http::Request;
use tower_layer::Layer;

use super::memory::{Memory, WriteRegions};
use crate::Account;
use crate::account::TopologyWatcher;
use crate::prepare::{Preparation, Prepare};

/// The most partitions that are remembered by default.
const MAX_PARTITIONS: u32 = 200_000;

/// Layers [`Ppaf`]. See the [module](super). Services made by one layer share what they learn.
#[derive(Clone, Debug)]
#[must_use]
pub struct PpafLayer {
    preparation: PpafPreparation,
}

impl PpafLayer {
    /// A layer that remembers the write regions of up to 200,000 partitions.
    pub fn new(account: Account) -> Self {
        Self {
            preparation: PpafPreparation::new(account, MAX_PARTITIONS),
        }
    }

    /// With `false`, the layer does nothing. Default `true`; then the account's flag decides.
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.preparation.enabled = enabled;
        self
    }

    /// How many partitions that have moved are remembered. What does not fit is found again by
    /// every write. The layer's memory begins anew. Default 200,000.
    pub fn max_partitions(self, partitions: u32) -> Self {
        let PpafPreparation {
            account, enabled, ..
        } = self.preparation;
        Self {
            preparation: PpafPreparation::new(account, partitions),
        }
        .enabled(enabled)
    }

    /// What is remembered, for operators. To be taken last: `max_partitions` begins another memory.
    #[must_use]
    pub fn write_regions(&self) -> WriteRegions {
        WriteRegions::new(Arc::clone(&self.preparation.memory))
    }
}

impl<S> Layer<S> for PpafLayer {
    type Service = Ppaf<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Prepare::with(inner, self.preparation.clone())
    }
}

/// Sends writes where their partition accepts them. See the [module](super).
pub type Ppaf<S> = Prepare<PpafPreparation, S>;

impl<S> Ppaf<S> {
    /// Wraps a service with a memory of its own.
    pub fn new(inner: S, account: Account) -> Self {
        PpafLayer::new(account).layer(inner)
    }

    /// A layer for the account.
    pub fn layer(account: Account) -> PpafLayer {
        PpafLayer::new(account)
    }
}

/// Plants the memory of write regions.
#[derive(Clone, Debug)]
pub struct PpafPreparation {
    account: Account,
    memory: Arc<Memory>,
    enabled: bool,
}

impl PpafPreparation {
    fn new(account: Account, partitions: u32) -> Self {
        let memory = Arc::new(Memory::new(partitions, account.sequence()));
        let watcher: Arc<dyn TopologyWatcher> = memory.clone();
        account.watch(Arc::downgrade(&watcher));
        Self {
            account,
            memory,
            enabled: true,
        }
    }
}

impl Preparation for PpafPreparation {
    fn is_off(&self) -> bool {
        !self.enabled
    }

    fn account(&self) -> &Account {
        &self.account
    }

    fn prepare<B>(&self, _: &Request<B>, route: &Route) {
        // Whatever the account is like now: it may be another one by the time an attempt is made, and
        // any operation may find out that a partition is no more. `EndpointLayer` looks then.
        route.plant_write_regions(self.account.id(), || Arc::clone(&self.memory) as _);
    }
}
