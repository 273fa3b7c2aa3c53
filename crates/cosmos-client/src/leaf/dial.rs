//! The connection under TLS and HTTP: a TCP socket, or whatever a connector that was given opens.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use cosmos_core::{BoxError, FailureKind, Sent, TransportError, find_cause};
use http::Uri;
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use tower_service::Service;

use super::resolve::{LookupFailed, Resolver};

type Dialing = Pin<Box<dyn Future<Output = Result<Wire, TransportError>> + Send>>;

/// Opens connections, and tells their failures apart from those of TLS.
#[derive(Clone)]
pub(super) struct Dial(Arc<dyn Fn(Uri) -> Dialing + Send + Sync>);

impl Dial {
    /// TCP; `limit` is what one connect may take.
    pub(super) fn tcp(resolver: Resolver, limit: Duration) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(resolver);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        // Shared out among a host's addresses, so that a silent one does not use up all of it.
        tcp.set_connect_timeout(Some(limit));
        Self::through(tcp)
    }

    /// Whatever this connector opens.
    pub(super) fn through<C>(connector: C) -> Self
    where
        C: Service<Uri> + Clone + Send + Sync + 'static,
        C::Response: Read + Write + Connection + Unpin + Send + 'static,
        C::Error: Into<BoxError>,
        C::Future: Send + 'static,
    {
        Self(Arc::new(move |uri| {
            let mut connector = connector.clone();
            Box::pin(async move {
                // Tower's contract: the one that is called is the one that was ready.
                poll_fn(|cx| connector.poll_ready(cx))
                    .await
                    .map_err(undialled)?;
                let stream = connector.call(uri).await.map_err(undialled)?;
                Ok(Box::new(stream) as Wire)
            })
        }))
    }
}

impl Service<Uri> for Dial {
    type Response = Wire;
    type Error = TransportError;
    type Future = Dialing;

    /// Always ready: a connector's readiness is awaited by each connect.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Dialing {
        (self.0)(uri)
    }
}

impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dial").finish_non_exhaustive()
    }
}

/// What HTTP needs of a connection.
pub(super) trait Transport: Read + Write + Connection + Unpin + Send {}

impl<T: Read + Write + Connection + Unpin + Send> Transport for T {}

/// An open connection, whoever opened it.
pub(super) type Wire = Box<dyn Transport>;

impl Connection for Wire {
    fn connected(&self) -> Connected {
        (**self).connected()
    }
}

/// A failed look-up or connect. A connector that knows better names the kind itself.
fn undialled(error: impl Into<BoxError>) -> TransportError {
    let error = error.into();
    let named = TransportError::find(&*error).map(TransportError::kind);
    let kind = if let Some(kind) = named.filter(|kind| kind.sent() == Sent::No) {
        kind
    } else if find_cause::<LookupFailed>(&*error).is_some() {
        FailureKind::Dns
    } else {
        match find_cause::<io::Error>(&*error).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => FailureKind::Refused,
            Some(io::ErrorKind::TimedOut) => FailureKind::ConnectTimeout,
            _ => FailureKind::Connect,
        }
    };
    TransportError::caused(kind, error)
}
