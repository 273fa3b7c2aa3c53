//! The tables of the retry specification as code.
//!
//! [`verdict`] classifies an outcome once for all layers; each layer acts on the verdicts that
//! are its own and surfaces the rest. How far it may go is in [`failover`], [`throttle`],
//! [`reconnect`], [`retry_with`], [`session`]; what a failure does to its region in [`oversight`] and
//! [`marking`]; how long it waits in [`backoff`]; whether a wait is worth beginning in
//! [`fits`].

pub mod backoff;
pub mod failover;
pub mod marking;
pub mod oversight;
pub mod reconnect;
pub mod retry_with;
pub mod session;
pub mod throttle;
mod verdict;

use std::time::{Duration, Instant};

use crate::seeded::{self, Fault};

pub use backoff::{Backoff, Jitter};
pub use verdict::{Verdict, is_repeatable, verdict};

/// Whether a wait ends before the deadline, with time left for an attempt: it is strictly shorter
/// than what is left. One that does not is not begun, and the last real answer is surfaced.
#[must_use]
pub fn fits(wait: Duration, now: Instant, deadline: Option<Instant>) -> bool {
    deadline.is_none_or(|deadline| wait < deadline.saturating_duration_since(now))
        || seeded::is(Fault::SendAfterDeadline)
}

/// A setting outside of what it can be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct SettingError {
    setting: &'static str,
    problem: &'static str,
}

impl SettingError {
    /// Says which setting is wrong and why.
    #[must_use]
    pub const fn new(setting: &'static str, problem: &'static str) -> Self {
        Self { setting, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_as_long_as_the_time_left_does_not_fit() {
        let now = tests_now();
        let deadline = Some(now + Duration::from_millis(100));
        assert!(fits(Duration::from_millis(99), now, deadline));
        assert!(!fits(Duration::from_millis(100), now, deadline));
        assert!(!fits(
            Duration::ZERO,
            now + Duration::from_millis(100),
            deadline
        ));
        assert!(!fits(
            Duration::ZERO,
            now + Duration::from_secs(9),
            deadline
        ));
        assert!(fits(Duration::MAX, now, None));
    }

    #[allow(clippy::disallowed_methods)]
    fn tests_now() -> Instant {
        Instant::now()
    }
}
