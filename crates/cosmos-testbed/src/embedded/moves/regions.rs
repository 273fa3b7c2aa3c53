//! Regions that come and go.

use azure_data_cosmos_driver::in_memory_emulator::{SeedingPolicy, VirtualRegion};

use super::{AccountMoves, MoveError};
use crate::embedded::account::RegionInfo;
use crate::embedded::endpoint::Endpoint;
use crate::embedded::state::State;

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
            let global = self.state.port(&Endpoint::Global);
            let tls = global.and_then(|global| global.tls.clone());
            let (port, listener) = State::listen(endpoint, tls)?;
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
