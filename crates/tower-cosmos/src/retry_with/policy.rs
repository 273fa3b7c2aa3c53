use std::time::Duration;

use cosmos_core::policy::{Jitter, Verdict, fits, retry_with};
use cosmos_core::{Attempt, Reason, Route, headers};
use http::HeaderMap;

use crate::clock::now;
use crate::retry::{Again, Decision, Policy};

/// When a request that was answered with 449 is sent again.
#[derive(Copy, Clone, Debug)]
pub struct RetryWithPolicy {
    pub(super) total_wait: Duration,
    pub(super) jitter: Jitter,
}

impl Default for RetryWithPolicy {
    fn default() -> Self {
        Self {
            total_wait: retry_with::TOTAL_WAIT,
            jitter: Jitter::default(),
        }
    }
}

impl Policy for RetryWithPolicy {
    fn prepare(&self, route: &Route) {
        route.put_header(headers::NO_RETRY_449, headers::value::TRUE);
    }

    fn decide(&self, route: &Route, attempt: &Attempt, _: Option<&HeaderMap>) -> Decision {
        // The account's mode does not matter for 449.
        let verdict = route.verdict(false, attempt.outcome);
        if verdict != Verdict::RetryWith || !route.lists(attempt.region) {
            return Decision::Surface;
        }
        let deadline = route.deadline();
        let wait = route.with_spent(|spent| {
            let wait = retry_with::wait(self.total_wait, spent.retried_with(), self.jitter)
                .filter(|wait| fits(*wait, now(), deadline))?;
            spent.spend_retry_with(wait);
            Some(wait)
        });
        wait.map_or(Decision::Surface, |wait| {
            let steering = route.steering.again(attempt.region, Reason::RetryWith);
            Decision::Again(Again { steering, wait })
        })
    }
}
