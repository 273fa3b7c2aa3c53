//! One attempt: a request that went to one region once.

use std::fmt;
use std::time::{Duration, Instant};

use crate::{FailureKind, Region, Status};

/// Names an attempt within its operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptId(pub(crate) u32);

/// Why an attempt was made.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// The operation's first attempt.
    #[default]
    First,
    /// The same region again after 429.
    Throttle,
    /// The same region again after 449.
    RetryWith,
    /// The same region again, over another connection.
    Reconnect,
    /// The next region, after a failure (generic budget).
    Failover,
    /// The next region, while the account's topology settles (403/3, 403/1008).
    BackendFailover,
    /// Another region, after 404/1002.
    Session,
    /// Sent again by a layer that is not ours.
    Foreign,
}

impl Reason {
    /// A short name for logs and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Throttle => "throttle",
            Self::RetryWith => "retry_with",
            Self::Reconnect => "reconnect",
            Self::Failover => "failover",
            Self::BackendFailover => "backend_failover",
            Self::Session => "session",
            Self::Foreign => "foreign",
        }
    }
}

/// What became of an attempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is under way.
    InFlight,
    /// The region answered.
    Answered(Status),
    /// It failed without an answer.
    Failed(FailureKind),
    /// Its future was dropped: by the caller, by the deadline, or by a layer in between (then the
    /// next of our layers turns it into [`FailureKind::Lost`]).
    Abandoned,
}

/// What makes something of an attempt's failure.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Oversight {
    /// The marks of its endpoint.
    #[default]
    Endpoint,
    /// The breaker, per partition.
    Circuit,
    /// The breaker, which counts an endpoint's failures at metadata before it is marked.
    Metadata,
    /// The memory of where single partitions accept writes.
    WriteRegion,
}

/// How far the leaf got with an attempt.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The leaf does not say.
    #[default]
    Unknown,
    /// No connection yet: nothing of the request has left.
    Connecting,
    /// The request was handed to a connection.
    Sent,
}

/// One attempt, as the journal keeps it.
#[derive(Copy, Clone, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// The region it went to; [`Region::GLOBAL`] for the global endpoint.
    pub region: Region,
    /// Why it was made.
    pub reason: Reason,
    /// A number that grows over all attempts of an account.
    pub sequence: u64,
    /// The connection shard that carried it, if the leaf said so.
    pub shard: Option<u16>,
    /// How far the leaf got with it, if the leaf said so.
    pub phase: Phase,
    /// Whether it was the one trial of an endpoint whose mark had expired.
    pub trial: bool,
    /// Whether it was the one probe of an open circuit.
    pub probe: bool,
    /// Whether it was the one request allowed although every region is excluded.
    pub sole: bool,
    /// Whether no region was available when it was chosen, so that there was nowhere better to go.
    pub last_resort: bool,
    /// What makes something of its failure.
    pub oversight: Oversight,
    /// The region whose retry guard was paid for it.
    pub paid: Option<Region>,
    /// Whether another region could take over if this one does not answer: then it does not get
    /// all of the time that the operation has left.
    pub has_alternative: bool,
    /// When it began.
    pub began: Instant,
    /// How long it took, once it has ended.
    pub duration: Option<Duration>,
    /// What became of it.
    pub outcome: Outcome,
    // How many endpoint layers below the one that began it have passed it on.
    pub(crate) passes: u32,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14} {:<16} ", self.region.name(), self.reason.name())?;
        match self.outcome {
            Outcome::InFlight => f.write_str("in flight")?,
            Outcome::Answered(status) => write!(f, "{status}")?,
            Outcome::Failed(kind) => write!(f, "{kind}")?,
            Outcome::Abandoned => f.write_str("abandoned")?,
        }
        if let Some(duration) = self.duration {
            write!(f, " after {duration:.3?}")?;
        }
        Ok(())
    }
}

/// What `EndpointLayer` knows when it begins an attempt.
#[derive(Copy, Clone, Debug)]
#[must_use]
pub struct Begin {
    /// The region chosen.
    pub region: Region,
    /// The reason that the routing layer gave.
    pub reason: Reason,
    /// The account's next sequence number.
    pub sequence: u64,
    /// Whether the attempt is the trial of an endpoint.
    pub trial: bool,
    /// Whether it is the probe of a circuit.
    pub probe: bool,
    /// Whether it is the one request allowed although every region is excluded.
    pub sole: bool,
    /// Whether no region was available.
    pub last_resort: bool,
    /// What makes something of its failure.
    pub oversight: Oversight,
    /// The region whose retry guard was paid for it.
    pub paid: Option<Region>,
}

impl Begin {
    /// A first attempt in a region, and nothing special.
    pub const fn new(region: Region) -> Self {
        Self {
            region,
            reason: Reason::First,
            sequence: 0,
            trial: false,
            probe: false,
            sole: false,
            last_resort: false,
            oversight: Oversight::Endpoint,
            paid: None,
        }
    }
}
