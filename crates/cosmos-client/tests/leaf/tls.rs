//! TLS: who is trusted, and which protocol is agreed on.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cosmos_client::Protocol;
use cosmos_core::FailureKind;
use http_body_util::Full;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::peer::Peer;
use crate::{builder, failure, get, send, soon};

/// A client's configuration that trusts these certificates.
pub(crate) fn trusting(certificates: &[CertificateDer<'static>]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate.clone()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// A hyper server behind TLS that agrees to these protocols, and its certificate.
pub(crate) async fn peer(alpn: &[&str]) -> (Peer, CertificateDer<'static>) {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = signed.cert.der().clone();
    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let peer = Peer::raw(move |_, socket, counts| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(socket) = acceptor.accept(socket).await else {
                return;
            };
            let service = tower::service_fn(move |request: http::Request<_>| {
                counts.hit();
                let _: &hyper::body::Incoming = request.body();
                let version = format!("{:?}", request.version());
                let body = Full::<Bytes>::from(version);
                std::future::ready(Ok::<_, std::convert::Infallible>(http::Response::new(body)))
            });
            let service = TowerToHyperService::new(service);
            let http2 = socket.get_ref().1.alpn_protocol() == Some(b"h2");
            let io = TokioIo::new(socket);
            let _ = if http2 {
                hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                    .serve_connection(io, service)
                    .await
            } else {
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(io, service)
                    .await
            };
        }
    })
    .await;
    (peer, certificate)
}

#[tokio::test]
async fn the_protocol_is_negotiated() {
    use FailureKind::Negotiation;
    for (protocol, alpn, agreed) in [
        (Protocol::Auto, &["h2", "http/1.1"][..], Ok("HTTP/2.0")),
        (Protocol::Auto, &["http/1.1"], Ok("HTTP/1.1")),
        (Protocol::Auto, &[], Ok("HTTP/1.1")),
        (Protocol::Http1, &["h2", "http/1.1"], Ok("HTTP/1.1")),
        (Protocol::Http2, &["h2", "http/1.1"], Ok("HTTP/2.0")),
        (Protocol::Http2, &["http/1.1"], Err(Negotiation)),
        (Protocol::Http2, &[], Err(Negotiation)),
    ] {
        let (peer, certificate) = peer(alpn).await;
        let leaf = builder()
            .tls_config(trusting(&[certificate]))
            .protocol(protocol)
            .build()
            .unwrap();
        for _ in 0..2 {
            let answer = soon(send(&leaf, get(&peer.https()))).await;
            let answer = answer.map(http::Response::into_body);
            let answer = answer.as_deref().map_err(crate::kind);
            assert_eq!(
                answer,
                agreed.map(str::as_bytes),
                "{protocol:?} with {alpn:?}"
            );
        }
        let hits = if agreed.is_ok() { 2 } else { 0 };
        assert_eq!(peer.hits(), hits, "{protocol:?} with {alpn:?}");
    }
}

#[tokio::test]
async fn many_calls_at_once_over_a_cold_client_share_a_connection_per_shard() {
    let (peer, certificate) = peer(&["h2"]).await;
    let leaf = builder()
        .tls_config(trusting(&[certificate]))
        .shards(2, 2)
        .build()
        .unwrap();
    let calls = (0..40).map(|_| send(&leaf, get(&peer.https())));
    let answers = soon(futures::future::join_all(calls)).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(peer.hits(), 40);
    assert_eq!(peer.connections(), 2);
}

#[tokio::test]
async fn a_peer_that_is_silent_after_accepting_is_a_connect_timeout_for_every_waiter() {
    let peer = Peer::raw(|_, socket, _| async move {
        let _socket = socket;
        std::future::pending::<()>().await;
    })
    .await;
    let limit = Duration::from_millis(200);
    for protocol in [Protocol::Auto, Protocol::Http2] {
        let leaf = builder()
            .protocol(protocol)
            .connect_limit(limit)
            .build()
            .unwrap();
        let began = tokio::time::Instant::now();
        let calls = (0..30).map(|_| failure(&leaf, get(&peer.https())));
        let kinds = soon(futures::future::join_all(calls)).await;
        assert!(
            kinds
                .iter()
                .all(|kind| *kind == FailureKind::ConnectTimeout),
            "{kinds:?}"
        );
        assert!(began.elapsed() >= limit);
        assert!(began.elapsed() < limit * 10, "{:?}", began.elapsed());
        assert_eq!(crate::in_flight(&leaf), 0);
    }
}
