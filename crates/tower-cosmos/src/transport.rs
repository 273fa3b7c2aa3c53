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
    use super::{Error, FailureKind, find_cause, io};

    pub(super) fn classify(error: &(dyn Error + 'static)) -> Option<FailureKind> {
        let client = find_cause::<hyper_util::client::legacy::Error>(error);
        if client.is_some_and(hyper_util::client::legacy::Error::is_connect) {
            return Some(connecting(error));
        }
        if let Some(stream) = find_cause::<h2::Error>(error) {
            // Streams up to the last one of a GOAWAY go on; what a peer's GOAWAY ends was above.
            let above_goaway = stream.is_go_away() && stream.is_remote();
            let refused = stream.reason() == Some(h2::Reason::REFUSED_STREAM);
            if above_goaway || refused {
                return Some(FailureKind::NotProcessed);
            }
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
