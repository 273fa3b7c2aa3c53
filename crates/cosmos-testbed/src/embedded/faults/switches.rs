//! Setting and clearing faults.

use std::sync::Arc;

use super::rule::{FaultKind, FaultRule, FaultScope};
use super::table::FaultId;
use crate::embedded::clock;
use crate::embedded::state::State;

/// A rule that the account cannot apply.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultError {
    /// The rule names a region that the account never had.
    #[error("the account has no region {0:?}")]
    UnknownRegion(String),
    /// The probability is not a number from 0 to 1.
    #[error("a probability is a number from 0 to 1, not {0}")]
    Probability(f64),
    /// The status of an answer is not between 200 and 999.
    #[error("{0} is no status that a request can be answered with")]
    Status(u16),
}

/// Sets and clears an account's faults. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FaultSwitches {
    state: Arc<State>,
}

impl FaultSwitches {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Self { state }
    }

    /// Sets a fault. When this returns, it is in effect: of
    /// [`RefuseConnections`](FaultKind::RefuseConnections), the port is closed and so are the
    /// connections.
    ///
    /// # Errors
    ///
    /// If the rule names an unknown region, or numbers that make no sense.
    pub async fn set(&self, rule: FaultRule) -> Result<FaultId, FaultError> {
        if let FaultScope::Region(name) = &rule.scope
            && !self.state.knows_region(name)
        {
            return Err(FaultError::UnknownRegion(name.clone()));
        }
        if !(0.0..=1.0).contains(&rule.probability) {
            return Err(FaultError::Probability(rule.probability));
        }
        // An interim status (1xx) would leave the request without an answer.
        if let FaultKind::Status { status, .. } = rule.kind
            && !(200..=999).contains(&status)
        {
            return Err(FaultError::Status(status));
        }
        let id = self.state.faults.set(rule, clock::monotonic());
        self.state.settle().await;
        Ok(id)
    }

    /// Clears a fault and tells whether it was still set. When this returns, a port that was closed
    /// listens again.
    pub async fn clear(&self, id: FaultId) -> bool {
        let cleared = self.state.faults.clear(id);
        self.state.settle().await;
        cleared
    }

    /// Clears every fault.
    pub async fn clear_all(&self) {
        self.state.faults.clear_all();
        self.state.settle().await;
    }

    /// The faults that are set, oldest first.
    #[must_use]
    pub fn active(&self) -> Vec<(FaultId, FaultRule)> {
        self.state.faults.active(clock::monotonic())
    }
}
