//! One new connection: look-up, TCP and TLS within the connect limit, with typed failures.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use cosmos_core::{BoxError, FailureKind, TransportError, find_cause};
use http::Uri;
use http::uri::Scheme;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::Connection;
use rustls::{AlertDescription, ClientConfig};
use tower_service::Service;

use super::Protocol;
use super::dial::Dial;
use super::gate::Gate;
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
        dial: Dial,
        tls: Arc<ClientConfig>,
        limit: Duration,
        protocol: Protocol,
    ) -> Self {
        Self {
            https: HttpsConnector::from((dial, tls)),
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

/// A failure of `Dial`, or one of TLS.
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
