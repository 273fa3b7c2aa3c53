//! The end of an attempt, as a circuit hears of it.

use std::time::Instant;

use super::{Signal, State};
use crate::{Access, Region};

/// As what an attempt went to its region.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// As any request.
    #[default]
    Ordinary,
    /// With the lease of the circuit's probe.
    Probe,
    /// Because no region was left whose circuit is closed.
    LastResort,
}

/// The attempt that this one repeats over another connection, of several in a row the first: all
/// are one verdict.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Its sequence number.
    pub sequence: u64,
    /// When it ended, as was passed to [`Health::record`](super::Health::record).
    pub ended: Instant,
    /// What it said.
    pub signal: Signal,
}

/// The end of an attempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Where the attempt went.
    pub region: Region,
    /// Whether it read or wrote.
    pub access: Access,
    /// The attempt's number.
    pub sequence: u64,
    /// The newest number handed out so far: what a trip remembers.
    pub newest: u64,
    /// As what it went.
    pub role: Role,
    /// What its outcome says.
    pub signal: Signal,
    /// The attempt that it repeats, if it is a reconnect.
    pub replaces: Option<Replaced>,
    /// What was recorded when this same attempt was dropped, if it was and is now settled: an
    /// inner layer had given up on it. A lease that was only given back is
    /// [`Neutral`](Signal::Neutral). A failure is never counted twice.
    pub settles: Option<Signal>,
}

/// What an event did.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// The state is what it was.
    Kept,
    /// Nothing: it told of before the trip, or of before the circuit closed, or of a probe whose
    /// lease is not its own any more.
    Late,
    /// The state changed.
    Moved {
        /// The state before.
        from: State,
        /// The state now.
        to: State,
    },
}
