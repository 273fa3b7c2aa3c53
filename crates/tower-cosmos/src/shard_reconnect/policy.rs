use std::time::Duration;

use cosmos_core::policy::{fits, reconnect};
use cosmos_core::{Attempt, Reason, Route, Steering};
use http::HeaderMap;

use crate::clock::now;
use crate::retry::{Again, Decision, Policy};

/// When a request whose connection broke is sent again.
#[derive(Copy, Clone, Debug)]
pub struct ReconnectPolicy {
    pub(super) limit: u32,
}

impl Default for ReconnectPolicy {
    fn default() -> Self {
        Self { limit: 1 }
    }
}

impl Policy for ReconnectPolicy {
    fn decide(&self, route: &Route, attempt: &Attempt, _: Option<&HeaderMap>) -> Decision {
        let rules = route.rules();
        if !reconnect::reconnects(rules.operation, rules.retry_writes, attempt)
            || !route.lists(attempt.region)
            || !fits(Duration::ZERO, now(), route.deadline())
        {
            return Decision::Surface;
        }
        let granted = route.with_spent(|spent| {
            let granted = spent.reconnects(attempt.region) < self.limit;
            if granted {
                spent.spend_reconnect(attempt.region);
            }
            granted
        });
        if !granted {
            return Decision::Surface;
        }
        let steering = Steering {
            avoid_shard: attempt.shard,
            ..route.steering.again(attempt.region, Reason::Reconnect)
        };
        Decision::Again(Again {
            steering,
            wait: Duration::ZERO,
        })
    }
}
