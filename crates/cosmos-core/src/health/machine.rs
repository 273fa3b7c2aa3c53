//! The health of one partition in one region: a machine of four states.
//!
//! ```text
//! Healthy --failures--> UnhealthyTentative --60 s, one probe--> HealthyTentative --success--> Healthy
//!                                                               HealthyTentative --failure--> Unhealthy
//!                       Unhealthy          --120 s, one probe-> HealthyTentative
//! ```
//!
//! Between healthy and not there is no counting: only the holder of the probe's lease, or a request
//! that had no healthy region left (a last resort), can change a tripped circuit. A lease that has
//! run out may be taken by the next request, but until then its holder is still heard.
//!
//! Whatever began before the trip is old news, also once the circuit has closed again: for one
//! window [`Health`] remembers the success that closed it, and what is older is not counted. A trip
//! that a reconnect takes back never was, so it leaves nothing.

use std::time::Instant;

use super::closed::{Closed, Counts};
use super::open::{Heard, Open};
use super::{BreakerSettings, Effect, Event, Role, Signal};
use crate::Access;

/// How a partition stands in a region.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Requests go there; failures are counted.
    Healthy,
    /// It failed too often: requests go elsewhere for `first_wait` (60 s, and up to a quarter more).
    UnhealthyTentative,
    /// One probe is on its way; everybody else still goes elsewhere.
    HealthyTentative,
    /// A probe failed: requests go elsewhere for `next_wait` (120 s, and up to a quarter more).
    Unhealthy,
}

impl State {
    /// A short name for logs and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::UnhealthyTentative => "unhealthy_tentative",
            Self::HealthyTentative => "healthy_tentative",
            Self::Unhealthy => "unhealthy",
        }
    }
}

/// The health of one partition in one region. `Default` is healthy, with nothing counted.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Health(Condition);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Condition {
    Closed(Closed),
    Open(Open),
}

impl Default for Condition {
    fn default() -> Self {
        Self::Closed(Closed::default())
    }
}

impl Health {
    /// The state at an instant.
    #[must_use]
    pub fn state(&self, now: Instant) -> State {
        match &self.0 {
            Condition::Closed(_) => State::Healthy,
            Condition::Open(open) if open.is_leased(now) => State::HealthyTentative,
            Condition::Open(open) if open.confirmed => State::Unhealthy,
            Condition::Open(_) => State::UnhealthyTentative,
        }
    }

    /// Since when: the last trip or failed probe; while healthy the window's beginning, which is its
    /// first failure or when the circuit closed. `None` with nothing to remember.
    #[must_use]
    pub const fn since(&self) -> Option<Instant> {
        match &self.0 {
            Condition::Closed(closed) => closed.began,
            Condition::Open(open) => Some(open.since),
        }
    }

    /// From when on a request may probe; while a probe is on its way, when its lease is void.
    /// `None` while healthy.
    #[must_use]
    pub const fn due(&self) -> Option<Instant> {
        match &self.0 {
            Condition::Closed(_) => None,
            Condition::Open(open) => Some(open.due),
        }
    }

    /// What is counted of an access; nothing unless healthy.
    #[must_use]
    pub const fn counts(&self, access: Access) -> Counts {
        match &self.0 {
            Condition::Closed(closed) => closed.counts(access),
            Condition::Open(_) => Counts::NONE,
        }
    }

    /// Whether requests are to go elsewhere, a probe aside.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.0, Condition::Open(_))
    }

    /// Whether there is anything to remember. What is not is the same as [`Health::default`].
    #[must_use]
    pub fn is_tracked(&self) -> bool {
        *self != Self::default()
    }

    /// Whether a request may probe.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        matches!(&self.0, Condition::Open(open) if open.is_due(now))
    }

    /// Whether this can be forgotten at any time: it is healthy and its window has passed, or
    /// nobody probed it for ten minutes after it was due.
    #[must_use]
    pub fn is_stale(&self, settings: &BreakerSettings, now: Instant) -> bool {
        match &self.0 {
            Condition::Closed(closed) => closed.has_passed(settings, now),
            Condition::Open(open) => open.is_stale(now),
        }
    }

    /// Takes the lease of the probe for one attempt; false if no probe is due.
    #[must_use]
    pub fn take_probe(&mut self, settings: &BreakerSettings, sequence: u64, now: Instant) -> bool {
        match &mut self.0 {
            Condition::Open(open) if open.is_due(now) => {
                open.take_lease(settings, sequence, now);
                true
            }
            _ => false,
        }
    }

    /// The attempt gives a sign of life: its lease, unless another has it by now, lasts from here.
    pub fn renew(&mut self, settings: &BreakerSettings, sequence: u64, now: Instant) {
        if let Condition::Open(open) = &mut self.0 {
            open.renew(settings, sequence, now);
        }
    }

    /// Gives the lease of an attempt back without a verdict, unless another has it by now: the next
    /// request may probe.
    pub fn release(&mut self, sequence: u64, now: Instant) {
        if let Condition::Open(open) = &mut self.0 {
            open.release(sequence, now);
        }
    }

    /// Applies the end of an attempt.
    ///
    /// An attempt and its reconnects are one verdict: the failure of the first counts at once; when
    /// a reconnect fails, too, that adds nothing, and anything else takes the first one back, if its
    /// window has counted it and still counts, or the trip that it caused (of the counts before that
    /// trip nothing is left).
    pub fn record(&mut self, settings: &BreakerSettings, event: &Event, now: Instant) -> Effect {
        let before = self.state(now);
        match (event.settles, event.replaces) {
            // It counted when it was dropped, and so did what it replaced.
            (Some(Signal::Failure | Signal::Success), _) => return Effect::Kept,
            // When it was dropped, it counted as nothing, and took back what it replaced.
            (Some(Signal::Neutral), _) => {}
            (None, Some(replaced)) if replaced.signal == Signal::Failure => {
                if event.signal == Signal::Failure {
                    return Effect::Kept;
                }
                match &mut self.0 {
                    Condition::Closed(closed) => {
                        closed.take_back(settings, replaced, event.access, now);
                    }
                    Condition::Open(open) if open.is_only_for(replaced.sequence) => {
                        *self = Self::default();
                    }
                    Condition::Open(_) => {}
                }
            }
            (None, _) => {}
        }
        let late = self.apply(settings, event, now);
        let after = self.state(now);
        if before != after {
            Effect::Moved {
                from: before,
                to: after,
            }
        } else if late {
            Effect::Late
        } else {
            Effect::Kept
        }
    }

    /// Applies what an outcome says by itself; whether it came too late to say anything.
    fn apply(&mut self, settings: &BreakerSettings, event: &Event, now: Instant) -> bool {
        match &mut self.0 {
            // Another request has closed the circuit while the probe was on its way.
            Condition::Closed(_) if event.role == Role::Probe => return true,
            Condition::Closed(closed) if closed.is_old_news(settings, event, now) => return true,
            Condition::Closed(closed) => {
                if closed.count(settings, event, now) {
                    self.0 = Condition::Open(Open::tripped(settings, event, now));
                }
            }
            Condition::Open(open) => match open.hear(settings, event, now) {
                Heard::Stays => {}
                Heard::Late => return true,
                Heard::Closes(closer) => self.0 = Condition::Closed(Closed::by(closer, now)),
            },
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_small() {
        assert!(size_of::<Health>() <= 64, "{}", size_of::<Health>());
    }
}
