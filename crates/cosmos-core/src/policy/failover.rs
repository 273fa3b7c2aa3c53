//! The next region: which budget pays for it, what is refreshed first, how long to wait.

use std::time::Duration;

use super::{Backoff, Jitter, Verdict};
use crate::{Budget, Region, Spent};

/// How often an operation may move to another region.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FailoverLimits {
    /// Moves after 5xx, 408, 410, 429/3092, transport errors and single-write 403/3. Default 3.
    pub failovers: u32,
    /// Moves after multi-write 403/3 and 403/1008. Default 120.
    pub backend_failovers: u32,
    /// The wait before each of the latter. Default 1 s.
    pub backend_wait: Duration,
    /// Whether the first of the latter goes without a wait. Default `false`.
    pub immediate_first_retry: bool,
}

impl Default for FailoverLimits {
    fn default() -> Self {
        Self {
            failovers: 3,
            backend_failovers: 120,
            backend_wait: Duration::from_secs(1),
            immediate_first_retry: false,
        }
    }
}

/// What is to be read afresh before the next attempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// Nothing.
    None,
    /// The account document: asked for, not waited for.
    AskForAccount,
    /// The account document: waited for, if it may be read now.
    AwaitAccount,
    /// The map of partition key ranges.
    Ranges,
}

/// A move to another region.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The budget that pays for it.
    pub budget: Budget,
    /// What is refreshed first.
    pub refresh: Refresh,
}

/// Whether a verdict moves the operation to another region, within what is left of its budgets.
#[must_use]
pub fn next_move(limits: FailoverLimits, spent: &Spent, verdict: Verdict) -> Option<Move> {
    let (budget, refresh) = match verdict {
        Verdict::Failover => (Budget::Failover, Refresh::None),
        Verdict::StaleRange => (Budget::Failover, Refresh::Ranges),
        Verdict::WriteRegionMoved => (Budget::Failover, Refresh::AwaitAccount),
        Verdict::TopologyMoved => (Budget::BackendFailover, Refresh::AskForAccount),
        Verdict::Surface
        | Verdict::Throttled
        | Verdict::RetryWith
        | Verdict::SessionNotAvailable => return None,
    };
    let limit = match budget {
        Budget::BackendFailover => limits.backend_failovers,
        _ => limits.failovers,
    };
    (spent.count(budget) < limit).then_some(Move { budget, refresh })
}

/// The wait before a move.
///
/// `failed` and `next` are the region that failed and the one that would be next: moving costs no
/// wait, repeating the same region does (ours: the specification is silent there), except after
/// 403/3, for which it says 0 ms.
#[must_use]
pub fn wait(
    limits: FailoverLimits,
    spent: &Spent,
    verdict: Verdict,
    failed: Region,
    next: Region,
    jitter: Jitter,
) -> Duration {
    match verdict {
        Verdict::TopologyMoved => {
            let first = spent.count(Budget::BackendFailover) == 0;
            if limits.immediate_first_retry && first {
                Duration::ZERO
            } else {
                limits.backend_wait
            }
        }
        Verdict::StaleRange => {
            Backoff::STALE_RANGE.wait(spent.count(Budget::Failover), jitter.signed())
        }
        Verdict::Failover if failed == next => {
            Backoff::SAME_REGION.wait(spent.count(Budget::Failover), jitter.signed())
        }
        _ => Duration::ZERO,
    }
}
