//! HTTP/1.1: pooled connections, the `Host` header, settings.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use cosmos_client::{Leaf, Protocol};
use http::{Method, Request, Response, header};
use http_body_util::Full;
use tokio::sync::{Mutex, mpsc};

use crate::peer::{Bell, OK, Peer, read_request, write};
use crate::{builder, failure, get, in_flight, leaf, request, send, soon};

#[tokio::test]
async fn a_pooled_connection_that_the_server_closed_costs_nothing() {
    let (close, closing) = mpsc::channel::<()>(1);
    let (closed, mut was_closed) = mpsc::channel::<()>(1);
    let closing = std::sync::Arc::new(Mutex::new(closing));
    let peer = Peer::raw(move |_, mut socket, counts| {
        let (closing, closed) = (closing.clone(), closed.clone());
        async move {
            let mut closing = closing.lock().await;
            if read_request(&mut socket).await.is_some() {
                counts.hit();
                write(&mut socket, OK).await;
                closing.recv().await;
            }
            drop(socket);
            let _ = closed.send(()).await;
        }
    })
    .await;
    let leaf = builder().shards(1, 1).build().unwrap();
    let mut bell = Bell::hang().await;
    for round in 1..=50 {
        let method = [Method::GET, Method::POST][round % 2].clone();
        let answer = soon(send(&leaf, request(&method, &peer.url()))).await;
        assert!(answer.is_ok(), "round {round}: {answer:?}");
        assert_eq!((peer.hits(), peer.connections()), (round, round));
        close.send(()).await.unwrap();
        soon(was_closed.recv()).await.unwrap();
        bell.ring_and_hear().await;
    }
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let peer = Peer::hyper(false, |_, _| async { Response::new(Full::from("ok")) }).await;
    let leaf = leaf();
    for _ in 0..10 {
        soon(send(&leaf, get(&peer.url()))).await.unwrap();
        assert_eq!(in_flight(&leaf), 0);
        tokio::task::yield_now().await;
    }
    assert_eq!((peer.hits(), peer.connections()), (10, 1));
}

#[tokio::test]
async fn without_idle_connections_every_call_connects() {
    for http2 in [false, true] {
        let peer = Peer::hyper(http2, |_, _| async { Response::new(Full::from("ok")) }).await;
        let protocol = [Protocol::Http1, Protocol::Http2][usize::from(http2)];
        let leaf = builder()
            .protocol(protocol)
            .idle_limit(Duration::ZERO)
            .build()
            .unwrap();
        for call in 1..=3 {
            soon(send(&leaf, get(&peer.url()))).await.unwrap();
            assert_eq!((peer.hits(), peer.connections()), (call, call));
        }
        soon(
            peer.counts
                .until(|counts| counts.open.load(Ordering::SeqCst) == 0),
        )
        .await;
    }
}

#[tokio::test]
async fn a_connection_is_not_kept_beyond_the_idle_limit() {
    for http2 in [false, true] {
        let peer = Peer::hyper(http2, |_, _| async { Response::new(Full::from("ok")) }).await;
        let leaf = builder()
            .protocol([Protocol::Http1, Protocol::Http2][usize::from(http2)])
            .idle_limit(Duration::from_millis(50))
            .build()
            .unwrap();
        soon(send(&leaf, get(&peer.url()))).await.unwrap();
        // It is closed by itself, not by the next call.
        let open = |counts: &crate::peer::Counts| counts.open.load(Ordering::SeqCst);
        soon(peer.counts.until(|counts| open(counts) == 0)).await;
        soon(send(&leaf, get(&peer.url()))).await.unwrap();
        assert_eq!((peer.hits(), peer.connections()), (2, 2));
    }
}

#[tokio::test]
async fn headers_are_bounded() {
    for http2 in [false, true] {
        let peer = Peer::hyper(http2, |_, request| async move {
            let length = request.uri().path()[1..].parse().unwrap();
            let mut answer = Response::new(Full::from("ok"));
            let value = header::HeaderValue::from_str(&"x".repeat(length)).unwrap();
            answer.headers_mut().insert("x-long", value);
            answer
        })
        .await;
        let protocol = [Protocol::Http1, Protocol::Http2][usize::from(http2)];
        let leaf = builder().protocol(protocol).build().unwrap();
        let url = |length: usize| format!("http://{}/{length}", peer.address);
        let answer = soon(send(&leaf, get(&url(60_000)))).await.unwrap();
        assert_eq!(answer.headers()["x-long"].len(), 60_000);
        let failed = soon(failure(&leaf, get(&url(70_000)))).await;
        assert_eq!(failed.sent(), cosmos_core::Sent::Maybe, "{failed}");
        soon(send(&leaf, get(&url(1)))).await.unwrap();
    }
}

#[tokio::test]
async fn the_host_header_is_right_if_absent_and_left_alone_if_present() {
    let peer = Peer::hyper(false, |_, request| async move {
        let host = request.headers()[header::HOST].clone();
        Response::new(Full::<Bytes>::from(host.to_str().unwrap().to_owned()))
    })
    .await;
    let leaf = leaf();
    let answer = soon(send(&leaf, get(&peer.url()))).await.unwrap();
    assert_eq!(answer.body(), &peer.address.to_string());
    let with_host = Request::get(peer.url())
        .header(header::HOST, "account.documents.azure.com")
        .body(Full::default())
        .unwrap();
    let answer = soon(send(&leaf, with_host)).await.unwrap();
    assert_eq!(answer.body(), "account.documents.azure.com");
}

#[tokio::test]
async fn the_version_of_the_request_does_not_matter() {
    let peer = Peer::hyper(false, |_, _| async { Response::new(Full::from("ok")) }).await;
    for version in [http::Version::HTTP_2, http::Version::HTTP_10] {
        let mut request = get(&peer.url());
        *request.version_mut() = version;
        soon(send(&leaf(), request)).await.unwrap();
    }
}

#[tokio::test]
async fn a_request_without_an_absolute_uri_is_refused() {
    use cosmos_core::FailureKind::InvalidRequest;
    for url in ["/dbs", "ftp://127.0.0.1/dbs", "http:///dbs"] {
        let Ok(request) = Request::get(url).body(Full::default()) else {
            continue;
        };
        assert_eq!(
            soon(failure(&leaf(), request)).await,
            InvalidRequest,
            "{url}"
        );
    }
}

#[test]
fn settings_out_of_range_are_errors() {
    let zero = Duration::ZERO;
    let second = Duration::from_secs(1);
    for (settings, name) in [
        (Leaf::builder().connect_limit(zero), "connect_limit"),
        (Leaf::builder().shards(0, 8), "shards"),
        (Leaf::builder().shards(9, 8), "shards"),
        (Leaf::builder().shards(1, 1025), "shards"),
        (Leaf::builder().streams(0), "streams"),
        (Leaf::builder().streams(10_001), "streams"),
        (Leaf::builder().authorities(0), "authorities"),
        (Leaf::builder().http2_pings(zero, second), "http2_pings"),
        (Leaf::builder().http2_pings(second, zero), "http2_pings"),
        (Leaf::builder().header_limit(8191), "header_limit"),
    ] {
        let error = settings.build().unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
}

#[tokio::test]
async fn nothing_secret_is_shown() {
    let peer = Peer::raw(|_, _, _| async {}).await;
    let mut request = Request::post(peer.url())
        .header(header::AUTHORIZATION, "opensesame")
        .body(Full::from("opensesame"))
        .unwrap();
    request.extensions_mut().insert("opensesame");
    let leaf = leaf();
    let call = tower_service::Service::call(&mut leaf.clone(), request);
    let before = format!("{leaf:?} {call:?}");
    let error = soon(call).await.unwrap_err();
    let shown = format!("{before} {error:?} {error}");
    assert!(!shown.contains("opensesame"), "{shown}");
}
