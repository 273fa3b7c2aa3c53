use std::fmt;
use std::sync::Arc;

use cosmos_core::health::{Circuit, Counters, Transition};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::breaker::PartitionBreaker;
use crate::clock::now;

/// The circuits of a [`CircuitBreakerLayer`](super::CircuitBreakerLayer): a handle for operators.
#[derive(Clone)]
pub struct Circuits(Arc<PartitionBreaker>);

impl Circuits {
    pub(super) fn new(breaker: Arc<PartitionBreaker>) -> Self {
        Self(breaker)
    }

    /// Every partition that has failed in some region of late, and how it stands there.
    #[must_use]
    pub fn list(&self) -> Vec<Circuit> {
        self.0.circuits.list(now())
    }

    /// How much is kept, and what has happened so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.0.circuits.counters()
    }

    /// The changes of state from now on.
    #[must_use]
    pub fn subscribe(&self) -> Transitions {
        Transitions {
            receiver: self.0.subscribe(),
            missed: 0,
        }
    }
}

impl fmt::Debug for Circuits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Circuits")
            .field("counters", &self.counters())
            .finish_non_exhaustive()
    }
}

/// Changes of circuits' states, as they happen. One that falls more than 256 behind misses the
/// oldest.
#[derive(Debug)]
pub struct Transitions {
    receiver: broadcast::Receiver<Transition>,
    missed: u64,
}

impl Transitions {
    /// The next change; `None` once the breaker is gone.
    pub async fn next(&mut self) -> Option<Transition> {
        loop {
            match self.receiver.recv().await {
                Ok(transition) => return Some(transition),
                Err(RecvError::Lagged(missed)) => self.missed += missed,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// How many changes were missed.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.missed
    }
}
