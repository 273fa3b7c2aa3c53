//! An open circuit: who may probe, and whose outcome counts.
//!
//! A lease runs out when its holder gives no sign of life for so long that it may be gone. Then it
//! is free for the next request. As long as none has taken it, its holder is still heard: it is
//! late, but nobody knows better.

use std::time::{Duration, Instant};

use super::{BreakerSettings, Event, Role, Signal};
use crate::seeded::{self, Fault};

/// How long an open circuit is kept after it was due for a probe that nobody made.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(10 * 60);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Open {
    // Whether a probe has failed: Unhealthy rather than UnhealthyTentative.
    pub(super) confirmed: bool,
    lease: Lease,
    // The attempt that the last lease went to.
    holder: u64,
    pub(super) since: Instant,
    // When a probe may go. While one is on its way: when its lease runs out.
    pub(super) due: Instant,
    // The newest attempt when the circuit tripped.
    trip: u64,
    // The attempt whose failure tripped it.
    cause: u64,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Lease {
    Never,
    // Until another takes it, even if it has run out.
    Held,
    // Without a verdict.
    GivenBack,
}

/// What an outcome does to an open circuit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It stays open.
    Stays,
    /// It stays open, and the outcome came too late to tell anything.
    Late,
    /// It closes, and from the attempt of this number on outcomes tell something.
    Closes(u64),
}

impl Open {
    /// A circuit that an attempt has just tripped.
    pub(super) fn tripped(settings: &BreakerSettings, event: &Event, now: Instant) -> Self {
        Self {
            confirmed: false,
            lease: Lease::Never,
            holder: 0,
            since: now,
            due: now + settings.lengthened(settings.first_wait),
            trip: event.newest.max(event.sequence),
            cause: event.sequence,
        }
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.due && !seeded::is(Fault::NeverProbes)
    }

    pub(super) fn is_leased(&self, now: Instant) -> bool {
        self.lease == Lease::Held && !self.is_due(now)
    }

    /// Whether nobody has probed it for so long that nobody asks for it.
    pub(super) fn is_stale(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.due) >= FORGOTTEN_AFTER
    }

    /// Whether it would be closed if this attempt had not failed.
    pub(super) fn is_only_for(&self, sequence: u64) -> bool {
        !self.confirmed && self.cause == sequence
    }

    pub(super) fn take_lease(&mut self, settings: &BreakerSettings, sequence: u64, now: Instant) {
        self.lease = Lease::Held;
        self.holder = sequence;
        self.due = now + settings.lease_limit;
    }

    pub(super) fn renew(&mut self, settings: &BreakerSettings, sequence: u64, now: Instant) {
        if self.is_held_by(sequence) {
            self.due = now + settings.lease_limit;
        }
    }

    pub(super) fn release(&mut self, sequence: u64, now: Instant) {
        if self.is_held_by(sequence) {
            self.give_back(now);
        }
    }

    pub(super) fn hear(
        &mut self,
        settings: &BreakerSettings,
        event: &Event,
        now: Instant,
    ) -> Heard {
        match event.role {
            Role::Probe => self.hear_probe(settings, event, now),
            _ if event.sequence <= self.trip => Heard::Late,
            Role::LastResort if event.signal == Signal::Success => self.closes(event),
            Role::LastResort | Role::Ordinary => Heard::Stays,
        }
    }

    fn hear_probe(&mut self, settings: &BreakerSettings, event: &Event, now: Instant) -> Heard {
        let settled = event.settles.is_some() && self.was_given_back_by(event.sequence);
        if !settled && !self.is_held_by(event.sequence) {
            return Heard::Late;
        }
        match event.signal {
            Signal::Success => self.closes(event),
            Signal::Failure => {
                self.confirmed = true;
                self.lease = Lease::Never;
                self.since = now;
                self.due = now + settings.lengthened(settings.next_wait);
                Heard::Stays
            }
            Signal::Neutral => {
                self.give_back(now);
                Heard::Stays
            }
        }
    }

    /// Nothing from before the trip tells anything once this has closed, however it is numbered.
    fn closes(&self, event: &Event) -> Heard {
        Heard::Closes(event.sequence.max(self.trip.saturating_add(1)))
    }

    fn is_held_by(&self, sequence: u64) -> bool {
        self.lease == Lease::Held && self.holder == sequence
    }

    fn was_given_back_by(&self, sequence: u64) -> bool {
        self.lease == Lease::GivenBack && self.holder == sequence
    }

    fn give_back(&mut self, now: Instant) {
        if seeded::is(Fault::LeakedLease) {
            return;
        }
        self.lease = Lease::GivenBack;
        // If it had run out, a probe may go already.
        self.due = self.due.min(now);
    }
}
