//! What a transport's error means: whether the request was sent, and what broke.
//!
//! Our own leaf reports [`TransportError`]s. Around another client the errors of std's I/O and,
//! with the feature `hyper`, of hyper, hyper-util's client and h2 are told apart.
//! Whatever is not recognised counts as ambiguous, never as "not sent".

use std::error::Error;
use std::io;

use cosmos_core::{BoxError, FailureKind, TransportError, find_cause};

/// Classifies the error of a leaf, or of a foreign layer above it.
#[must_use]
pub fn classify(error: &(dyn Error + 'static)) -> FailureKind {
    if let Some(ours) = TransportError::find(error) {
        return ours.kind();
    }
    if find_cause::<tower::timeout::error::Elapsed>(error).is_some() {
        return FailureKind::AttemptTimeout;
    }
    #[cfg(feature = "hyper")]
    if let Some(kind) = of_hyper::classify(error) {
        return kind;
    }
    find_cause::<io::Error>(error).map_or(FailureKind::Other, |error| established(error.kind()))
}

/// Turns any error into a [`TransportError`], keeping one that is there already.
pub(crate) fn into_transport_error(error: BoxError) -> TransportError {
    match error.downcast::<TransportError>() {
        Ok(ours) => *ours,
        Err(error) => TransportError::caused(classify(&*error), error),
    }
}

/// An I/O error on a connection that stood.
fn established(kind: io::ErrorKind) -> FailureKind {
    match kind {
        io::ErrorKind::ConnectionRefused => FailureKind::Refused,
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => FailureKind::Reset,
        io::ErrorKind::UnexpectedEof => FailureKind::Closed,
        _ => FailureKind::Io,
    }
}

#[cfg(feature = "hyper")]
mod of_hyper {
    use super::{Error, FailureKind, established, find_cause, io};

    pub(super) fn classify(error: &(dyn Error + 'static)) -> Option<FailureKind> {
        let client = find_cause::<hyper_util::client::legacy::Error>(error);
        if client.is_some_and(hyper_util::client::legacy::Error::is_connect) {
            return Some(connecting(error));
        }
        if let Some(kind) = find_cause::<h2::Error>(error).and_then(of_stream) {
            return Some(kind);
        }
        let hyper = find_cause::<hyper::Error>(error)?;
        if hyper.is_canceled() {
            // The connection closed before it took the request.
            return Some(FailureKind::NotProcessed);
        }
        if hyper.is_incomplete_message() || hyper.is_closed() {
            return Some(FailureKind::Closed);
        }
        if hyper.is_timeout() {
            // A keep-alive ping without an answer: the connection is dead.
            return Some(FailureKind::Closed);
        }
        None
    }

    /// An error that ended an HTTP/2 stream. h2 does not name the I/O error as its cause.
    fn of_stream(error: &h2::Error) -> Option<FailureKind> {
        if let Some(error) = error.get_io() {
            return Some(established(error.kind()));
        }
        if !error.is_remote() {
            return None;
        }
        // Streams up to the last one of a GOAWAY go on; what a peer's GOAWAY ends was above.
        let refused = error.reason() == Some(h2::Reason::REFUSED_STREAM);
        Some(if error.is_go_away() || refused {
            FailureKind::NotProcessed
        } else {
            FailureKind::Reset
        })
    }

    /// An error while connecting: nothing was sent.
    fn connecting(error: &(dyn Error + 'static)) -> FailureKind {
        // hyper-util's connector names a failed look-up only in its text.
        let look_up =
            cosmos_core::causes(error).any(|error| error.to_string().starts_with("dns error"));
        if look_up {
            return FailureKind::Dns;
        }
        match find_cause::<io::Error>(error).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => FailureKind::Refused,
            Some(io::ErrorKind::TimedOut) => FailureKind::ConnectTimeout,
            _ => FailureKind::Connect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_recognised_is_ambiguous() {
        let unknown: BoxError = "something".into();
        assert_eq!(classify(&*unknown), FailureKind::Other);
        assert_eq!(FailureKind::Other.sent(), cosmos_core::Sent::Maybe);
    }

    #[test]
    fn io_errors_are_told_apart() {
        for (kind, failure) in [
            (io::ErrorKind::ConnectionReset, FailureKind::Reset),
            (io::ErrorKind::BrokenPipe, FailureKind::Reset),
            (io::ErrorKind::UnexpectedEof, FailureKind::Closed),
            (io::ErrorKind::Other, FailureKind::Io),
        ] {
            assert_eq!(classify(&io::Error::from(kind)), failure);
        }
    }
}
