//! What was sent, and what was not: one row per way to fail, over real sockets.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use cosmos_client::leaf::{Resolve, Resolving};
use cosmos_client::{Leaf, Protocol};
use cosmos_core::{BoxError, FailureKind, Sent};
use http::Method;
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::frames::{Frames, INTERNAL_ERROR};
use crate::peer::{Bell, Peer, read_request, reset, write};
use crate::{builder, failure, in_flight, kind, leaf, request, send, soon, tls};

const METHODS: [Method; 3] = [Method::GET, Method::POST, Method::DELETE];

/// One row: the failure of every method, each over a new client, and how many requests arrived.
async fn row(name: &str, url: &str, make: impl Fn() -> Leaf, expected: FailureKind) {
    for method in METHODS {
        let leaf = make();
        let failed = soon(failure(&leaf, request(&method, url))).await;
        assert_eq!(failed, expected, "{name}, {method}");
        assert_eq!(in_flight(&leaf), 0, "{name}, {method}");
    }
}

async fn closed_port() -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap()
}

struct Nowhere;

impl Resolve for Nowhere {
    fn resolve(&self, host: &str) -> Resolving {
        let found = match host {
            "empty.test" => Ok(Vec::new()),
            _ => Err(BoxError::from("no such host")),
        };
        Box::pin(std::future::ready(found))
    }
}

#[tokio::test]
async fn what_fails_before_a_connection_stands_was_not_sent() {
    let url = format!("http://{}/dbs", closed_port().await);
    row("refused", &url, leaf, FailureKind::Refused).await;

    let unknown = "http://cosmos.invalid/dbs";
    row("system look-up", unknown, leaf, FailureKind::Dns).await;
    let given = || builder().resolver(Nowhere).build().unwrap();
    row("given look-up", "https://a.test/", given, FailureKind::Dns).await;
    row("no address", "http://empty.test/", given, FailureKind::Dns).await;

    let plain = Peer::raw(|_, mut socket, _| async move {
        write(&mut socket, "HTTP/1.1 400 Bad Request\r\n\r\n").await;
        while read_request(&mut socket).await.is_some() {}
    })
    .await;
    row("no TLS spoken", &plain.https(), leaf, FailureKind::Tls).await;
    let hang_up = Peer::raw(|_, socket, _| async move { reset(socket) }).await;
    row("reset in TLS", &hang_up.https(), leaf, FailureKind::Tls).await;

    let (stranger, _) = tls::peer(&["h2", "http/1.1"]).await;
    row("unknown issuer", &stranger.https(), leaf, FailureKind::Tls).await;
    let (other, certificate) = tls::peer(&["h2", "http/1.1"]).await;
    let trusting = || {
        let config = tls::trusting(std::slice::from_ref(&certificate));
        builder().tls_config(config).build().unwrap()
    };
    let wrong_name = format!("https://127.0.0.1:{}/", other.address.port());
    row("wrong name", &wrong_name, trusting, FailureKind::Tls).await;
    assert_eq!((stranger.hits(), other.hits()), (0, 0));

    for kind in [FailureKind::Refused, FailureKind::Dns, FailureKind::Tls] {
        assert!(kind.sent() == Sent::No && kind.is_unreachable());
    }
}

#[tokio::test]
async fn what_fails_after_the_request_was_read_is_ambiguous() {
    #[derive(Copy, Clone)]
    enum End {
        Reset,
        Close,
        HalfAHead,
        Garbage,
    }
    for (name, end, expected) in [
        ("reset", End::Reset, FailureKind::Reset),
        ("closed", End::Close, FailureKind::Closed),
        ("half a head", End::HalfAHead, FailureKind::Closed),
        ("garbage", End::Garbage, FailureKind::Other),
    ] {
        let peer = Peer::raw(move |_, mut socket, counts| async move {
            if read_request(&mut socket).await.is_none() {
                return;
            }
            counts.hit();
            match end {
                End::Reset => reset(socket),
                End::Close => {}
                End::HalfAHead => write(&mut socket, "HTTP/1.1 200 OK\r\ncontent-le").await,
                End::Garbage => write(&mut socket, "\u{1}\u{2}\u{3} what?\r\n\r\n").await,
            }
        })
        .await;
        row(name, &peer.url(), leaf, expected).await;
        assert_eq!(peer.hits(), METHODS.len(), "{name}: each arrives once");
        assert_eq!(expected.sent(), Sent::Maybe);
    }
    let http2 = || builder().protocol(Protocol::Http2).build().unwrap();
    for (name, orderly, expected) in [
        ("HTTP/2 reset", false, FailureKind::Reset),
        ("HTTP/2 closed", true, FailureKind::Reset),
    ] {
        let peer = Peer::raw(move |_, socket, counts| async move {
            let mut frames = Frames::accept(socket, None).await;
            if frames.request().await.is_some() {
                counts.hit();
                let socket = frames.into_socket();
                if !orderly {
                    reset(socket);
                }
            }
        })
        .await;
        row(name, &peer.url(), http2, expected).await;
        assert_eq!(peer.hits(), METHODS.len(), "{name}: each arrives once");
    }
}

#[tokio::test]
async fn a_goaway_without_an_answer_leaves_the_streams_below_it_ambiguous() {
    let peer = Peer::raw(|_, socket, counts| async move {
        let mut frames = Frames::accept(socket, None).await;
        if let Some(stream) = frames.request().await {
            counts.hit();
            frames.go_away(stream, INTERNAL_ERROR).await;
        }
    })
    .await;
    let http2 = || builder().protocol(Protocol::Http2).build().unwrap();
    row(
        "goaway, then closed",
        &peer.url(),
        http2,
        FailureKind::Reset,
    )
    .await;
    assert_eq!(peer.hits(), METHODS.len());
}

#[tokio::test]
async fn a_reset_before_the_request_was_read_is_never_taken_for_more_than_it_is() {
    let peer = Peer::raw(|_, socket, _| async move { reset(socket) }).await;
    let mut bell = Bell::hang().await;
    for _ in 0..20 {
        let leaf = leaf();
        let failed = soon(failure(&leaf, request(&Method::POST, &peer.url()))).await;
        // Whether the client has written before the reset arrives is a race; nothing was read.
        let allowed = [
            FailureKind::Connect,
            FailureKind::Reset,
            FailureKind::Closed,
        ];
        assert!(allowed.contains(&failed), "{failed}");
        bell.ring_and_hear().await;
    }
    assert_eq!(peer.hits(), 0);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_cut_whatever_broke_it() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nthe beginning";
    for abrupt in [false, true] {
        let peer = Peer::raw(move |_, mut socket, counts| async move {
            if read_request(&mut socket).await.is_none() {
                return;
            }
            counts.hit();
            write(&mut socket, head).await;
            if abrupt {
                reset(socket);
            }
        })
        .await;
        // A reset may overtake the headers on their way, so here they are waited for.
        if abrupt {
            let answer = leaf().oneshot(request(&Method::GET, &peer.url())).await;
            if let Ok(answer) = answer {
                let error = soon(answer.into_body().collect()).await.unwrap_err();
                assert_eq!(kind(&error), FailureKind::BodyCut);
            }
        } else {
            row("cut short", &peer.url(), leaf, FailureKind::BodyCut).await;
        }
    }
    let peer = Peer::raw(|_, socket, _| async move {
        let mut frames = Frames::accept(socket, None).await;
        while let Some(stream) = frames.request().await {
            frames.answer(stream, true).await;
            frames.reset(stream, INTERNAL_ERROR).await;
        }
    })
    .await;
    let http2 = || builder().protocol(Protocol::Http2).build().unwrap();
    let leaf = http2();
    let answer = leaf
        .clone()
        .oneshot(request(&Method::GET, &peer.url()))
        .await;
    let error = soon(answer.unwrap().into_body().collect())
        .await
        .unwrap_err();
    assert_eq!(kind(&error), FailureKind::BodyCut);
    assert_eq!(in_flight(&leaf), 0);
}

#[tokio::test]
async fn a_name_is_looked_up_for_every_new_connection() {
    let peer = Peer::hyper(false, |_, _| async { http::Response::default() }).await;
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counting = std::sync::Arc::clone(&asked);
    let resolver = move |_: &str| -> Resolving {
        // First an address where nobody listens, as after a move.
        let last = match counting.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => 2,
            _ => 1,
        };
        let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, last));
        Box::pin(std::future::ready(Ok(vec![address])))
    };
    let leaf = builder().resolver(resolver).build().unwrap();
    let url = format!("http://account.test:{}/", peer.address.port());
    let failed = soon(failure(&leaf, request(&Method::GET, &url))).await;
    assert_eq!(failed, FailureKind::Refused);
    soon(send(&leaf, request(&Method::GET, &url)))
        .await
        .unwrap();
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 2);
}
