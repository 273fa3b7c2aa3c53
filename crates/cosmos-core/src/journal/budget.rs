//! What an operation has spent of its budgets.

use std::time::Duration;

use smallvec::SmallVec;

use crate::Region;
use crate::seeded::{self, Fault};

/// A budget that counts retries over the whole operation (retry specification, "Retry Budget
/// Summary").
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Budget {
    /// Moves after 5xx, 408, 410, 429/3092 and transport errors; 403/3 of single-write accounts.
    Failover,
    /// Moves after 403/3 on multi-write accounts and after 403/1008.
    BackendFailover,
    /// Moves after 404/1002.
    Session,
}

/// What has been spent so far.
#[derive(Clone, Debug, Default)]
pub struct Spent {
    counts: [u32; 3],
    session_limit: Option<u32>,
    retry_with_slept: Duration,
    retry_with_retries: u32,
    regional: SmallVec<[Regional; 2]>,
}

/// The budgets that each region has of its own.
#[derive(Copy, Clone, Debug)]
struct Regional {
    region: Region,
    throttle_retries: u32,
    throttle_slept: Duration,
    reconnects: u32,
}

impl Spent {
    /// How much of a budget that counts retries is spent.
    #[must_use]
    pub fn count(&self, budget: Budget) -> u32 {
        self.counts[budget as usize]
    }

    /// The throttle retries made in a region, and the time slept for them.
    #[must_use]
    pub fn throttled(&self, region: Region) -> (u32, Duration) {
        self.find(region).map_or((0, Duration::ZERO), |r| {
            (r.throttle_retries, r.throttle_slept)
        })
    }

    /// How often a region was tried again over another connection.
    #[must_use]
    pub fn reconnects(&self, region: Region) -> u32 {
        self.find(region).map_or(0, |r| r.reconnects)
    }

    /// The retries made after 449, and the time slept for them.
    #[must_use]
    pub fn retried_with(&self) -> (u32, Duration) {
        (self.retry_with_retries, self.retry_with_slept)
    }

    /// Spends one retry.
    pub fn spend(&mut self, budget: Budget) {
        if seeded::is(Fault::BudgetOutsideJournal) {
            return;
        }
        let count = &mut self.counts[budget as usize];
        *count = count.saturating_add(1);
    }

    /// Fixes how many retries 404/1002 has in this operation: the first call decides. Returns
    /// what was fixed.
    pub fn fix_session_limit(&mut self, retries: u32) -> u32 {
        *self.session_limit.get_or_insert(retries)
    }

    /// Spends one throttle retry in a region, and the wait before it.
    pub fn spend_throttle(&mut self, region: Region, wait: Duration) {
        let regional = self.regional(region);
        regional.throttle_retries = regional.throttle_retries.saturating_add(1);
        regional.throttle_slept = regional.throttle_slept.saturating_add(wait);
    }

    /// Spends a region's reconnect.
    pub fn spend_reconnect(&mut self, region: Region) {
        let regional = self.regional(region);
        regional.reconnects = regional.reconnects.saturating_add(1);
    }

    /// Spends one retry after 449, and the wait before it.
    pub fn spend_retry_with(&mut self, wait: Duration) {
        self.retry_with_retries = self.retry_with_retries.saturating_add(1);
        self.retry_with_slept = self.retry_with_slept.saturating_add(wait);
    }

    fn find(&self, region: Region) -> Option<&Regional> {
        self.regional
            .iter()
            .find(|regional| regional.region == region)
    }

    fn regional(&mut self, region: Region) -> &mut Regional {
        let position = self
            .regional
            .iter()
            .position(|regional| regional.region == region);
        let position = position.unwrap_or_else(|| {
            self.regional.push(Regional {
                region,
                throttle_retries: 0,
                throttle_slept: Duration::ZERO,
                reconnects: 0,
            });
            self.regional.len() - 1
        });
        &mut self.regional[position]
    }
}
