//! What an account does by itself, or at its owner's hand, while clients are talking to it.

mod data;
mod regions;
mod writers;

use std::sync::Arc;

use azure_data_cosmos_driver::CosmosError;
use azure_data_cosmos_driver::in_memory_emulator::EmulatorStore;

use super::state::State;

/// Why the account did not move.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The account never had a region of this name.
    #[error("the account has no region {0:?}")]
    UnknownRegion(String),
    /// The account's state does not permit the move.
    #[error("the account cannot move like that: {0}")]
    Rejected(String),
    /// A new region has no port to listen on.
    #[error("no loopback port to listen on")]
    Listen(#[from] std::io::Error),
}

impl From<CosmosError> for MoveError {
    fn from(error: CosmosError) -> Self {
        Self::Rejected(error.to_string())
    }
}

/// Moves an account. Cheap to clone. A move is in effect when its method returns; only a client's
/// next account read tells the client about it.
#[derive(Clone, Debug)]
pub struct AccountMoves {
    state: Arc<State>,
}

impl AccountMoves {
    pub(crate) fn new(state: Arc<State>) -> Self {
        Self { state }
    }

    fn store(&self) -> &Arc<EmulatorStore> {
        self.state.engine.store()
    }

    fn known(&self, region: &str) -> Result<(), MoveError> {
        if self.state.knows_region(region) {
            Ok(())
        } else {
            Err(MoveError::UnknownRegion(region.to_owned()))
        }
    }
}
