//! What an attempt's outcome does to its endpoint's marks.
//!
//! Without a breaker or a memory of write regions that oversees the attempt, an endpoint is marked
//! whole (retry specification, "PPCB vs Endpoint-Level Marking"). With one, a partition that fails
//! does not darken the endpoint for all others. An endpoint that could not be reached is marked
//! always, for reads and writes.

use crate::selection::access;
use crate::{Access, Operation, Outcome, Oversight, Sent, Status};

/// Why an endpoint is marked, which decides what clears it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// It could not be reached. Any HTTP answer clears it.
    Unreachable,
    /// It answered, or fell silent, in a way that sends requests elsewhere. An answer of the same
    /// class that does not mark clears it, and so does a refresh that changes the region's list.
    Answer,
}

/// What an outcome does to the marks of the attempt's region.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Marks these sides.
    Mark {
        /// Why.
        cause: Cause,
        /// Whether reads are to avoid the region.
        read: bool,
        /// Whether writes are to avoid the region.
        write: bool,
    },
    /// Clears what an HTTP answer of this access clears.
    Clear(Access),
    /// Clears only "could not be reached": the endpoint answered, if not well.
    Reached,
}

/// The effect of an outcome on the marks of the region that it came from.
///
/// `at_threshold` says that a breaker that counts failures at metadata has counted enough.
#[must_use]
pub fn effect(
    operation: Operation,
    outcome: Outcome,
    oversight: Oversight,
    at_threshold: bool,
) -> Effect {
    let alone = effect_of_one(operation, outcome);
    let Effect::Mark { cause, .. } = alone else {
        return alone;
    };
    let marks = cause == Cause::Unreachable
        || match oversight {
            Oversight::Endpoint => true,
            Oversight::Metadata => denies_role(operation, outcome) || at_threshold,
            Oversight::Circuit | Oversight::WriteRegion => false,
        };
    match outcome {
        _ if marks => alone,
        // It answered, so it can be reached; how well it is, others keep account of.
        Outcome::Answered(_) => Effect::Reached,
        _ => Effect::None,
    }
}

/// Whether a region says that it is not, or not any more, what the account document says it is.
#[must_use]
pub fn denies_role(operation: Operation, outcome: Outcome) -> bool {
    match outcome {
        Outcome::Answered(Status::WRITE_FORBIDDEN) => operation.is_write(),
        Outcome::Answered(Status::DATABASE_ACCOUNT_NOT_FOUND) => true,
        _ => false,
    }
}

/// The effect of an outcome that stands for the endpoint as a whole.
fn effect_of_one(operation: Operation, outcome: Outcome) -> Effect {
    let side = access(operation);
    let own_side = Effect::Mark {
        cause: Cause::Answer,
        read: side == Access::Read,
        write: side == Access::Write,
    };
    match outcome {
        Outcome::Failed(kind) if kind.is_unreachable() => Effect::Mark {
            cause: Cause::Unreachable,
            read: true,
            write: true,
        },
        Outcome::Failed(kind) if kind.is_regional() && kind.sent() == Sent::Maybe => own_side,
        Outcome::Failed(_) | Outcome::InFlight | Outcome::Abandoned => Effect::None,
        Outcome::Answered(status) => match status {
            Status::WRITE_FORBIDDEN if operation.is_write() => Effect::Mark {
                cause: Cause::Answer,
                read: false,
                write: true,
            },
            Status::DATABASE_ACCOUNT_NOT_FOUND => Effect::Mark {
                cause: Cause::Answer,
                read: true,
                write: true,
            },
            Status::SYSTEM_RESOURCE_UNAVAILABLE => own_side,
            // Made by the client, so no answer of the endpoint.
            Status::CLIENT_OPERATION_TIMEOUT => Effect::None,
            status if status.is_stale_range() => Effect::Reached,
            // The region throttled its own barrier requests: that is no sign of its health.
            status if status.code() == 408 && (21010..=21013).contains(&status.substatus()) => {
                Effect::Reached
            }
            status if status.is_server_error() || matches!(status.code(), 408 | 410) => own_side,
            _ => Effect::Clear(side),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, FailureKind, Resource};

    const READ: Operation = Operation::new(Action::Read, Resource::Item);
    const WRITE: Operation = Operation::new(Action::Create, Resource::Item);

    fn sides(operation: Operation, outcome: Outcome) -> Option<(bool, bool)> {
        match effect_of_one(operation, outcome) {
            Effect::Mark { read, write, .. } => Some((read, write)),
            _ => None,
        }
    }

    #[test]
    fn only_an_endpoint_that_cannot_be_reached_is_marked_for_both() {
        assert_eq!(
            sides(READ, Outcome::Failed(FailureKind::Refused)),
            Some((true, true))
        );
        assert_eq!(
            sides(READ, Outcome::Failed(FailureKind::Dns)),
            Some((true, true))
        );
        assert_eq!(
            sides(READ, Outcome::Failed(FailureKind::Reset)),
            Some((true, false))
        );
        assert_eq!(
            sides(WRITE, Outcome::Failed(FailureKind::AttemptTimeout)),
            Some((false, true))
        );
        assert_eq!(sides(READ, Outcome::Failed(FailureKind::PoolLimit)), None);
        assert_eq!(
            sides(READ, Outcome::Failed(FailureKind::NotProcessed)),
            None
        );
        assert_eq!(sides(READ, Outcome::Failed(FailureKind::Credential)), None);
    }

    #[test]
    fn answers_mark_the_side_that_they_are_about() {
        let answered = |code, substatus| Outcome::Answered(Status::new(code, substatus));
        assert_eq!(sides(WRITE, answered(403, 3)), Some((false, true)));
        assert_eq!(sides(READ, answered(403, 3)), None);
        assert_eq!(sides(READ, answered(403, 1008)), Some((true, true)));
        assert_eq!(sides(READ, answered(503, 0)), Some((true, false)));
        assert_eq!(sides(WRITE, answered(429, 3092)), Some((false, true)));
        assert_eq!(sides(READ, answered(429, 3200)), None);
        assert_eq!(effect_of_one(READ, answered(410, 1002)), Effect::Reached);
        assert_eq!(
            effect_of_one(READ, answered(404, 0)),
            Effect::Clear(Access::Read)
        );
        assert_eq!(
            effect_of_one(WRITE, answered(201, 0)),
            Effect::Clear(Access::Write)
        );
    }
}
