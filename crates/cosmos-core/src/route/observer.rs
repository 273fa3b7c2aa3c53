//! Who hears of an operation's attempts and answers.

use std::fmt;
use std::time::Instant;

use http::HeaderMap;

use crate::policy::Verdict;
use crate::{Attempt, Operation, Outcome, Region, Status};

/// What an account wants to know of, and to be asked about, the attempts of an operation.
///
/// Planted by `EndpointLayer`, so that a layer without an account handle can settle an attempt
/// with the same consequences as `EndpointLayer` itself, and ask whether a region is still there.
pub trait AttemptObserver: Send + Sync + fmt::Debug {
    /// An attempt has ended, or was settled.
    fn ended(&self, operation: Operation, attempt: &Attempt, now: Instant);

    /// Whether the account still has the region.
    fn lists(&self, region: Region) -> bool;

    /// What the integrator makes of a verdict.
    fn reclassify(&self, operation: Operation, outcome: Outcome, verdict: Verdict) -> Verdict {
        let _ = (operation, outcome);
        verdict
    }
}

/// Hears of every answer of an operation, whichever attempt it came to.
pub trait AnswerListener: Send + Sync + fmt::Debug {
    /// A region has answered.
    fn answered(&self, operation: Operation, status: Status, headers: &HeaderMap);
}
