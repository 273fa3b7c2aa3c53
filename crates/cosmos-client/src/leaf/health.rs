//! How a shard's connections fare: whether it is suspected, whether it is to be retired.
//!
//! A connection can be sick while its endpoint is well: pinned to a front end that fails, or to
//! an address that is no longer served. A shard that failed is *suspected*: new requests prefer
//! other shards until it answers well again. One that failed several times in a row, or is too
//! old, is *retired*: a new shard, with new connections and a new look-up of the name, takes its
//! place, and what is under way on the old one goes on to its end.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http::StatusCode;
use tokio::time::Instant;

/// At most one shard of an authority is retired for its failures in this time: when the endpoint
/// itself fails, all of its shards do.
pub(super) const RETIRE_INTERVAL: Duration = Duration::from_secs(1);

/// How long a request must have waited for its being dropped to count as a failure.
const PATIENCE: Duration = Duration::from_secs(1);

/// When shards are retired.
#[derive(Copy, Clone, Debug)]
pub(super) struct Retirement {
    /// Failures in a row.
    pub(super) failures: u32,
    /// Time since the shard was made.
    pub(super) age: Duration,
}

/// The record of one shard.
#[derive(Debug)]
pub(super) struct Health {
    made: Instant,
    failures: AtomicU32,
}

impl Health {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            made: now,
            failures: AtomicU32::new(0),
        }
    }

    /// An answer came. Any but a server error shows that the connection is well.
    pub(super) fn answered(&self, status: StatusCode) {
        if status.is_server_error() {
            self.failed();
        } else {
            self.failures.store(0, Ordering::Relaxed);
        }
    }

    /// A request failed that a connection had taken.
    pub(super) fn failed(&self) {
        let more = |failures: u32| Some(failures.saturating_add(1));
        // The closure never refuses.
        let _ = self
            .failures
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// A request was dropped that a connection had taken. A caller who leaves early says nothing.
    pub(super) fn dropped(&self, waited: Duration) {
        if waited >= PATIENCE {
            self.failed();
        }
    }

    /// Whether new requests should rather go elsewhere.
    pub(super) fn is_suspected(&self) -> bool {
        self.failures.load(Ordering::Relaxed) > 0
    }

    /// Whether it failed too often in a row.
    pub(super) fn is_bad(&self, retirement: Retirement) -> bool {
        self.failures.load(Ordering::Relaxed) >= retirement.failures
    }

    /// Whether it is too old.
    pub(super) fn is_old(&self, retirement: Retirement, now: Instant) -> bool {
        now.saturating_duration_since(self.made) >= retirement.age
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETIREMENT: Retirement = Retirement {
        failures: 3,
        age: Duration::from_secs(600),
    };

    #[tokio::test(start_paused = true)]
    async fn it_is_suspected_at_once_and_bad_after_three_in_a_row() {
        let health = Health::new(Instant::now());
        assert!(!health.is_suspected());
        health.failed();
        health.answered(StatusCode::SERVICE_UNAVAILABLE);
        assert!(health.is_suspected() && !health.is_bad(RETIREMENT));
        health.answered(StatusCode::NOT_FOUND);
        assert!(!health.is_suspected());
        for _ in 0..3 {
            health.dropped(PATIENCE);
        }
        assert!(health.is_bad(RETIREMENT));
    }

    #[tokio::test(start_paused = true)]
    async fn an_impatient_caller_says_nothing() {
        let health = Health::new(Instant::now());
        health.dropped(Duration::from_millis(999));
        assert!(!health.is_suspected());
    }

    #[tokio::test(start_paused = true)]
    async fn it_gets_old() {
        let health = Health::new(Instant::now());
        tokio::time::advance(Duration::from_secs(599)).await;
        assert!(!health.is_old(RETIREMENT, Instant::now()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(health.is_old(RETIREMENT, Instant::now()));
    }
}
