//! The journal's contents and the rules of beginning, ending and settling. Pure: `now` is passed in.

use std::time::Instant;

use smallvec::SmallVec;

use super::{Attempt, AttemptId, Begin, MAX_ATTEMPTS, Outcome, Phase, Reason, Spent};
use crate::seeded::{self, Fault};
use crate::{FailureKind, Operation, Sent};

/// The part of an operation that changes while it runs.
#[derive(Debug, Default)]
pub(crate) struct Record {
    attempts: SmallVec<[Attempt; 2]>,
    pub(crate) spent: Spent,
    pub(crate) deadline: Option<Instant>,
    pub(crate) deadline_expired: bool,
    pub(crate) problem: Option<Box<str>>,
}

impl Record {
    pub(crate) fn with_deadline(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            ..Self::default()
        }
    }

    pub(crate) fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    pub(crate) fn len(&self) -> usize {
        self.attempts.len()
    }

    /// Whether the instant has passed; remembers it if so.
    pub(crate) fn check_deadline(&mut self, now: Instant) -> bool {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.deadline_expired = true;
        }
        self.deadline_expired
    }

    /// The gate: begins an attempt, or says why nothing may be sent.
    pub(crate) fn begin(
        &mut self,
        operation: Operation,
        now: Instant,
        begin: Begin,
    ) -> Result<AttemptId, FailureKind> {
        if self.check_deadline(now) && !seeded::is(Fault::SendAfterDeadline) {
            return Err(FailureKind::DeadlineExceeded);
        }
        if operation.is_stored_procedure_execution()
            && !seeded::is(Fault::ProcedureTwice)
            && self
                .attempts
                .iter()
                .any(|attempt| may_have_run(attempt.outcome))
        {
            return Err(FailureKind::MayHaveRun);
        }
        // Everything excluded allows one request, whatever a refresh has changed since.
        let sole = self.attempts.iter().any(|attempt| attempt.sole);
        if sole || begin.sole && !self.attempts.is_empty() {
            return Err(FailureKind::Excluded);
        }
        if self.attempts.len() >= MAX_ATTEMPTS {
            return Err(FailureKind::TooManyAttempts);
        }
        // A second "first" attempt is the work of a retry layer that is not ours.
        let reason = match begin.reason {
            Reason::First if !self.attempts.is_empty() => Reason::Foreign,
            reason => reason,
        };
        // MAX_ATTEMPTS keeps the number small.
        #[allow(clippy::cast_possible_truncation)]
        let id = AttemptId(self.attempts.len() as u32);
        self.attempts.push(Attempt {
            region: begin.region,
            reason,
            sequence: begin.sequence,
            shard: None,
            phase: Phase::Unknown,
            trial: begin.trial,
            probe: begin.probe,
            sole: begin.sole,
            last_resort: begin.last_resort,
            oversight: begin.oversight,
            paid: begin.paid,
            has_alternative: false,
            began: now,
            duration: None,
            outcome: Outcome::InFlight,
            passes: 0,
        });
        Ok(id)
    }

    /// Whether an attempt is under way and was passed on so many times; now it is once more.
    pub(crate) fn pass(&mut self, id: AttemptId, passes: u32) -> bool {
        let attempt = self.attempts.get_mut(id.0 as usize).filter(|attempt| {
            attempt.outcome == Outcome::InFlight && attempt.passes == passes && passes < u32::MAX
        });
        attempt.is_some_and(|attempt| {
            attempt.passes += 1;
            true
        })
    }

    /// Ends an attempt. Only the first end counts.
    pub(crate) fn end(&mut self, id: AttemptId, now: Instant, outcome: Outcome) -> Option<Attempt> {
        let attempt = self.attempts.get_mut(id.0 as usize)?;
        if attempt.outcome != Outcome::InFlight {
            return None;
        }
        attempt.outcome = outcome;
        attempt.duration = Some(now.saturating_duration_since(attempt.began));
        Some(*attempt)
    }

    /// The attempt that this one repeats over another connection, if it does; of several in a row,
    /// the one that broke first.
    pub(crate) fn reconnected_by(&self, id: AttemptId) -> Option<Attempt> {
        let (before, from) = self.attempts.split_at_checked(id.0 as usize)?;
        let attempt = from.first()?;
        let mut here = before
            .iter()
            .rev()
            .filter(|earlier| earlier.region == attempt.region);
        if attempt.reason != Reason::Reconnect {
            return None;
        }
        here.find(|earlier| earlier.reason != Reason::Reconnect)
            .copied()
    }

    /// Turns the attempts from `from` on that were dropped unfinished into failures, unless the
    /// deadline dropped them. Returns those it changed.
    pub(crate) fn settle(&mut self, from: usize, now: Instant) -> SmallVec<[Attempt; 2]> {
        let mut settled = SmallVec::new();
        if from >= self.attempts.len() || self.check_deadline(now) {
            return settled;
        }
        for attempt in &mut self.attempts[from..] {
            if attempt.outcome == Outcome::Abandoned {
                attempt.outcome = Outcome::Failed(FailureKind::Lost);
                settled.push(*attempt);
            }
        }
        settled
    }

    pub(crate) fn update(&mut self, id: AttemptId, change: impl FnOnce(&mut Attempt)) {
        if let Some(attempt) = self.attempts.get_mut(id.0 as usize) {
            change(attempt);
        }
    }
}

/// Whether a stored procedure may have run in an attempt with this outcome. Only where service or
/// connection guarantee that nothing ran may it be sent again.
fn may_have_run(outcome: Outcome) -> bool {
    match outcome {
        Outcome::InFlight | Outcome::Abandoned => true,
        Outcome::Failed(kind) => kind.sent() == Sent::Maybe,
        Outcome::Answered(status) => {
            !(matches!(status.code(), 410 | 429 | 449)
                || matches!(
                    (status.code(), status.substatus()),
                    (403, 3 | 1008) | (404, 1002)
                ))
        }
    }
}
