//! What a breaker tolerates, and for how long a tripped circuit rests.

use std::time::Duration;

use crate::Access;
use crate::policy::Jitter;

/// The settings of a breaker: valid by construction, made by
/// [`BreakerOptions`](super::BreakerOptions). `Default` gives the documented values, without the
/// environment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    pub(super) enabled: bool,
    pub(super) reads_tolerated: u32,
    pub(super) writes_tolerated: u32,
    pub(super) failure_percentage: u8,
    pub(super) min_requests: u32,
    pub(super) window: Duration,
    pub(super) first_wait: Duration,
    pub(super) next_wait: Duration,
    pub(super) lease_limit: Duration,
    pub(super) capacity: u32,
    pub(super) jitter: Jitter,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            reads_tolerated: 10,
            writes_tolerated: 5,
            failure_percentage: 90,
            min_requests: 100,
            window: Duration::from_secs(60),
            first_wait: Duration::from_secs(60),
            next_wait: Duration::from_secs(120),
            lease_limit: Duration::from_secs(7),
            capacity: 200_000,
            jitter: Jitter::Random,
        }
    }
}

impl BreakerSettings {
    /// Whether the breaker works at all. Default true.
    #[must_use]
    pub const fn enabled(&self) -> bool {
        self.enabled
    }

    /// How many consecutive failures of this access trip a circuit. Default 10 for reads, 5 for
    /// writes; at least 1.
    #[must_use]
    pub const fn tolerated(&self, access: Access) -> u32 {
        match access {
            Access::Read => self.reads_tolerated,
            Access::Write => self.writes_tolerated,
        }
    }

    /// The percentage of failed requests in a window that trips a circuit, however they are
    /// mixed. Default 90; 1 to 100.
    #[must_use]
    pub const fn failure_percentage(&self) -> u8 {
        self.failure_percentage
    }

    /// How many requests a window must have for the percentage to count. Default 100.
    #[must_use]
    pub const fn min_requests(&self) -> u32 {
        self.min_requests
    }

    /// How long successes and failures are counted before the counts begin anew. Default 60 s.
    #[must_use]
    pub const fn window(&self) -> Duration {
        self.window
    }

    /// How long a circuit that tripped rests before the first probe. Default 60 s, lengthened by
    /// up to a quarter at random.
    #[must_use]
    pub const fn first_wait(&self) -> Duration {
        self.first_wait
    }

    /// How long it rests after a probe failed. Default 120 s, lengthened by up to a quarter at
    /// random.
    #[must_use]
    pub const fn next_wait(&self) -> Duration {
        self.next_wait
    }

    /// How old the lease of a probe may get before another probe may go. Until one does, the verdict
    /// of the first still counts. Default 7 s: the limit of an attempt and one second.
    #[must_use]
    pub const fn lease_limit(&self) -> Duration {
        self.lease_limit
    }

    /// How many (partition, region) are tracked at most. Default 200,000.
    #[must_use]
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Where the random part of a rest comes from. Default random.
    #[must_use]
    pub const fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// A rest, lengthened so that circuits that tripped together are not probed together.
    pub(super) fn lengthened(&self, wait: Duration) -> Duration {
        self.jitter.lengthen(wait)
    }
}
