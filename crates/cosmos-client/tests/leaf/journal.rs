//! What the leaf notes about an attempt, and how it follows the steering.

use std::sync::Arc;

use cosmos_client::Protocol;
use cosmos_core::{AttemptId, Begin, FailureKind, Operation, Phase, Region, Route};
use http::{Method, Response};
use http_body_util::Full;
use parking_lot::Mutex;

use crate::peer::{Bell, OK, Peer, read_request, write};
use crate::{builder, failure, get, leaf, request, send, soon};

/// A route with one attempt begun.
fn route() -> (Route, AttemptId) {
    let now = tokio::time::Instant::now().into_std();
    let mut route = Route::new(Operation::unclassified(&Method::GET), None, now);
    let begin = Begin {
        sequence: 1,
        ..Begin::new(Region::GLOBAL)
    };
    let id = route.begin(now, begin).unwrap();
    route.steering.attempt = Some(id);
    (route, id)
}

#[tokio::test]
async fn shard_and_phase_of_an_attempt_are_in_the_journal() {
    let (route, id) = route();
    let seen = Arc::new(Mutex::new(None));
    let peer = Peer::hyper(false, {
        let (route, seen) = (route.clone(), Arc::clone(&seen));
        move |_, _| {
            *seen.lock() = route.attempt(id).map(|attempt| attempt.phase);
            async { Response::new(Full::from("ok")) }
        }
    })
    .await;
    let mut request = get(&peer.url());
    request.extensions_mut().insert(route.clone());
    assert_eq!(route.attempt(id).unwrap().phase, Phase::Unknown);
    soon(send(&leaf(), request)).await.unwrap();
    let attempt = route.attempt(id).unwrap();
    assert_eq!((attempt.phase, attempt.shard), (Phase::Sent, Some(0)));
    assert_eq!(*seen.lock(), Some(Phase::Sent));
}

#[tokio::test]
async fn an_attempt_without_a_connection_stays_in_the_connecting_phase() {
    let silent = Peer::raw(|_, socket, _| async move {
        let _socket = socket;
        std::future::pending::<()>().await;
    })
    .await;
    let leaf = builder()
        .connect_limit(std::time::Duration::from_millis(100))
        .build()
        .unwrap();
    let (route, id) = route();
    let mut request = get(&silent.https());
    request.extensions_mut().insert(route.clone());
    let failed = soon(failure(&leaf, request)).await;
    assert_eq!(failed, FailureKind::ConnectTimeout);
    assert_eq!(route.attempt(id).unwrap().phase, Phase::Connecting);
}

#[tokio::test]
async fn a_pooled_connection_that_died_does_not_count_as_sent() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let leaf = builder().shards(1, 1).build().unwrap();
    let mut bell = Bell::hang().await;
    let (first, ()) = tokio::join!(send(&leaf, get(&url)), async {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_request(&mut socket).await.unwrap();
        write(&mut socket, OK).await;
    });
    first.unwrap();
    drop(listener);
    bell.ring_and_hear().await;
    // hyper-util finds the pooled connection closed, tries again by itself, and is refused.
    let (route, id) = route();
    let mut request = request(&Method::POST, &url);
    request.extensions_mut().insert(route.clone());
    assert_eq!(soon(failure(&leaf, request)).await, FailureKind::Refused);
    assert_eq!(route.attempt(id).unwrap().phase, Phase::Connecting);
}

#[tokio::test]
async fn a_shard_to_avoid_is_avoided_even_if_it_is_the_only_one() {
    for (initial, max) in [(2, 8), (1, 8), (1, 1)] {
        let peer = Peer::hyper(true, |number, _| async move {
            Response::new(Full::from(number.to_string()))
        })
        .await;
        let leaf = builder()
            .protocol(Protocol::Http2)
            .shards(initial, max)
            .build()
            .unwrap();
        let mut before: Option<u16> = None;
        for call in 0..4 {
            let (mut route, id) = route();
            route.steering.avoid_shard = before;
            let mut request = get(&peer.url());
            request.extensions_mut().insert(route.clone());
            soon(send(&leaf, request)).await.unwrap();
            let shard = route.attempt(id).unwrap().shard;
            assert!(
                shard.is_some() && shard != before,
                "{initial} of {max}, call {call}"
            );
            assert!(leaf.usage().len() <= max);
            before = shard;
        }
        let connections = if max == 1 { 4 } else { 2 };
        assert_eq!(peer.connections(), connections, "{initial} of {max}");
    }
}
