//! Slots: never more than the limits, never lost.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use cosmos_client::{Leaf, Protocol};
use cosmos_core::FailureKind;
use futures::future::join_all;
use http::Response;
use http_body_util::{BodyExt, Full};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::peer::Peer;
use crate::{builder, failure, get, in_flight, send, soon};

/// A server that holds every request until its gate has a permit for it, and counts how many a
/// connection had at most.
struct Gated {
    peer: Peer,
    gate: Arc<Semaphore>,
    peaks: Arc<Mutex<HashMap<usize, (usize, usize)>>>,
}

impl Gated {
    async fn new(http2: bool) -> Self {
        let gate = Arc::new(Semaphore::new(0));
        let peaks = Arc::new(Mutex::new(HashMap::<usize, (usize, usize)>::new()));
        let peer = Peer::hyper(http2, {
            let (gate, peaks) = (Arc::clone(&gate), Arc::clone(&peaks));
            move |connection, _| {
                let (gate, peaks) = (Arc::clone(&gate), Arc::clone(&peaks));
                {
                    let mut peaks = peaks.lock();
                    let (now, peak) = peaks.entry(connection).or_default();
                    *now += 1;
                    *peak = (*peak).max(*now);
                }
                async move {
                    gate.acquire().await.unwrap().forget();
                    peaks.lock().get_mut(&connection).unwrap().0 -= 1;
                    Response::new(Full::from("ok"))
                }
            }
        })
        .await;
        Self { peer, gate, peaks }
    }

    async fn hits(&self, hits: usize) {
        let counts = &self.peer.counts;
        soon(counts.until(|counts| counts.hits.load(Ordering::SeqCst) >= hits)).await;
    }
}

fn spawn_calls(leaf: &Leaf, url: &str, calls: usize) -> Vec<tokio::task::JoinHandle<bool>> {
    let call = || {
        let (leaf, url) = (leaf.clone(), url.to_owned());
        tokio::spawn(async move { send(&leaf, get(&url)).await.is_ok() })
    };
    (0..calls).map(|_| call()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_calls_at_once_stay_within_every_limit() {
    let server = Gated::new(true).await;
    let leaf = builder().protocol(Protocol::Http2).build().unwrap();
    let calls = spawn_calls(&leaf, &server.peer.url(), 200);
    // Nobody waits as long as a shard may be added: 8 shards of 20 are busy at the same time.
    server.hits(160).await;
    let usage: Vec<_> = leaf.usage().iter().map(|shard| shard.in_flight).collect();
    assert_eq!(usage, [20; 8]);
    assert_eq!(server.peer.hits(), 160);
    server.gate.add_permits(200);
    let answered = soon(join_all(calls)).await;
    assert!(answered.into_iter().all(Result::unwrap));
    assert_eq!(in_flight(&leaf), 0);
    assert!(
        server
            .peaks
            .lock()
            .values()
            .all(|(now, peak)| *now == 0 && *peak <= 20)
    );
    // A shard may connect twice if a call comes between its connection and the pool.
    let connections = server.peer.connections();
    assert!((8..=16).contains(&connections), "{connections}");
}

#[tokio::test]
async fn sixty_calls_use_three_connections() {
    let server = Gated::new(true).await;
    let leaf = builder().protocol(Protocol::Http2).build().unwrap();
    let calls = spawn_calls(&leaf, &server.peer.url(), 60);
    server.hits(60).await;
    assert_eq!(server.peer.connections(), 3);
    server.gate.add_permits(60);
    assert!(soon(join_all(calls)).await.into_iter().all(Result::unwrap));
}

#[tokio::test]
async fn a_body_holds_its_slot_until_it_has_ended_or_is_dropped() {
    let peer = Peer::hyper(true, |_, _| async { Response::new(Full::from("ok")) }).await;
    let leaf = builder()
        .protocol(Protocol::Http2)
        .shards(1, 1)
        .streams(2)
        .connect_limit(Duration::from_millis(200))
        .build()
        .unwrap();
    let first = soon(leaf.clone().oneshot(get(&peer.url()))).await.unwrap();
    let second = soon(leaf.clone().oneshot(get(&peer.url()))).await.unwrap();
    assert_eq!(in_flight(&leaf), 2);
    let failed = soon(failure(&leaf, get(&peer.url()))).await;
    assert_eq!(failed, FailureKind::PoolLimit);
    drop(first);
    assert_eq!(in_flight(&leaf), 1);
    let mut body = second.into_body();
    while soon(body.frame()).await.is_some() {}
    assert_eq!(in_flight(&leaf), 0);
    soon(send(&leaf, get(&peer.url()))).await.unwrap();
}

#[tokio::test]
async fn waiters_are_served_in_the_order_in_which_they_came() {
    let server = Gated::new(false).await;
    let leaf = builder().shards(1, 1).streams(1).build().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let url = server.peer.url();
    let calls = (0..10).map(|call| {
        let (leaf, order, url) = (&leaf, &order, &url);
        async move {
            send(leaf, get(url)).await.unwrap();
            order.lock().push(call);
        }
    });
    server.gate.add_permits(10);
    soon(join_all(calls)).await;
    assert_eq!(*order.lock(), (0..10).collect::<Vec<_>>());
}

/// Drops a call after this many polls, or its body after this many frames.
async fn abandon(leaf: Leaf, url: String, point: usize) {
    let mut polls = 0;
    let call = leaf.oneshot(get(&url));
    let answer = {
        let mut call = pin!(call);
        std::future::poll_fn(|cx| {
            if polls == point {
                return Poll::Ready(None);
            }
            polls += 1;
            call.as_mut().poll(cx).map(Some)
        })
        .await
    };
    let Some(Ok(answer)) = answer else { return };
    if !point.is_multiple_of(3) {
        let _ = answer.into_body().frame().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slots_come_back_wherever_a_call_is_dropped() {
    for (http2, calls) in [(true, 10_000), (false, 2_000)] {
        let peer = Peer::hyper(http2, |_, _| async {
            tokio::task::yield_now().await;
            Response::new(Full::from("x".repeat(100)))
        })
        .await;
        let protocol = [Protocol::Http1, Protocol::Http2][usize::from(http2)];
        // All of them wait for slots at once: on a busy machine longer than by default.
        let settings = builder().connect_limit(Duration::from_secs(60));
        let leaf = settings.protocol(protocol).build().unwrap();
        let answered = Arc::new(AtomicUsize::new(0));
        let tasks = (0..calls).map(|call: usize| {
            let (leaf, url, answered) = (leaf.clone(), peer.url(), Arc::clone(&answered));
            tokio::spawn(async move {
                if call.is_multiple_of(2) {
                    abandon(leaf, url, call / 2 % 7).await;
                } else {
                    send(&leaf, get(&url)).await.unwrap();
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            })
        });
        let tasks = join_all(tasks);
        let ended = tokio::time::timeout(Duration::from_secs(60), tasks).await;
        assert!(ended.expect("it hangs").iter().all(Result::is_ok));
        assert_eq!(answered.load(Ordering::SeqCst), calls / 2, "http2: {http2}");
        let usage = leaf.usage();
        assert!(usage.iter().all(|shard| shard.in_flight == 0), "{usage:?}");
        assert!(usage.len() <= 8);
    }
}

#[tokio::test]
async fn the_least_recently_used_idle_authority_gives_way() {
    let server = Gated::new(false).await;
    let leaf = builder().authorities(2).build().unwrap();
    let url = |host: &str| format!("http://{host}:{}/", server.peer.address.port());
    let hosts = |leaf: &Leaf| {
        let mut hosts: Vec<_> = leaf
            .usage()
            .into_iter()
            .map(|shard| shard.authority)
            .collect();
        hosts.sort();
        hosts.dedup();
        hosts.len()
    };
    let held = spawn_calls(&leaf, &url("127.0.0.1"), 1);
    server.hits(1).await;
    // The second place goes from one idle authority to the next.
    for host in ["[::1]", "127.0.0.2", "127.0.0.3"] {
        let _ = soon(failure(&leaf, get(&url(host)))).await;
        assert_eq!(hosts(&leaf), 2);
    }
    let two = builder().authorities(1).build().unwrap();
    let busy = spawn_calls(&two, &url("127.0.0.1"), 1);
    server.hits(2).await;
    let failed = soon(failure(&two, get(&url("127.0.0.2")))).await;
    assert_eq!(failed, FailureKind::PoolLimit);
    server.gate.add_permits(2);
    for call in held.into_iter().chain(busy) {
        assert!(soon(call).await.unwrap());
    }
}

#[tokio::test]
async fn a_closed_client_fails_at_once_and_lets_its_connections_go() {
    let server = Gated::new(false).await;
    let leaf = builder().shards(1, 1).streams(1).build().unwrap();
    let under_way = spawn_calls(&leaf, &server.peer.url(), 1);
    server.hits(1).await;
    let waiting = tokio::spawn({
        let (leaf, url) = (leaf.clone(), server.peer.url());
        async move { failure(&leaf, get(&url)).await }
    });
    tokio::task::yield_now().await;
    leaf.clone().close();
    assert_eq!(soon(waiting).await.unwrap(), FailureKind::ClientClosed);
    let failed = soon(failure(&leaf, get(&server.peer.url()))).await;
    assert_eq!(failed, FailureKind::ClientClosed);
    assert!(leaf.usage().is_empty());
    // What was under way ends well, and its connection is not kept.
    server.gate.add_permits(1);
    for call in under_way {
        assert!(soon(call).await.unwrap());
    }
    let counts = &server.peer.counts;
    soon(counts.until(|counts| counts.open.load(Ordering::SeqCst) == 0)).await;
    leaf.close();
}

#[test]
fn the_leaf_and_its_parts_go_where_they_are_needed() {
    use cosmos_client::leaf::{ResponseBody, ResponseFuture};
    static_assertions::assert_impl_all!(Leaf: Send, Sync, Clone, std::fmt::Debug);
    static_assertions::assert_impl_all!(ResponseFuture: Send);
    static_assertions::assert_impl_all!(ResponseBody: Send, Unpin);
}
