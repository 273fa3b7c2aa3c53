//! What can go wrong with an attempt, and whether the service can have seen it.

use std::error::Error;
use std::fmt;

use crate::{Journal, Region};

/// Any error that crosses a layer.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Whether a request that failed can have reached the service.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sent {
    /// It never left this process: safe to send again, whatever it does.
    No,
    /// It may have been received and carried out.
    Maybe,
}

/// Why an attempt got no answer, or was not made.
///
/// Retry specification, "Transport Errors": *not sent* and *sent or unknown* are handled apart.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The host's name did not resolve.
    Dns,
    /// The connection was refused.
    Refused,
    /// No connection stood within the connect limit.
    ConnectTimeout,
    /// Connecting failed in another way (unreachable, reset while connecting, ended before the first
    /// request ...).
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The peers found no protocol in common.
    Negotiation,
    /// No connection or stream became free within the connect limit; says nothing of the endpoint.
    PoolLimit,
    /// HTTP/2: the server says that it did not process the request (`REFUSED_STREAM`, or above the
    /// last stream of a GOAWAY).
    NotProcessed,
    /// The credential could not produce an authorization.
    Credential,
    /// The connection was reset after the request may have left.
    Reset,
    /// The connection ended before the answer.
    Closed,
    /// Another I/O error after the request may have left.
    Io,
    /// The answer's headers did not arrive within the attempt's limit.
    AttemptTimeout,
    /// The answer's body stood still for longer than the idle limit.
    BodyTimeout,
    /// The answer's body broke off.
    BodyCut,
    /// The answer's body is larger than the limit.
    BodyTooLarge,
    /// The answer was no HTTP that the client understands, or another failure without a name.
    Other,
    /// An inner layer gave up while the attempt was under way.
    Lost,
    /// The operation's deadline had passed.
    DeadlineExceeded,
    /// The stored procedure may already have run: it is never sent again.
    MayHaveRun,
    /// Every candidate region is excluded (strict exclusions, or the one request had been made).
    Excluded,
    /// The account's regions are not known, and could not be read.
    NoTopology,
    /// One operation has made more attempts than any budget allows.
    TooManyAttempts,
    /// The request's body could not be read, or is larger than the limit; nothing was sent.
    RequestBody,
    /// The request could not be rewritten for a region.
    InvalidRequest,
    /// The client was closed.
    ClientClosed,
}

impl FailureKind {
    /// Whether the request can have reached the service.
    #[must_use]
    pub const fn sent(self) -> Sent {
        match self {
            Self::Reset
            | Self::Closed
            | Self::Io
            | Self::AttemptTimeout
            | Self::BodyTimeout
            | Self::BodyCut
            | Self::BodyTooLarge
            | Self::Other
            | Self::Lost => Sent::Maybe,
            _ => Sent::No,
        }
    }

    /// Whether the endpoint itself could not be reached, which marks it for reads and writes.
    #[must_use]
    pub const fn is_unreachable(self) -> bool {
        matches!(
            self,
            Self::Dns
                | Self::Refused
                | Self::ConnectTimeout
                | Self::Connect
                | Self::Tls
                | Self::Negotiation
        )
    }

    /// Whether one more try on another connection to the same endpoint is worth it: connection
    /// refused or lost, and streams that the server did not process. Not names, not timeouts, not
    /// the pool.
    #[must_use]
    pub const fn is_reconnectable(self) -> bool {
        matches!(
            self,
            Self::Refused
                | Self::Connect
                | Self::NotProcessed
                | Self::Reset
                | Self::Closed
                | Self::Io
        )
    }

    /// Whether the failure says something about the region or the way to it, so that another
    /// region is worth a try. The rest are this side's own refusals and limits.
    #[must_use]
    pub const fn is_regional(self) -> bool {
        self.is_unreachable()
            || matches!(
                self,
                Self::PoolLimit
                    | Self::NotProcessed
                    | Self::Reset
                    | Self::Closed
                    | Self::Io
                    | Self::AttemptTimeout
                    | Self::BodyTimeout
                    | Self::BodyCut
                    | Self::Other
                    | Self::Lost
            )
    }

    /// A short name for logs and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Refused => "refused",
            Self::ConnectTimeout => "connect timeout",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Negotiation => "negotiation",
            Self::PoolLimit => "pool limit",
            Self::NotProcessed => "not processed",
            Self::Credential => "credential",
            Self::Reset => "reset",
            Self::Closed => "closed",
            Self::Io => "i/o",
            Self::AttemptTimeout => "attempt timeout",
            Self::BodyTimeout => "body timeout",
            Self::BodyCut => "body cut short",
            Self::BodyTooLarge => "body too large",
            Self::Other => "other",
            Self::Lost => "given up by an inner layer",
            Self::DeadlineExceeded => "deadline exceeded",
            Self::MayHaveRun => "stored procedure may have run",
            Self::Excluded => "every region is excluded",
            Self::NoTopology => "the account's regions are not known",
            Self::TooManyAttempts => "too many attempts",
            Self::RequestBody => "the request's body is too large, or could not be read",
            Self::InvalidRequest => "invalid request",
            Self::ClientClosed => "the client is closed",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of every layer and leaf of this project.
///
/// A leaf makes one from what its transport reported; `EndpointLayer` adds the region and the
/// operation's [`Journal`]. Found again through boxes with [`TransportError::find`].
#[derive(Debug)]
pub struct TransportError {
    kind: FailureKind,
    region: Option<Region>,
    journal: Option<Journal>,
    source: Option<BoxError>,
}

impl TransportError {
    /// An error of this kind with no cause to name.
    #[must_use]
    pub const fn new(kind: FailureKind) -> Self {
        Self {
            kind,
            region: None,
            journal: None,
            source: None,
        }
    }

    /// An error of this kind, caused by another.
    #[must_use]
    pub fn caused(kind: FailureKind, source: impl Into<BoxError>) -> Self {
        Self {
            source: Some(source.into()),
            ..Self::new(kind)
        }
    }

    /// Adds the region that the attempt went to.
    #[must_use]
    pub fn with_region(mut self, region: Region) -> Self {
        self.region = Some(region);
        self
    }

    /// Adds the journal of the operation.
    #[must_use]
    pub fn with_journal(mut self, journal: Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// What happened.
    #[must_use]
    pub const fn kind(&self) -> FailureKind {
        self.kind
    }

    /// Whether the last attempt can have reached the service.
    #[must_use]
    pub const fn sent(&self) -> Sent {
        self.kind.sent()
    }

    /// The region of the attempt, if one was chosen.
    #[must_use]
    pub const fn region(&self) -> Option<Region> {
        self.region
    }

    /// Everything the operation did, if it got as far as one of the layers.
    #[must_use]
    pub const fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// Finds a `TransportError` in an error or among its causes.
    #[must_use]
    pub fn find<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        find_cause(error)
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(region) = self.region {
            write!(f, " ({region})")?;
        }
        Ok(())
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_ref()
            .map(|source| &**source as &(dyn Error + 'static))
    }
}

/// An error and its causes, at most 32 steps down.
pub fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error)).take(32)
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    // An I/O error made from another one names that one's cause as its own, and so hides it.
    let wrapped = error
        .downcast_ref::<std::io::Error>()
        .and_then(std::io::Error::get_ref);
    wrapped.map_or_else(
        || error.source(),
        |inner| Some(inner as &(dyn Error + 'static)),
    )
}

/// The first error of type `E` among `error` and its causes.
#[must_use]
pub fn find_cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    causes(error).find_map(|error| error.downcast_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_again_through_boxes() {
        let inner: BoxError = Box::new(TransportError::new(FailureKind::Refused));
        let outer = TransportError::caused(FailureKind::Other, std::io::Error::other(inner));
        let found = find_cause::<std::io::Error>(&outer).unwrap();
        assert_eq!(
            TransportError::find(found).unwrap().kind(),
            FailureKind::Refused
        );
    }

    #[test]
    fn what_marks_an_endpoint_was_never_sent() {
        for kind in [
            FailureKind::Dns,
            FailureKind::Tls,
            FailureKind::ConnectTimeout,
        ] {
            assert!(kind.is_unreachable() && kind.sent() == Sent::No);
        }
        assert!(!FailureKind::PoolLimit.is_unreachable());
        assert_eq!(FailureKind::BodyCut.sent(), Sent::Maybe);
    }
}
