//! What runs were made of, so that it shows that they were about something.

use std::fmt;
use std::ops::AddAssign;

use cosmos_testbed::scripted::WireEntry;

use crate::play::Done;

/// Sums over runs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations of callers.
    pub operations: u64,
    /// Of these, how many their callers dropped.
    pub left: u64,
    /// How many were promised an answer, and got it.
    pub promised: u64,
    /// How many of those met a failure on the way.
    pub rescued: u64,
    /// Requests that regions saw.
    pub requests: u64,
    /// Circuits that tripped.
    pub trips: u64,
    /// Probes granted.
    pub probes: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, done: &Done, wire: &[&WireEntry], promised: bool) {
        self.operations += 1;
        self.left += u64::from(done.result.is_none());
        self.promised += u64::from(promised);
        self.rescued += u64::from(promised && wire.len() > 1);
        self.requests += wire.len() as u64;
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        self.left += other.left;
        self.promised += other.promised;
        self.rescued += other.rescued;
        self.requests += other.requests;
        self.trips += other.trips;
        self.probes += other.probes;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} operations, {} left by their callers; {} requests; {} circuits tripped, {} probes; \
             {} operations were promised an answer and got it, {} of them after a failure",
            self.operations,
            self.left,
            self.requests,
            self.trips,
            self.probes,
            self.promised,
            self.rescued
        )
    }
}
