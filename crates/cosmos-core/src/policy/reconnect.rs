//! One more try over another connection (retry specification, "Transport Errors": "1 local retry
//! on a different TCP shard to the same endpoint").

use super::is_repeatable;
use crate::{Attempt, Operation, Outcome, Sent};

/// Whether a failed attempt is repeated in the same region over another connection.
///
/// Not for a trial or a probe: its one request was to find out, and it has. Stored procedures, and writes
/// that the caller does not want repeated, only if nothing was sent.
#[must_use]
pub fn reconnects(operation: Operation, retry_writes: bool, attempt: &Attempt) -> bool {
    let Outcome::Failed(kind) = attempt.outcome else {
        return false;
    };
    let repeatable = is_repeatable(operation, retry_writes);
    kind.is_reconnectable()
        && !attempt.trial
        && !attempt.probe
        && !attempt.sole
        && (repeatable || kind.sent() == Sent::No)
}
