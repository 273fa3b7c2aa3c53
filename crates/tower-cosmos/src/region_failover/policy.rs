use cosmos_core::policy::failover::{self, FailoverLimits, Move, Refresh};
use cosmos_core::policy::{Jitter, Verdict, fits};
use cosmos_core::{Attempt, Budget, Reason, Route};
use http::HeaderMap;

use crate::Account;
use crate::clock::now;
use crate::retry::{Again, Decision, Policy, Refreshing};

/// When, and within which budget, an operation moves to another region.
#[derive(Clone, Debug)]
pub struct FailoverPolicy {
    account: Account,
    pub(super) limits: FailoverLimits,
    pub(super) jitter: Jitter,
}

impl FailoverPolicy {
    pub(super) fn new(account: Account) -> Self {
        Self {
            account,
            limits: FailoverLimits::default(),
            jitter: Jitter::default(),
        }
    }

    /// The next try as things stand, if there is anywhere to go.
    fn onward(
        &self,
        route: &Route,
        verdict: Verdict,
        planned: Move,
        failed: &Attempt,
    ) -> Option<Again> {
        let reason = match planned.budget {
            Budget::BackendFailover => Reason::BackendFailover,
            _ => Reason::Failover,
        };
        let steering = route.steering.onward(reason);
        let next = self.account.next_region(route, steering)?;
        let wait = route.with_spent(|spent| {
            failover::wait(
                self.limits,
                spent,
                verdict,
                failed.region,
                next,
                self.jitter,
            )
        });
        Some(Again { steering, wait })
    }
}

impl Policy for FailoverPolicy {
    fn decide(&self, route: &Route, attempt: &Attempt, _: Option<&HeaderMap>) -> Decision {
        let multi_write = self.account.is_multi_write();
        let verdict = route.verdict(multi_write, attempt.outcome);
        let Some(planned) =
            route.with_spent(|spent| failover::next_move(self.limits, spent, verdict))
        else {
            return Decision::Surface;
        };
        match planned.refresh {
            Refresh::None => {}
            Refresh::Ranges => {
                if let Some(ranges) = route.ranges() {
                    let refreshed = ranges.refresh(route.clone());
                    return self.after(refreshed, route, verdict, planned, *attempt);
                }
            }
            Refresh::AskForAccount => self.account.request_refresh(),
            // Where another region is known, the operation goes there and does not wait.
            Refresh::AwaitAccount if self.knows_another(route, attempt) => {
                self.account.request_refresh();
            }
            Refresh::AwaitAccount => {
                if !fits(self.account.refresh_due_in(now()), now(), route.deadline()) {
                    self.account.request_refresh();
                    return Decision::Surface;
                }
                let account = self.account.clone();
                let refreshed = async move { account.refresh().await };
                return self.after(refreshed, route, verdict, planned, *attempt);
            }
        }
        match self.onward(route, verdict, planned, attempt) {
            Some(again) if fits(again.wait, now(), route.deadline()) => {
                route.with_spent(|spent| spent.spend(planned.budget));
                Decision::Again(again)
            }
            _ => Decision::Surface,
        }
    }
}

impl FailoverPolicy {
    fn knows_another(&self, route: &Route, failed: &Attempt) -> bool {
        let steering = route.steering.onward(Reason::Failover);
        self.account
            .next_region(route, steering)
            .is_some_and(|next| next != failed.region)
    }

    /// Goes on when something was read afresh.
    fn after(
        &self,
        refreshed: impl Future<Output = ()> + Send + 'static,
        route: &Route,
        verdict: Verdict,
        planned: Move,
        attempt: Attempt,
    ) -> Decision {
        let policy = self.clone();
        let route = route.clone();
        Decision::After(Refreshing(Box::pin(async move {
            match route.deadline() {
                // The deadline ends the wait, and then the answer at hand is the last real one.
                Some(deadline) => tokio::time::timeout_at(deadline.into(), refreshed)
                    .await
                    .ok()?,
                None => refreshed.await,
            }
            let again = policy.onward(&route, verdict, planned, &attempt)?;
            route.with_spent(|spent| spent.spend(planned.budget));
            Some(again)
        })))
    }
}
