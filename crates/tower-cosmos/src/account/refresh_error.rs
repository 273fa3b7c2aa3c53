//! Why a refresh failed.

use cosmos_core::{BoxError, FailureKind, Status, TopologyError, TransportError};

/// Why the account document could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RefreshError {
    /// The endpoint could not be reached, or the connection broke.
    #[error("the account document could not be read")]
    Transport(#[source] BoxError),
    /// The endpoint took too long.
    #[error("the account document could not be read in time")]
    Timeout,
    /// The endpoint answered with something else than 2xx.
    #[error("reading the account document was answered with {0}")]
    Status(Status),
    /// The answer was no account document.
    #[error("the account document is unusable")]
    Document(#[from] TopologyError),
    /// There is no runtime to read it in.
    #[error("the account document cannot be read outside of a tokio runtime")]
    NoRuntime,
    /// The leaf panicked.
    #[error("reading the account document ended in a panic")]
    Panicked,
}

impl RefreshError {
    /// Whether trying again cannot help: the client was closed, or is turned away.
    pub(super) fn is_permanent(&self) -> bool {
        match self {
            Self::Status(status) => {
                matches!(status.code(), 400..=407 | 411..=428)
                    && *status != Status::DATABASE_ACCOUNT_NOT_FOUND
            }
            error => error.kind() == FailureKind::ClientClosed,
        }
    }

    /// What this means for an operation that waits for the regions to become known.
    pub(crate) fn kind(&self) -> FailureKind {
        match TransportError::find(self).map(TransportError::kind) {
            Some(FailureKind::ClientClosed) => FailureKind::ClientClosed,
            _ => FailureKind::NoTopology,
        }
    }
}
