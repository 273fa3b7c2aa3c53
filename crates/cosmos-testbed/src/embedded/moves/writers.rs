//! Failover, and what the account document says about writers.

use super::{AccountMoves, MoveError};
use crate::embedded::builder::WriteMode;
use crate::embedded::deviations::ReassignedRange;

/// Failover, and what the account document says about writers.
impl AccountMoves {
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
