//! The journal of an operation: every attempt as a fact, every budget spent.
//!
//! One journal serves all layers of an operation, so budgets hold per operation however layers
//! are nested, and "tried" is not a field somewhere: it is the regions that failed in here.
//!
//! `EndpointLayer` *begins* an attempt and *ends* it, or leaves it *abandoned* when its future is
//! dropped. A layer whose inner call returns while such an attempt stands abandoned *settles* it:
//! something in between gave up, so the outcome is unknown, and that is a failure. Beginning is
//! the gate: after the deadline, and for a stored procedure that may have run, nothing is sent,
//! not even for a retry layer that is not ours.

mod attempt;
mod budget;
mod record;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use attempt::{Attempt, AttemptId, Begin, Outcome, Oversight, Phase, Reason};
pub use budget::{Budget, Spent};
pub(crate) use record::Record;

use crate::Region;
use crate::route::OperationState;

/// The most attempts that one operation can make. All budgets together stay well below it; it
/// bounds what a foreign retry layer can make the journal hold.
pub const MAX_ATTEMPTS: usize = 1024;

/// A view of what an operation did, cheap to clone, readable while the operation runs and after.
///
/// Found in a response's extensions, in a [`TransportError`](crate::TransportError), or through a
/// [`JournalSlot`] put into the operation's options, which works even if the future was dropped.
#[derive(Clone)]
pub struct Journal(pub(crate) Arc<OperationState>);

impl Journal {
    /// The attempts so far, in the order in which they began.
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        self.0.record.lock().attempts().to_vec()
    }

    /// How often the operation moved or repeated a request.
    #[must_use]
    pub fn retries(&self) -> usize {
        self.0.record.lock().attempts().len().saturating_sub(1)
    }

    /// When the first layer saw the operation.
    #[must_use]
    pub fn began(&self) -> Instant {
        self.0.began
    }

    /// The instant at which the operation must have ended.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.record.lock().deadline
    }

    /// Whether the deadline passed before the operation ended.
    #[must_use]
    pub fn deadline_expired(&self) -> bool {
        self.0.record.lock().deadline_expired
    }

    /// Why nothing could be sent, or nothing more: the last such reason, if there was one.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.0.record.lock().problem.as_deref().map(str::to_owned)
    }

    /// How much of a budget that counts retries is spent.
    #[must_use]
    pub fn spent(&self, budget: Budget) -> u32 {
        self.0.record.lock().spent.count(budget)
    }

    /// The throttle retries made in a region, and the time slept for them.
    #[must_use]
    pub fn throttled(&self, region: Region) -> (u32, Duration) {
        self.0.record.lock().spent.throttled(region)
    }

    /// Whether an earlier attempt may have been carried out although it gave no answer: the
    /// reason why a create can come back as 409, or a replace as 412.
    #[must_use]
    pub fn may_have_been_applied(&self) -> bool {
        self.0.record.lock().attempts().iter().any(|attempt| {
            matches!(attempt.outcome, Outcome::InFlight | Outcome::Abandoned)
                || matches!(attempt.outcome,
                    Outcome::Failed(kind) if kind.sent() == crate::Sent::Maybe)
                || matches!(attempt.outcome,
                    Outcome::Answered(status) if status.is_server_error() || status.code() == 408)
        })
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.attempts()).finish()
    }
}

impl fmt::Display for Journal {
    /// One line per attempt, and one each saying why nothing was sent, and why the operation's
    /// partition is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempts = self.attempts();
        for (number, attempt) in attempts.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            let after = attempt.began.saturating_duration_since(self.began());
            write!(f, "{:>3}. +{:>8.3?} {attempt}", number + 1, after)?;
        }
        if attempts.is_empty() {
            let unsaid = if self.deadline_expired() {
                "the deadline had passed"
            } else {
                "nothing yet"
            };
            let problem = self.problem();
            let problem = problem.as_deref().unwrap_or(unsaid);
            write!(f, "nothing was sent: {problem}")?;
        }
        if let Some(problem) = self.range_problem() {
            write!(f, "\npartition unknown: {problem}")?;
        }
        Ok(())
    }
}

/// Where the first layer puts the journal of an operation, for a caller who may drop the future.
#[derive(Clone, Default)]
pub struct JournalSlot(Arc<parking_lot::Mutex<Option<Journal>>>);

/// A slot equals itself and its clones, whatever is in it.
impl PartialEq for JournalSlot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for JournalSlot {}

impl JournalSlot {
    /// An empty slot.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The journal of the last operation that carried this slot, once a layer has seen it.
    #[must_use]
    pub fn journal(&self) -> Option<Journal> {
        self.0.lock().clone()
    }

    pub(crate) fn fill(&self, journal: Journal) {
        *self.0.lock() = Some(journal);
    }
}

impl fmt::Debug for JournalSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JournalSlot").field(&self.journal()).finish()
    }
}
