//! Connectors of the caller's own, in place of TCP sockets.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use cosmos_client::{LeafBuilder, Protocol};
use cosmos_core::{BoxError, FailureKind, TransportError};
use http::{Response, Uri};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tower::limit::ConcurrencyLimit;

use crate::peer::Peer;
use crate::{builder, failure, get, kind, send, soon, tls};

/// A builder whose connections all go to one address, whatever they are asked for.
fn towards(address: SocketAddr, asked: Arc<Mutex<Vec<String>>>) -> LeafBuilder {
    let connector = tower::service_fn(move |uri: Uri| {
        asked.lock().push(uri.to_string());
        async move { TcpStream::connect(address).await.map(TokioIo::new) }
    });
    // Panics if it is called without having been ready.
    builder().connector(ConcurrencyLimit::new(connector, 4))
}

#[tokio::test]
async fn a_connector_is_asked_for_every_connection_and_no_name_is_looked_up() {
    for (protocol, http2) in [(Protocol::Http1, false), (Protocol::Http2, true)] {
        let peer = Peer::hyper(http2, |_, _| async { Response::new("there".into()) }).await;
        let asked = Arc::default();
        let leaf = towards(peer.address, Arc::clone(&asked))
            .protocol(protocol)
            .shards(1, 1)
            .build()
            .unwrap();
        for _ in 0..2 {
            let answer = soon(send(&leaf, get("http://region.invalid/dbs"))).await;
            assert_eq!(answer.unwrap().into_body(), "there");
        }
        assert_eq!((peer.hits(), peer.connections()), (2, 1));
        assert_eq!(*asked.lock(), ["http://region.invalid/"]);
    }
}

#[tokio::test]
async fn tls_and_the_choice_of_the_protocol_stay_above_a_connector() {
    let (peer, certificate) = tls::peer(&["h2"]).await;
    let leaf = towards(peer.address, Arc::default())
        .tls_config(tls::trusting(&[certificate]))
        .build()
        .unwrap();
    let answer = soon(send(&leaf, get("https://localhost/dbs"))).await;
    assert_eq!(answer.unwrap().into_body(), "HTTP/2.0");
    let stranger = soon(send(&leaf, get("https://stranger.invalid/dbs"))).await;
    assert_eq!(kind(&stranger.unwrap_err()), FailureKind::Tls);
}

type Fail = Box<dyn Fn() -> BoxError + Send + Sync>;

#[tokio::test]
async fn a_connectors_failure_is_named_by_it_or_by_its_cause() {
    let of_kind = |kind| Box::new(TransportError::new(kind)) as BoxError;
    let io = |kind| Box::new(io::Error::from(kind)) as BoxError;
    let failures: [(Fail, FailureKind); 6] = [
        (
            Box::new(move || of_kind(FailureKind::Dns)),
            FailureKind::Dns,
        ),
        // What was never connected cannot have been sent, whatever the connector says.
        (
            Box::new(move || of_kind(FailureKind::Reset)),
            FailureKind::Connect,
        ),
        (
            Box::new(move || io(io::ErrorKind::ConnectionRefused)),
            FailureKind::Refused,
        ),
        (
            Box::new(move || io(io::ErrorKind::TimedOut)),
            FailureKind::ConnectTimeout,
        ),
        (
            Box::new(move || io(io::ErrorKind::ConnectionReset)),
            FailureKind::Connect,
        ),
        (Box::new(|| "no tunnel".into()), FailureKind::Connect),
    ];
    for (fail, expected) in failures {
        let fail = Arc::new(fail);
        for protocol in [Protocol::Http1, Protocol::Http2] {
            let fail = Arc::clone(&fail);
            let connector = tower::service_fn(move |_: Uri| {
                let error = fail();
                async move { Err::<TokioIo<TcpStream>, _>(error) }
            });
            let leaf = builder().protocol(protocol).connector(connector);
            let leaf = leaf.build().unwrap();
            let failed = soon(failure(&leaf, get("http://region.invalid/dbs"))).await;
            assert_eq!(failed, expected, "{protocol:?}");
        }
    }
}
