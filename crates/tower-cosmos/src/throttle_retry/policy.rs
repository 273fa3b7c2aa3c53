use cosmos_core::policy::throttle::{self, ThrottleLimits};
use cosmos_core::policy::{Jitter, Verdict, fits};
use cosmos_core::{Attempt, Reason, Route};
use http::HeaderMap;

use crate::clock::now;
use crate::retry::{Again, Decision, Policy};

/// When a throttled request is sent again.
#[derive(Copy, Clone, Debug, Default)]
pub struct ThrottlePolicy {
    pub(super) limits: ThrottleLimits,
    pub(super) jitter: Jitter,
}

impl Policy for ThrottlePolicy {
    fn decide(&self, route: &Route, attempt: &Attempt, headers: Option<&HeaderMap>) -> Decision {
        // The account's mode does not matter for 429.
        let verdict = route.verdict(false, attempt.outcome);
        // A region that has left the account cannot be asked again.
        if verdict != Verdict::Throttled || !route.lists(attempt.region) {
            return Decision::Surface;
        }
        let hint = headers.and_then(throttle::hint);
        let deadline = route.deadline();
        let wait = route.with_spent(|spent| {
            let throttled = spent.throttled(attempt.region);
            let wait = throttle::wait(self.limits, throttled, hint, self.jitter)
                .filter(|wait| fits(*wait, now(), deadline))?;
            spent.spend_throttle(attempt.region, wait);
            Some(wait)
        });
        wait.map_or(Decision::Surface, |wait| {
            let steering = route.steering.again(attempt.region, Reason::Throttle);
            Decision::Again(Again { steering, wait })
        })
    }
}
