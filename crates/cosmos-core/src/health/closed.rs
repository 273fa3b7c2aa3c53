//! A closed circuit: what is counted while a partition is healthy.
//!
//! One that was open before is remembered for a window after it closed: what began before the
//! success that closed it, and comes in only now, tells of a time that is over.

use std::time::Instant;

use super::{BreakerSettings, Event, Replaced, Signal};
use crate::Access;

/// What one window has seen of reads, or of writes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Successes since the first failure, or since the circuit closed.
    pub success: u32,
    /// Failures.
    pub failure: u32,
    /// Failures since the last success.
    pub consecutive: u32,
}

/// What is counted: nothing before the first failure, and nothing once that has been taken back,
/// unless the circuit has just closed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Closed {
    pub(super) began: Option<Instant>,
    counts: [Counts; 2],
    // The attempt whose success closed the circuit: what is older is old news. 0 if none has.
    closer: u64,
}

impl Closed {
    /// A circuit that an attempt's success has just closed. It is remembered for a window, in which
    /// what failed before may still come in.
    pub(super) fn by(closer: u64, now: Instant) -> Self {
        Self {
            began: Some(now),
            counts: [Counts::NONE; 2],
            closer,
        }
    }

    /// Whether an outcome is of an attempt from before the circuit closed.
    pub(super) fn is_old_news(
        &self,
        settings: &BreakerSettings,
        event: &Event,
        now: Instant,
    ) -> bool {
        event.sequence < self.closer && !self.has_passed(settings, now)
    }

    pub(super) const fn counts(&self, access: Access) -> Counts {
        self.counts[access as usize]
    }

    /// Counts an outcome. True if that failure is one too many.
    pub(super) fn count(
        &mut self,
        settings: &BreakerSettings,
        event: &Event,
        now: Instant,
    ) -> bool {
        if self.has_passed(settings, now) {
            *self = Self::default();
        }
        let counts = &mut self.counts[event.access as usize];
        match event.signal {
            Signal::Neutral => false,
            Signal::Success => {
                // A partition that has not failed costs nothing.
                if self.began.is_some() {
                    counts.success = counts.success.saturating_add(1);
                    counts.consecutive = 0;
                }
                false
            }
            Signal::Failure => {
                self.began.get_or_insert(now);
                counts.failure = counts.failure.saturating_add(1);
                counts.consecutive = counts.consecutive.saturating_add(1);
                counts.are_too_many(settings, event.access)
            }
        }
    }

    /// Takes back a failure, if this window has counted it.
    pub(super) fn take_back(
        &mut self,
        settings: &BreakerSettings,
        replaced: Replaced,
        access: Access,
        now: Instant,
    ) {
        let counted = replaced.sequence >= self.closer
            && self.began.is_some_and(|began| replaced.ended >= began);
        if counted {
            let counts = &mut self.counts[access as usize];
            counts.failure = counts.failure.saturating_sub(1);
            counts.consecutive = counts.consecutive.saturating_sub(1);
        }
        let is_empty = self.counts.iter().all(|counts| counts.failure == 0);
        if self.has_passed(settings, now) || is_empty && self.closer == 0 {
            *self = Self::default();
        }
    }

    /// Whether the window has passed, so that nothing counts any more.
    pub(super) fn has_passed(&self, settings: &BreakerSettings, now: Instant) -> bool {
        self.began
            .is_none_or(|began| now.saturating_duration_since(began) >= settings.window)
    }
}

impl Counts {
    pub(super) const NONE: Self = Self {
        success: 0,
        failure: 0,
        consecutive: 0,
    };

    fn are_too_many(self, settings: &BreakerSettings, access: Access) -> bool {
        let all = u64::from(self.success) + u64::from(self.failure);
        let share = u64::from(settings.failure_percentage);
        self.consecutive >= settings.tolerated(access)
            || all >= u64::from(settings.min_requests)
                && u64::from(self.failure) * 100 >= all * share
    }
}
