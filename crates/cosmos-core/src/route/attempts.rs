//! A route's part in attempts: beginning, ending and settling them, and what they spend.

use std::time::Instant;

use super::{Ended, Route, Steering};
use crate::{Attempt, AttemptId, Begin, FailureKind, Outcome, Oversight, Phase, Reason, Spent};

/// How many attempts an operation had made when a layer's call began.
#[derive(Copy, Clone, Debug)]
pub struct Position(usize);

impl Route {
    /// Marks the beginning of a layer's call, for [`conclude`](Self::conclude).
    #[must_use]
    pub fn position(&self) -> Position {
        Position(self.operation.record.lock().len())
    }

    /// Begins an attempt.
    ///
    /// # Errors
    /// Why nothing may be sent: the deadline has passed, the stored procedure may have run, every
    /// region is excluded, or there were too many attempts already.
    pub fn begin(&self, now: Instant, begin: Begin) -> Result<AttemptId, FailureKind> {
        self.operation
            .record
            .lock()
            .begin(self.operation(), now, begin)
    }

    /// The route of the next request, as a layer that sends again steers it.
    #[must_use]
    pub fn steered(&self, steering: Steering) -> Self {
        Self {
            steering,
            steered: self.position().0,
            passes: 0,
            ..self.clone()
        }
    }

    /// Why the next attempt is made: the steering's reason, once. Whoever sends the same request
    /// again is no layer of ours.
    #[must_use]
    pub fn reason(&self) -> Reason {
        if self.position().0 == self.steered {
            self.steering.reason
        } else {
            Reason::Foreign
        }
    }

    /// The route of the request that an attempt is.
    #[must_use]
    pub fn placed(&self, attempt: AttemptId) -> Self {
        let mut placed = self.clone();
        placed.steering.attempt = Some(attempt);
        placed.passes = 0;
        placed
    }

    /// The route to pass on if this very request is an attempt under way, which an
    /// `EndpointLayer` below the one that began it sees for the first time. `None`: it is no
    /// attempt yet, or was sent again in between.
    #[must_use]
    pub fn passed(&self) -> Option<Self> {
        let attempt = self.steering.attempt?;
        let first = self.operation.record.lock().pass(attempt, self.passes);
        first.then(|| Self {
            passes: self.passes + 1,
            ..self.clone()
        })
    }

    /// Ends an attempt and tells the account. A second end of the same attempt does nothing.
    pub fn end(&self, id: AttemptId, now: Instant, outcome: Outcome) {
        let (ended, broken) = {
            let mut record = self.operation.record.lock();
            (record.end(id, now, outcome), record.reconnected_by(id))
        };
        if let Some(attempt) = ended {
            self.tell(&attempt, broken.as_ref(), false, now);
        }
    }

    /// The last attempt begun under a call that has now returned, if there is nothing to settle.
    #[must_use]
    pub fn settled(&self, since: Position) -> Option<Attempt> {
        let record = self.operation.record.lock();
        let begun = record.attempts().get(since.0..)?;
        let is_abandoned = |attempt: &Attempt| attempt.outcome == Outcome::Abandoned;
        begun
            .last()
            .copied()
            .filter(|_| !begun.iter().any(is_abandoned))
    }

    /// Settles what was begun under a call that has now returned, and names the last attempt
    /// begun under it. `None`: the call sent nothing, so its result is not an attempt's.
    #[must_use]
    pub fn conclude(&self, since: Position, now: Instant) -> Option<Attempt> {
        let (settled, last) = {
            let mut record = self.operation.record.lock();
            let settled = record.settle(since.0, now);
            (
                settled,
                record
                    .attempts()
                    .get(since.0..)
                    .and_then(<[Attempt]>::last)
                    .copied(),
            )
        };
        for attempt in &settled {
            self.tell(attempt, None, true, now);
        }
        last
    }

    /// Notes why nothing could be sent, or not yet.
    pub fn note_problem(&self, problem: &str) {
        self.operation.record.lock().problem = Some(problem.into());
    }

    /// Notes that another region could take over from an attempt.
    pub fn note_alternative(&self, id: AttemptId) {
        self.operation
            .record
            .lock()
            .update(id, |attempt| attempt.has_alternative = true);
    }

    /// Notes how far the leaf got with an attempt.
    pub fn note_phase(&self, id: AttemptId, phase: Phase) {
        self.operation
            .record
            .lock()
            .update(id, |attempt| attempt.phase = phase);
    }

    /// Notes which connection shard carries an attempt.
    pub fn note_shard(&self, id: AttemptId, shard: u16) {
        self.operation
            .record
            .lock()
            .update(id, |attempt| attempt.shard = Some(shard));
    }

    /// The attempt of this number, as it stands.
    #[must_use]
    pub fn attempt(&self, id: AttemptId) -> Option<Attempt> {
        self.operation
            .record
            .lock()
            .attempts()
            .get(id.0 as usize)
            .copied()
    }

    /// Reads the attempts made so far.
    pub fn with_attempts<T>(&self, read: impl FnOnce(&[Attempt]) -> T) -> T {
        read(self.operation.record.lock().attempts())
    }

    /// Reads or spends budgets; deciding and spending in one call is atomic.
    pub fn with_spent<T>(&self, decide: impl FnOnce(&mut Spent) -> T) -> T {
        decide(&mut self.operation.record.lock().spent)
    }

    fn tell(&self, attempt: &Attempt, reconnects: Option<&Attempt>, settled: bool, now: Instant) {
        let operation = self.operation();
        let at_threshold = match (attempt.oversight, self.operation.breaker.get()) {
            (Oversight::Circuit | Oversight::Metadata, Some((_, breaker))) => {
                let patience = self
                    .deadline()
                    .map(|deadline| deadline.saturating_duration_since(self.operation.began));
                self.with_partition(|partition| {
                    let ended = Ended {
                        partition,
                        operation,
                        attempt,
                        reconnects,
                        settled,
                        patience,
                    };
                    breaker.ended(&ended, now)
                })
            }
            _ => false,
        };
        if let Some(observer) = self.operation.observer.get() {
            observer.ended(operation, attempt, at_threshold, now);
        }
    }
}
