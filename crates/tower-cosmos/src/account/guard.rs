//! What the outcome of an attempt is worth to the retry guard.

use std::time::Duration;

use cosmos_core::health::{Signal, signal};
use cosmos_core::retry_guard::RetryGuard;
use cosmos_core::{Attempt, Operation};

/// A first attempt that succeeds pays in; a retry that does costs nothing.
pub(super) fn settle(guard: &RetryGuard, operation: Operation, attempt: &Attempt) {
    let waited = attempt.duration.unwrap_or(Duration::ZERO);
    if signal(operation, attempt.outcome, waited, None) != Signal::Success {
        return;
    }
    match attempt.paid {
        Some(region) => guard.give_back(region),
        None => guard.succeeded(attempt.region),
    }
}
