//! Data on its way: replication, sessions, partitions.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};

use super::{AccountMoves, MoveError};
use crate::embedded::builder::Container;
use crate::embedded::engine::Ask;
use crate::embedded::items;

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

    /// Deletes a container and makes another one of the same name, empty and with so many partitions,
    /// in one step: nobody finds that there is none.
    ///
    /// # Errors
    ///
    /// If there is no such container, or one cannot be like that.
    pub async fn replace_container(
        &self,
        database: &str,
        container: &str,
        partition_key_path: &str,
        physical_partitions: u32,
    ) -> Result<(), MoveError> {
        // Of a database that is not there, the store would make a panic.
        if !self.has_container(database, container).await {
            let message = format!("there is no container {database}/{container}");
            return Err(MoveError::Rejected(message));
        }
        let container = Container {
            database: database.to_owned(),
            name: container.to_owned(),
            partition_key_path: partition_key_path.to_owned(),
            physical_partitions,
        };
        let made = container.create(&self.state.engine, None);
        made.map_err(|error| MoveError::Rejected(error.to_string()))
    }

    async fn has_container(&self, database: &str, container: &str) -> bool {
        let engine = &self.state.engine;
        let Some(hub) = engine.hub_url() else {
            return false;
        };
        let ask = Ask {
            method: Method::GET,
            path_and_query: items::path(database, container),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        };
        engine.answer(&hub, ask).await.status.is_success()
    }
}
