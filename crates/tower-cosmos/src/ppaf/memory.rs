use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cosmos_core::policy::oversight;
use cosmos_core::write_regions;
use cosmos_core::{Partition, Region, Topology, WriteRegionMemory};

use crate::account::TopologyWatcher;

/// Where the partitions of an account accept writes.
#[derive(Debug)]
pub(super) struct Memory {
    table: write_regions::WriteRegions,
    // The newest number handed out to an attempt.
    sequence: Arc<AtomicU64>,
}

impl Memory {
    pub(super) fn new(partitions: u32, sequence: Arc<AtomicU64>) -> Self {
        Self {
            table: write_regions::WriteRegions::with_capacity(partitions),
            sequence,
        }
    }
}

impl WriteRegionMemory for Memory {
    fn remembered(&self, partition: Partition<'_>) -> Option<Region> {
        self.table.remembered(partition)
    }

    fn confirmed(&self, partition: Partition<'_>, region: Region, hub: Region, sequence: u64) {
        self.table.confirmed(partition, region, hub, sequence);
    }

    fn forget(&self, partition: Partition<'_>) {
        let newest = self.sequence.load(Ordering::Relaxed);
        match partition.range {
            Some(range) => self.table.forget_range(partition.container, range, newest),
            None => self.table.forget_container(partition.container, newest),
        }
    }
}

impl TopologyWatcher for Memory {
    /// A failover of the whole account supersedes what is remembered of partitions, and an account
    /// that moves no partitions (any more) has nothing to remember.
    fn changed(&self, before: &Topology, now: &Topology) {
        if !oversight::moves_partitions(now) || before.hub() != now.hub() {
            self.table.clear(self.sequence.load(Ordering::Relaxed));
        }
    }
}

/// What a [`PpafLayer`](super::PpafLayer) remembers: a handle for operators.
#[derive(Clone)]
pub struct WriteRegions(Arc<Memory>);

impl WriteRegions {
    pub(super) fn new(memory: Arc<Memory>) -> Self {
        Self(memory)
    }

    /// How many partitions are remembered to accept writes elsewhere than in the hub.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.table.len()
    }

    /// How many moves were not remembered because there was no room.
    #[must_use]
    pub fn unremembered(&self) -> u64 {
        self.0.table.unremembered()
    }

    /// Whether every partition accepts writes in the hub, as far as it is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for WriteRegions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteRegions")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
