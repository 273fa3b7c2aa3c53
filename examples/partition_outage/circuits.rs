//! The circuits' changes of state, and when they were.

use std::sync::Arc;
use std::time::Duration;

use cosmos_core::health::{State, Transition};
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tower_cosmos::circuit_breaker::Circuits;

/// A change of a circuit's state.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// When it was, counted from the start.
    pub(crate) at: Duration,
    pub(crate) transition: Transition,
}

impl Change {
    /// Whether the circuit was healthy before.
    pub(crate) fn opens(&self) -> bool {
        self.transition.from == State::Healthy
    }

    pub(crate) fn closes(&self) -> bool {
        self.transition.to == State::Healthy
    }
}

/// Follows the circuits.
#[derive(Debug)]
pub(crate) struct Watch {
    changes: Arc<Mutex<Vec<Change>>>,
    task: JoinHandle<()>,
}

/// Follows the circuits from now on.
pub(crate) fn watch(circuits: &Circuits, start: Instant) -> Watch {
    let changes = Arc::<Mutex<Vec<Change>>>::default();
    let mut transitions = circuits.subscribe();
    let seen = Arc::clone(&changes);
    let task = tokio::spawn(async move {
        while let Some(transition) = transitions.next().await {
            let at = start.elapsed();
            seen.lock().push(Change { at, transition });
        }
    });
    Watch { changes, task }
}

impl Watch {
    pub(crate) fn end(self) -> Vec<Change> {
        self.task.abort();
        self.changes.lock().clone()
    }
}
