//! Who hears of an operation's attempts and answers, and has a say in where they go.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use http::HeaderMap;

use super::{Route, Steering};
use crate::health::PartitionStandings;
use crate::policy::Verdict;
use crate::{Attempt, Operation, Outcome, Partition, Region, Status};

/// What an account wants to know of, and to be asked about, the attempts of an operation.
///
/// Planted by `EndpointLayer`, so that a layer without an account handle can settle an attempt
/// with the same consequences as `EndpointLayer` itself, and ask whether a region is still there.
pub trait AttemptObserver: Send + Sync + fmt::Debug {
    /// An attempt has ended, or was settled. `at_threshold` says that the breaker has counted
    /// enough failures of the endpoint at metadata for it to be marked.
    fn ended(&self, operation: Operation, attempt: &Attempt, at_threshold: bool, now: Instant);

    /// Whether the account still has the region.
    fn lists(&self, region: Region) -> bool;

    /// Takes from the retry guard what sending an operation again with this steering costs.
    fn pay(&self, route: &Route, steering: Steering) -> Toll {
        let _ = (route, steering);
        Toll::Free
    }

    /// Gives back what was paid for an attempt that is not made.
    fn pay_back(&self, region: Region) {
        let _ = region;
    }

    /// What the integrator makes of a verdict.
    fn reclassify(&self, operation: Operation, outcome: Outcome, verdict: Verdict) -> Verdict {
        let _ = (operation, outcome);
        verdict
    }
}

/// What a retry guard asks for an attempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Toll {
    /// Nothing: there is no guard.
    Free,
    /// A token of this region, where the attempt would go; it was taken.
    Paid(Region),
    /// A token that is not there: the attempt is not to be made.
    Refused,
}

/// Hears of every answer of an operation, whichever attempt it came to.
pub trait AnswerListener: Send + Sync + fmt::Debug {
    /// A region has answered.
    fn answered(&self, operation: Operation, status: Status, headers: &HeaderMap);
}

/// The circuits of a breaker, as every attempt of an operation uses them.
///
/// Planted by `CircuitBreakerLayer`, used by `EndpointLayer`: so the breaker sees every attempt, on
/// a fresh view, wherever its layer stands.
pub trait Breaker: Send + Sync + fmt::Debug {
    /// How the partition's regions stand.
    fn standings(&self, partition: Partition<'_>, now: Instant) -> PartitionStandings;

    /// Takes the one lease for a probe of a circuit that is due; `false` if another request has it.
    fn take_probe(
        &self,
        partition: Partition<'_>,
        region: Region,
        sequence: u64,
        now: Instant,
    ) -> bool;

    /// The attempt that holds a lease is alive.
    fn renew(&self, partition: Partition<'_>, region: Region, sequence: u64, now: Instant);

    /// Gives a lease back whose attempt never began.
    fn release(&self, partition: Partition<'_>, region: Region, sequence: u64, now: Instant);

    /// An attempt has ended, or was settled. Returns whether its endpoint is to be marked, because
    /// it has failed too often at metadata.
    fn ended(&self, ended: &Ended<'_>, now: Instant) -> bool;

    /// The partition is no more: with a range, that range of the container, else all of it.
    fn forget(&self, partition: Partition<'_>);
}

/// An attempt that has ended, with what its circuit's verdict depends on.
#[derive(Copy, Clone, Debug)]
pub struct Ended<'a> {
    /// The partition that it was for.
    pub partition: Partition<'a>,
    /// What the request does.
    pub operation: Operation,
    /// The attempt.
    pub attempt: &'a Attempt,
    /// The attempt whose connection broke, if this one repeated it over another connection; of
    /// several in a row, the one that broke first. They are one verdict.
    pub reconnects: Option<&'a Attempt>,
    /// Whether the attempt was told before as abandoned, and now turns out to be a failure.
    pub settled: bool,
    /// The whole time that the operation has, if it has a deadline.
    pub patience: Option<Duration>,
}

/// The memory of where the partitions of a single-write account accept writes.
///
/// Planted by `PpafLayer`, used by `EndpointLayer`.
pub trait WriteRegionMemory: Send + Sync + fmt::Debug {
    /// Where the partition last accepted a write, if that is not the hub.
    fn remembered(&self, partition: Partition<'_>) -> Option<Region>;

    /// A region answered a write in a way that only the partition's write region does.
    fn confirmed(&self, partition: Partition<'_>, region: Region, hub: Region, sequence: u64);

    /// The partition is no more: with a range, that range of the container, else all of it.
    fn forget(&self, partition: Partition<'_>);
}

/// Finds out which partition an operation is for.
///
/// Planted by `PartitionLayer`, so that a layer that learns of a stale range can ask for a fresh
/// one.
pub trait RangeLookup: Send + Sync + fmt::Debug {
    /// Reads the map of ranges afresh and looks the operation's partition up again.
    fn refresh(&self, route: Route) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// An answer named another range than the one that was found: the map is old.
    fn corrected(&self, route: &Route);

    /// A region has answered: what that says of the container is taken note of.
    fn answered(&self, route: &Route, status: Status, headers: &HeaderMap);
}
