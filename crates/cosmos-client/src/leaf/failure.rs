//! What an error of hyper-util's client means for the request.

use cosmos_core::{FailureKind, Sent, TransportError, find_cause};
use hyper_util::client::legacy;
use tower_cosmos::transport;

/// Names a failure before the answer's headers. `taken` tells whether a connection had taken the
/// request: until then nothing of it has left, whatever the error says.
pub(super) fn before_headers(error: legacy::Error, taken: bool) -> TransportError {
    let kind = if taken {
        ambiguous(&error)
    } else {
        not_sent(&error)
    };
    TransportError::caused(kind, error)
}

fn ambiguous(error: &legacy::Error) -> FailureKind {
    match transport::classify(error) {
        // On a connection that stood, only the server's word says that nothing was done.
        kind if kind.sent() == Sent::No && kind != FailureKind::NotProcessed => FailureKind::Io,
        // Our requests give hyper nothing to refuse: its task for the connection is gone.
        FailureKind::Other if find_cause(error).is_some_and(hyper::Error::is_user) => {
            FailureKind::Closed
        }
        kind => kind,
    }
}

fn not_sent(error: &legacy::Error) -> FailureKind {
    if let Some(connecting) = TransportError::find(error) {
        return connecting.kind();
    }
    // A pooled connection that ended before it took the request was replaced by the client itself.
    // So one that is named here was made for this request, and ended at once: whoever accepts
    // connections only to close them cannot be reached.
    let ended_at_once = error.connect_info().is_some();
    if ended_at_once || error.is_connect() || std::error::Error::source(error).is_some() {
        return FailureKind::Connect;
    }
    // Without a cause: the client refused the request itself.
    FailureKind::InvalidRequest
}

/// Names a failure after the answer's headers.
pub(super) fn in_body(error: hyper::Error) -> TransportError {
    TransportError::caused(FailureKind::BodyCut, error)
}
