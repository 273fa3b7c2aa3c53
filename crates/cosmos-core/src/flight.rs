//! Reading something afresh that many wait for: one read at a time, and not too often.
//!
//! A region that fails makes every operation ask for the same news. [`Flight`] lets one of them
//! fetch it, now or as soon as an interval since the last time has passed, and tells the others to
//! wait for that one. Who can do without the news for a while may let it rest for longer; who comes
//! later and cannot, hurries it.

use std::time::{Duration, Instant};

use crate::sync::Mutex;

/// The one read under way, if there is one, and when the last one was started.
#[derive(Debug)]
pub struct Flight(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    stage: Stage,
    started: Option<Instant>,
    // While one is scheduled: when it may start at the earliest.
    earliest: Option<Instant>,
}

/// How far a read is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// There is none.
    #[default]
    Idle,
    /// Asked for, and waiting for the interval to pass.
    Scheduled,
    /// Under way.
    Running,
}

/// The right to make the one read. To be given back with [`Flight::end`] whatever comes of it.
#[derive(Debug)]
#[must_use]
pub struct Ticket {
    due: Instant,
    earliest: Instant,
    // When the read before this one started.
    previous: Option<Instant>,
}

impl Ticket {
    /// When the read is to start.
    #[must_use]
    pub const fn due(&self) -> Instant {
        self.due
    }

    /// When it may start if somebody is in a hurry: when the interval has passed.
    #[must_use]
    pub const fn earliest(&self) -> Instant {
        self.earliest
    }
}

impl Default for Flight {
    fn default() -> Self {
        Self(Mutex::new(State::default()))
    }
}

impl Flight {
    /// Claims the one read.
    ///
    /// # Errors
    /// How far the one is that somebody else has claimed.
    pub fn claim(&self, now: Instant, interval: Duration) -> Result<Ticket, Stage> {
        self.claim_rested(now, interval, Duration::ZERO)
    }

    /// Claims the one read, to be made so long after it may be.
    ///
    /// # Errors
    /// How far the one is that somebody else has claimed.
    pub fn claim_rested(
        &self,
        now: Instant,
        interval: Duration,
        rest: Duration,
    ) -> Result<Ticket, Stage> {
        let mut state = self.0.lock();
        if state.stage != Stage::Idle {
            return Err(state.stage);
        }
        let earliest = state
            .started
            .and_then(|started| started.checked_add(interval))
            .map_or(now, |due| due.max(now));
        let due = earliest.checked_add(rest).unwrap_or(earliest);
        state.stage = if due == now {
            Stage::Running
        } else {
            Stage::Scheduled
        };
        state.earliest = Some(earliest);
        let previous = state.started.replace(due);
        Ok(Ticket {
            due,
            earliest,
            previous,
        })
    }

    /// How long a read that is asked for now, in a hurry, has to wait for the interval to pass.
    #[must_use]
    pub fn due_in(&self, now: Instant, interval: Duration) -> Duration {
        let state = self.0.lock();
        match (state.stage, state.started) {
            (Stage::Scheduled, _) => {
                (state.earliest).map_or(Duration::ZERO, |due| due.saturating_duration_since(now))
            }
            (Stage::Idle, Some(started)) => (started.checked_add(interval))
                .map_or(Duration::MAX, |due| due.saturating_duration_since(now)),
            _ => Duration::ZERO,
        }
    }

    /// When the last read was started, or is to start.
    #[must_use]
    pub fn started(&self) -> Option<Instant> {
        self.0.lock().started
    }

    /// How far the read is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.0.lock().stage
    }

    /// The scheduled read starts, when it is due or before.
    pub fn run(&self, now: Instant) {
        let mut state = self.0.lock();
        state.stage = Stage::Running;
        state.started = Some(now);
    }

    /// The read has ended, or will not be made. One that never started uses up no interval.
    pub fn end(&self, ticket: &Ticket) {
        let mut state = self.0.lock();
        if state.stage == Stage::Scheduled {
            state.started = ticket.previous;
        }
        state.stage = Stage::Idle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(5);

    #[allow(clippy::disallowed_methods)]
    fn start() -> Instant {
        Instant::now()
    }

    #[test]
    fn one_reads_and_the_others_wait_for_it() {
        let now = start();
        let flight = Flight::default();
        let ticket = flight.claim(now, INTERVAL).unwrap();
        assert_eq!(ticket.due(), now);
        assert_eq!(flight.claim(now, INTERVAL).unwrap_err(), Stage::Running);
        assert_eq!(flight.due_in(now, INTERVAL), Duration::ZERO);
        flight.end(&ticket);
        assert_eq!(flight.stage(), Stage::Idle);
    }

    #[test]
    fn the_next_one_is_due_when_the_interval_has_passed() {
        let now = start();
        let flight = Flight::default();
        flight.end(&flight.claim(now, INTERVAL).unwrap());
        let later = now + Duration::from_secs(2);
        assert_eq!(flight.due_in(later, INTERVAL), Duration::from_secs(3));
        let ticket = flight.claim(later, INTERVAL).unwrap();
        assert_eq!(ticket.due(), now + INTERVAL);
        assert_eq!(flight.claim(later, INTERVAL).unwrap_err(), Stage::Scheduled);
        assert_eq!(flight.due_in(later, INTERVAL), Duration::from_secs(3));
        flight.run(now + INTERVAL);
        assert_eq!(flight.stage(), Stage::Running);
        flight.end(&ticket);
        assert_eq!(flight.started(), Some(now + INTERVAL));
    }

    #[test]
    fn one_that_rests_can_be_hurried_and_the_next_interval_counts_from_its_start() {
        let now = start();
        let rest = Duration::from_secs(1);
        let flight = Flight::default();
        let ticket = flight.claim_rested(now, INTERVAL, rest).unwrap();
        assert_eq!((ticket.earliest(), ticket.due()), (now, now + rest));
        assert_eq!(flight.stage(), Stage::Scheduled);
        assert_eq!(flight.due_in(now, INTERVAL), Duration::ZERO);
        let hurried = now + rest / 2;
        flight.run(hurried);
        flight.end(&ticket);
        let ticket = flight.claim_rested(hurried, INTERVAL, rest).unwrap();
        assert_eq!(ticket.earliest(), hurried + INTERVAL);
        assert_eq!(ticket.due(), hurried + INTERVAL + rest);
    }

    #[test]
    fn one_that_never_started_uses_up_no_interval() {
        let now = start();
        let flight = Flight::default();
        flight.end(&flight.claim(now, INTERVAL).unwrap());
        let later = now + Duration::from_secs(2);
        flight.end(&flight.claim(later, INTERVAL).unwrap());
        assert_eq!(flight.started(), Some(now));
        assert_eq!(
            flight.claim(now + INTERVAL, INTERVAL).unwrap().due(),
            now + INTERVAL
        );
    }
}
