//! What an account does by itself, or at its owner's hand, while clients are talking to it.

use std::sync::Arc;
use std::time::Duration;

use azure_data_cosmos_driver::CosmosError;
use azure_data_cosmos_driver::in_memory_emulator::{EmulatorStore, SeedingPolicy, VirtualRegion};

use super::account::RegionInfo;
use super::builder::WriteMode;
use super::deviations::ReassignedRange;
use super::endpoint::Endpoint;
use super::state::State;

/// Why the account did not move.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The account never had a region of this name.
    #[error("the account has no region {0:?}")]
    UnknownRegion(String),
    /// The account's state does not permit the move.
    #[error("the account cannot move like that: {0}")]
    Rejected(String),
    /// A new region has no port to listen on.
    #[error("no loopback port to listen on")]
    Listen(#[from] std::io::Error),
}

impl From<CosmosError> for MoveError {
    fn from(error: CosmosError) -> Self {
        Self::Rejected(error.to_string())
    }
}

/// Moves an account. Cheap to clone. A move is in effect when its method returns; only a client's
/// next account read tells the client about it.
#[derive(Clone, Debug)]
pub struct AccountMoves {
    state: Arc<State>,
}

/// Failover, and what the account document says about writers.
impl AccountMoves {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Self { state }
    }

    /// Makes a region the hub at once: the writer of a single-write account, the first writable
    /// location of a multi-write one.
    ///
    /// # Errors
    ///
    /// If the region is unknown, offline or leaving.
    pub fn fail_over(&self, region: &str) -> Result<(), MoveError> {
        self.store().set_write_region(region)?;
        Ok(())
    }

    /// The first of a failover's three steps: both regions are listed as writable, and the old one
    /// still accepts writes.
    ///
    /// # Errors
    ///
    /// If the account has several writers, or the region is unknown, offline or leaving.
    pub fn announce_failover(&self, region: &str) -> Result<(), MoveError> {
        self.store().announce_failover(region)?;
        Ok(())
    }

    /// The second step: both regions are still listed as writable, and the old one answers writes
    /// with 403/3.
    ///
    /// # Errors
    ///
    /// As [`announce_failover`](Self::announce_failover).
    pub fn begin_failover(&self, region: &str) -> Result<(), MoveError> {
        self.store().begin_failover(region)?;
        Ok(())
    }

    /// The third step: only the new region is listed as writable.
    pub fn complete_failover(&self) {
        self.store().complete_failover();
    }

    /// Makes one region the writer, or every region.
    pub fn set_write_mode(&self, mode: WriteMode) {
        self.store().set_write_mode(mode.into());
    }

    /// What the account document says about per-partition automatic failover.
    pub fn set_per_partition_failover(&self, enabled: bool) {
        let config = self.store().config();
        config.set_per_partition_failover(enabled);
    }

    /// What the account document says about hedging across regions; `None` says nothing.
    pub fn set_hedging_disabled(&self, disabled: Option<bool>) {
        let config = self.store().config();
        config.set_cross_region_hedging_disabled(disabled);
    }

    /// Moves the writes of one partition key range to a region of its own: there they succeed, and
    /// everywhere else they are answered 403/3. The account document does not tell. A range that is
    /// split leaves this behind: its children are written where the account is.
    ///
    /// # Errors
    ///
    /// If the region is unknown.
    pub fn reassign_range(
        &self,
        database: &str,
        container: &str,
        range: &str,
        region: &str,
    ) -> Result<(), MoveError> {
        self.known(region)?;
        let moved = ReassignedRange::new(database, container, range, region);
        self.state.moved.place(moved);
        Ok(())
    }

    /// Gives a range's writes back to the account's writer, and tells whether they had moved.
    #[must_use = "tells whether there was anything to restore"]
    pub fn restore_range(&self, database: &str, container: &str, range: &str) -> bool {
        self.state.moved.restore(database, container, range)
    }

    /// The ranges whose writes moved.
    #[must_use]
    pub fn reassigned_ranges(&self) -> Vec<ReassignedRange> {
        self.state.moved.all()
    }
}

/// Regions that come and go.
impl AccountMoves {
    /// Takes a region out of service: it is listed nowhere and refuses connections, and an offline
    /// hub is followed by the next region.
    ///
    /// # Errors
    ///
    /// If the region is unknown or the last one that is online.
    pub async fn take_offline(&self, region: &str) -> Result<(), MoveError> {
        self.store().set_region_offline(region)?;
        self.state.settle().await;
        Ok(())
    }

    /// Returns a region to service, on the port that it had. It does not become the hub again.
    ///
    /// # Errors
    ///
    /// If the region is unknown.
    pub async fn bring_online(&self, region: &str) -> Result<(), MoveError> {
        self.store().set_region_online(region)?;
        self.state.settle().await;
        Ok(())
    }

    /// Starts to remove a region: it answers 403/1008, and the account document still lists it.
    ///
    /// # Errors
    ///
    /// If the region is unknown, the hub, or the last one.
    pub fn begin_removal(&self, region: &str) -> Result<(), MoveError> {
        self.store().begin_region_removal(region)?;
        Ok(())
    }

    /// Calls a removal off.
    ///
    /// # Errors
    ///
    /// If the region is unknown.
    pub fn cancel_removal(&self, region: &str) -> Result<(), MoveError> {
        self.store().cancel_region_removal(region)?;
        Ok(())
    }

    /// Removes a region. Its port stays open and answers 403/1008.
    ///
    /// # Errors
    ///
    /// If the region is unknown, the hub, or the last one.
    pub fn remove_region(&self, region: &str) -> Result<(), MoveError> {
        self.store().remove_region(region)?;
        Ok(())
    }

    /// Adds a region with all the data there is, or adds one again that was removed, on the port
    /// that it had.
    ///
    /// # Errors
    ///
    /// If the region is there already, a partition is being split, or there is no port.
    pub fn add_region(&self, region: &str) -> Result<RegionInfo, MoveError> {
        let endpoint = Endpoint::region(region);
        if let Some(port) = self.state.port(&endpoint) {
            let again = VirtualRegion::new(region, port.url.clone());
            self.store().add_region(again, SeedingPolicy::Immediate)?;
        } else {
            let (port, listener) = State::listen(endpoint)?;
            let new = VirtualRegion::new(region, port.url.clone());
            self.store().add_region(new, SeedingPolicy::Immediate)?;
            self.state.open(port, listener);
        }
        let mut regions = self.state.regions().into_iter();
        regions
            .find(|info| info.name == region)
            .ok_or_else(|| MoveError::UnknownRegion(region.to_owned()))
    }
}

/// Data on its way: replication, sessions, partitions.
impl AccountMoves {
    /// Holds back what is written elsewhere from a region, until it is resumed.
    ///
    /// # Errors
    ///
    /// If the region is unknown.
    pub fn pause_replication(&self, to_region: &str) -> Result<(), MoveError> {
        self.known(to_region)?;
        self.store().pause_replication(to_region);
        Ok(())
    }

    /// Brings a region up to date again, all of what was held back included.
    ///
    /// # Errors
    ///
    /// If the region is unknown.
    pub async fn resume_replication(&self, to_region: &str) -> Result<(), MoveError> {
        self.known(to_region)?;
        self.store().resume_replication(to_region);
        self.store().drain_pending_replications().await;
        Ok(())
    }

    /// Waits until everything written so far is in every region to which replication is not paused.
    pub async fn replicated(&self) {
        self.store().drain_pending_replications().await;
    }

    /// Makes a region answer every data read with 404/1002, whatever its session token, or stops it.
    ///
    /// # Errors
    ///
    /// If the region is unknown.
    pub fn session_not_available(&self, region: &str, lags: bool) -> Result<(), MoveError> {
        self.known(region)?;
        self.state.sessions.set(region, lags);
        Ok(())
    }

    /// Makes a region answer the next item read of one logical partition with 404/1002, once.
    ///
    /// # Errors
    ///
    /// If region, database or container is unknown, or the partition-key header malformed.
    pub fn session_not_available_once(
        &self,
        region: &str,
        database: &str,
        container: &str,
        partition_key: &str,
    ) -> Result<(), MoveError> {
        self.store()
            .force_session_not_available(region, database, container, partition_key)?;
        Ok(())
    }

    /// Splits a partition in the middle and returns its children. For `lock`, requests to it are
    /// answered 410/1007.
    ///
    /// # Errors
    ///
    /// If there is no such partition.
    pub async fn split_partition(
        &self,
        database: &str,
        container: &str,
        partition: u32,
        lock: Duration,
    ) -> Result<Vec<u32>, MoveError> {
        let store = self.store();
        let middle = store.midpoint_split_epk(database, container, partition)?;
        let children = store
            .split_partition_and_wait(database, container, partition, middle, lock)
            .await?;
        Ok(children)
    }

    /// Merges two adjacent partitions and returns their child. For `lock`, requests to them are
    /// answered 410/1007.
    ///
    /// # Errors
    ///
    /// If there are no such partitions, or they are not adjacent.
    pub async fn merge_partitions(
        &self,
        database: &str,
        container: &str,
        partitions: (u32, u32),
        lock: Duration,
    ) -> Result<u32, MoveError> {
        let (first, second) = partitions;
        let child = self
            .store()
            .merge_partitions_and_wait(database, container, first, second, lock)
            .await?;
        Ok(child)
    }

    fn store(&self) -> &Arc<EmulatorStore> {
        self.state.engine.store()
    }

    fn known(&self, region: &str) -> Result<(), MoveError> {
        if self.state.knows_region(region) {
            Ok(())
        } else {
            Err(MoveError::UnknownRegion(region.to_owned()))
        }
    }
}
