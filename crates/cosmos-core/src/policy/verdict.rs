//! One classification of outcomes for all layers.

use crate::seeded::{self, Fault};
use crate::{Operation, Outcome, Sent, Status};

/// What an outcome asks for (retry specification, "Status Code Handling").
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// It is an answer, or a failure that no retry changes: the caller gets it.
    Surface,
    /// 429: the same region again, after a while.
    Throttled,
    /// 449: the same region again, after a while.
    RetryWith,
    /// Another region, within the generic failover budget.
    Failover,
    /// 410/1000, 1002, 1007, 1008: another region within the generic budget, once the map of
    /// partition key ranges is fresh.
    StaleRange,
    /// 403/3 on a single-write account: another region within the generic budget, after the
    /// account was read afresh.
    WriteRegionMoved,
    /// 403/3 on a multi-write account, 403/1008: another region within the backend-failover
    /// budget, asking for a fresh account document.
    TopologyMoved,
    /// 404/1002: another region within the session budget.
    SessionNotAvailable,
}

/// Classifies the outcome of an attempt.
///
/// `multi_write` is the account's mode, `retry_writes` the operation's option.
#[must_use]
pub fn verdict(
    operation: Operation,
    retry_writes: bool,
    multi_write: bool,
    outcome: Outcome,
) -> Verdict {
    let repeatable = is_repeatable(operation, retry_writes);
    match outcome {
        Outcome::Answered(status) => answered(operation, repeatable, multi_write, status),
        Outcome::Failed(kind) if !kind.is_regional() => Verdict::Surface,
        Outcome::Failed(kind) if kind.sent() == Sent::No || repeatable => Verdict::Failover,
        Outcome::Failed(_) | Outcome::InFlight | Outcome::Abandoned => Verdict::Surface,
    }
}

/// Whether an operation may be sent again after an attempt that may have been carried out. Stored
/// procedures are not idempotent, so never; a caller may ask the same for all writes.
#[must_use]
pub fn is_repeatable(operation: Operation, retry_writes: bool) -> bool {
    let may_run_twice =
        !operation.is_stored_procedure_execution() || seeded::is(Fault::ProcedureTwice);
    may_run_twice && (retry_writes || operation.is_read())
}

fn answered(operation: Operation, repeatable: bool, multi_write: bool, status: Status) -> Verdict {
    match status {
        Status::CLIENT_OPERATION_TIMEOUT => Verdict::Surface,
        Status::WRITE_FORBIDDEN if operation.is_read() => Verdict::Surface,
        Status::WRITE_FORBIDDEN if multi_write => Verdict::TopologyMoved,
        Status::WRITE_FORBIDDEN => Verdict::WriteRegionMoved,
        Status::DATABASE_ACCOUNT_NOT_FOUND => Verdict::TopologyMoved,
        Status::READ_SESSION_NOT_AVAILABLE => Verdict::SessionNotAvailable,
        Status::SYSTEM_RESOURCE_UNAVAILABLE => Verdict::Failover,
        status if status.is_stale_range() => Verdict::StaleRange,
        status => match status.code() {
            429 => Verdict::Throttled,
            449 => Verdict::RetryWith,
            410 => Verdict::Failover,
            408 | 500.. if repeatable => Verdict::Failover,
            _ => Verdict::Surface,
        },
    }
}
