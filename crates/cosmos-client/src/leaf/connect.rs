//! One new connection: look-up, TCP and TLS within the connect limit, with typed failures.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use cosmos_core::{BoxError, FailureKind, TransportError, find_cause};
use futures::TryFutureExt;
use futures::future::MapErr;
use http::Uri;
use http::uri::Scheme;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::{AlertDescription, ClientConfig};
use tokio::net::TcpStream;
use tower_service::Service;

use super::Protocol;
use super::gate::Gate;
use super::resolve::{LookupFailed, Resolver};
use super::stream::Stream;

/// Connects within the limit. Every error is a [`TransportError`] of a kind that was not sent.
///
/// The limit holds here, too, and not only in the request's future: a connect may go on in the
/// background when its request was served by another connection.
#[derive(Clone)]
pub(super) struct Connector {
    https: HttpsConnector<Dial>,
    limit: Duration,
    protocol: Protocol,
    // `None`: connections are not pooled, so every request needs its own.
    gate: Option<Arc<Gate>>,
}

impl Connector {
    /// A connector without a gate.
    pub(super) fn new(
        resolver: Resolver,
        tls: Arc<ClientConfig>,
        limit: Duration,
        protocol: Protocol,
    ) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(resolver);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        // Shared out among a host's addresses, so that a silent one does not use up all of it.
        tcp.set_connect_timeout(Some(limit));
        Self {
            https: HttpsConnector::from((Dial(tcp), tls)),
            limit,
            protocol,
            gate: None,
        }
    }

    /// The same with a gate of its own, for one pool.
    pub(super) fn gated(&self) -> Self {
        Self {
            gate: Some(Arc::default()),
            ..self.clone()
        }
    }

    async fn connect(self, uri: Uri) -> Result<Stream, TransportError> {
        let tls = uri.scheme() == Some(&Scheme::HTTPS);
        let may_share = match self.protocol {
            Protocol::Auto => tls,
            Protocol::Http1 => false,
            Protocol::Http2 => true,
        };
        let connect = || self.connect_once(uri.clone(), tls);
        match &self.gate {
            Some(gate) if may_share => gate.pass(connect, Stream::is_http2).await,
            _ => connect().await,
        }
    }

    async fn connect_once(&self, uri: Uri, tls: bool) -> Result<Stream, TransportError> {
        let connecting = self.https.clone().call(uri);
        let stream = tokio::time::timeout(self.limit, connecting)
            .await
            .map_err(|elapsed| TransportError::caused(FailureKind::ConnectTimeout, elapsed))?
            .map_err(unestablished)?;
        let only_http2 = self.protocol == Protocol::Http2;
        let negotiated = stream.connected().is_negotiated_h2();
        if only_http2 && tls && !negotiated {
            return Err(TransportError::new(FailureKind::Negotiation));
        }
        Ok(Stream {
            stream,
            prior_knowledge: only_http2 && !tls,
        })
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector")
            .field("limit", &self.limit)
            .field("protocol", &self.protocol)
            .finish_non_exhaustive()
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = TransportError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, TransportError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.https.poll_ready(cx).map_err(unestablished)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

/// The TCP part, whose failures are so told apart from those of TLS.
#[derive(Clone)]
struct Dial(HttpConnector<Resolver>);

type DialError = <HttpConnector<Resolver> as Service<Uri>>::Error;

impl Service<Uri> for Dial {
    type Response = TokioIo<TcpStream>;
    type Error = TransportError;
    type Future =
        MapErr<<HttpConnector<Resolver> as Service<Uri>>::Future, fn(DialError) -> TransportError>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.0.poll_ready(cx).map_err(undialled)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        self.0.call(uri).map_err(undialled as fn(_) -> _)
    }
}

/// A failed look-up or TCP connect.
fn undialled(error: DialError) -> TransportError {
    let kind = if find_cause::<LookupFailed>(&error).is_some() {
        FailureKind::Dns
    } else {
        match find_cause::<io::Error>(&error).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => FailureKind::Refused,
            Some(io::ErrorKind::TimedOut) => FailureKind::ConnectTimeout,
            _ => FailureKind::Connect,
        }
    };
    TransportError::caused(kind, error)
}

/// A failure of `undialled`, or one of TLS.
fn unestablished(error: BoxError) -> TransportError {
    match error.downcast::<TransportError>() {
        Ok(undialled) => *undialled,
        Err(error) => TransportError::caused(tls_failure(&*error), error),
    }
}

fn tls_failure(error: &(dyn Error + 'static)) -> FailureKind {
    match find_cause::<rustls::Error>(error) {
        Some(
            rustls::Error::NoApplicationProtocol
            | rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol),
        ) => FailureKind::Negotiation,
        _ => FailureKind::Tls,
    }
}
