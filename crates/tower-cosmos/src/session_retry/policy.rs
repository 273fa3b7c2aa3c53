use std::time::Duration;

use cosmos_core::policy::{Verdict, fits};
use cosmos_core::{Attempt, Budget, Reason, Route, Steering};
use http::HeaderMap;

use crate::Account;
use crate::clock::now;
use crate::retry::{Again, Decision, Policy};

/// When, and where, an operation is sent again after 404/1002.
#[derive(Clone, Debug)]
pub struct SessionRetryPolicy {
    account: Account,
    pub(super) hub_only: bool,
}

impl SessionRetryPolicy {
    pub(super) fn new(account: Account) -> Self {
        Self {
            account,
            hub_only: false,
        }
    }

    /// Where the next try goes, within the budget that the first 404/1002 fixed.
    fn onward(&self, route: &Route) -> Option<Steering> {
        let plan = self.account.session_plan(route)?;
        let limit = route.with_spent(|spent| spent.fix_session_limit(plan.retries));
        if route.with_spent(|spent| spent.count(Budget::Session)) >= limit {
            return None;
        }
        let onward = route.steering.onward(Reason::Session);
        let steering = Steering {
            pin: plan.hub,
            ..onward
        };
        self.account.next_region(route, steering)?;
        if self.hub_only && plan.hub.is_some() {
            route.set_hub_only();
        }
        Some(steering)
    }
}

impl Policy for SessionRetryPolicy {
    fn decide(&self, route: &Route, attempt: &Attempt, _: Option<&HeaderMap>) -> Decision {
        let multi_write = self.account.is_multi_write();
        let verdict = route.verdict(multi_write, attempt.outcome);
        if verdict != Verdict::SessionNotAvailable || !fits(Duration::ZERO, now(), route.deadline())
        {
            return Decision::Surface;
        }
        self.onward(route).map_or(Decision::Surface, |steering| {
            route.with_spent(|spent| spent.spend(Budget::Session));
            Decision::Again(Again {
                steering,
                wait: Duration::ZERO,
            })
        })
    }
}
