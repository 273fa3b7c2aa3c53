//! What one outcome says about a partition's health.

use std::time::Duration;

use crate::{FailureKind, Operation, Outcome, Status};

/// What an attempt's outcome says about the health of its partition in its region.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// The partition answered with authority: what was asked for, or that it is not so.
    Success,
    /// The partition, or the way to it, failed.
    Failure,
    /// Neither: throttled, refused, cancelled early, or a matter of this side.
    Neutral,
}

/// A dropped attempt that had waited this long says that the region is too slow.
const PATIENCE: Duration = Duration::from_secs(1);

/// What an outcome says about the partition's health in the attempt's region.
///
/// `waited` is how long the attempt took. `patience` is the operation's whole time, from its
/// beginning to its deadline, if it has one: an attempt that was cut off (dropped, or ended as
/// 408/20008) is a failure if it had waited for 1 s or for half of that, and nothing otherwise, so
/// that impatient callers do not condemn a healthy region.
#[must_use]
pub fn signal(
    operation: Operation,
    outcome: Outcome,
    waited: Duration,
    patience: Option<Duration>,
) -> Signal {
    match outcome {
        Outcome::InFlight => Signal::Neutral,
        Outcome::Abandoned => cut_off(waited, patience),
        Outcome::Failed(kind) => failed(kind),
        Outcome::Answered(Status::CLIENT_OPERATION_TIMEOUT) => cut_off(waited, patience),
        Outcome::Answered(status) => answered(operation, status),
    }
}

fn cut_off(waited: Duration, patience: Option<Duration>) -> Signal {
    let half_is_gone = patience.is_some_and(|patience| waited.saturating_mul(2) >= patience);
    if waited >= PATIENCE || half_is_gone {
        Signal::Failure
    } else {
        Signal::Neutral
    }
}

fn failed(kind: FailureKind) -> Signal {
    // A full pool is a limit of this side.
    if kind.is_regional() && kind != FailureKind::PoolLimit {
        Signal::Failure
    } else {
        Signal::Neutral
    }
}

fn answered(operation: Operation, status: Status) -> Signal {
    match status {
        Status::WRITE_FORBIDDEN if operation.is_write() => Signal::Failure,
        Status::DATABASE_ACCOUNT_NOT_FOUND | Status::SYSTEM_RESOURCE_UNAVAILABLE => Signal::Failure,
        // The session token is ahead of this region, which may be well.
        Status::READ_SESSION_NOT_AVAILABLE => Signal::Neutral,
        // The region throttled its own barrier requests.
        status if status.code() == 408 && (21010..=21013).contains(&status.substatus()) => {
            Signal::Neutral
        }
        // The map of ranges is old.
        status if status.is_stale_range() => Signal::Neutral,
        status if status.is_server_error() => Signal::Failure,
        status if status.is_success() => Signal::Success,
        status => match status.code() {
            408 | 410 => Signal::Failure,
            304 | 404 | 409 | 412 => Signal::Success,
            _ => Signal::Neutral,
        },
    }
}
