//! HTTP/2: GOAWAY, refused streams, connections that die silently.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cosmos_client::{Leaf, Protocol};
use cosmos_core::{FailureKind, Sent};
use futures::future::join_all;
use http::Method;
use tokio::sync::{Notify, mpsc};

use crate::frames::{Frames, INTERNAL_ERROR, NO_ERROR, REFUSED_STREAM};
use crate::peer::{Bell, Peer};
use crate::{builder, failure, get, in_flight, kind, request, send, soon};

/// One shard over HTTP/2 with prior knowledge.
fn one_shard() -> Leaf {
    let settings = builder().protocol(Protocol::Http2).shards(1, 1);
    settings.build().unwrap()
}

#[tokio::test]
async fn above_the_last_stream_of_a_goaway_nothing_was_processed_below_it_all_finish() {
    for code in [NO_ERROR, INTERNAL_ERROR] {
        let peer = Peer::raw(move |_, socket, counts| async move {
            let mut frames = Frames::accept(socket, None).await;
            for _ in 0..6 {
                frames.request().await.unwrap();
            }
            frames.go_away(5, code).await;
            for stream in [1, 3, 5] {
                counts.hit();
                frames.answer(stream, false).await;
            }
            frames.request().await;
        })
        .await;
        let leaf = one_shard();
        let calls = (0..6).map(|_| send(&leaf, request(&Method::POST, &peer.url())));
        let answers = soon(join_all(calls)).await;
        let failed: Vec<_> = answers
            .iter()
            .filter_map(|answer| answer.as_ref().err())
            .collect();
        assert_eq!(failed.len(), 3, "{answers:?}");
        for error in failed {
            assert_eq!(kind(error), FailureKind::NotProcessed);
            assert_eq!(kind(error).sent(), Sent::No);
        }
        assert_eq!(in_flight(&leaf), 0);
    }
}

#[tokio::test]
async fn a_draining_connection_takes_no_new_stream() {
    let (go_away, going_away) = mpsc::channel::<()>(1);
    let (gone, mut was_sent) = mpsc::channel::<()>(1);
    let finish = Arc::new(Notify::new());
    let finishing = Arc::clone(&finish);
    let late = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&late);
    let going_away = Arc::new(tokio::sync::Mutex::new(going_away));
    let peer = Peer::raw(move |number, socket, counts| {
        let (going_away, gone) = (Arc::clone(&going_away), gone.clone());
        let (finishing, late) = (Arc::clone(&finishing), Arc::clone(&counting));
        async move {
            let mut frames = Frames::accept(socket, None).await;
            if number > 0 {
                while let Some(stream) = frames.request().await {
                    counts.hit();
                    frames.answer(stream, false).await;
                }
                return;
            }
            let long = frames.request().await.unwrap();
            counts.hit();
            going_away.lock().await.recv().await;
            frames.go_away(long, NO_ERROR).await;
            gone.send(()).await.unwrap();
            loop {
                tokio::select! {
                    stream = frames.request() => match stream {
                        Some(_) => { late.fetch_add(1, Ordering::SeqCst); }
                        None => return,
                    },
                    () = finishing.notified() => frames.answer(long, false).await,
                }
            }
        }
    })
    .await;
    let leaf = one_shard();
    let mut bell = Bell::hang().await;
    let long = tokio::spawn({
        let (leaf, url) = (leaf.clone(), peer.url());
        async move { send(&leaf, get(&url)).await }
    });
    soon(
        peer.counts
            .until(|counts| counts.hits.load(Ordering::SeqCst) == 1),
    )
    .await;
    go_away.send(()).await.unwrap();
    soon(was_sent.recv()).await.unwrap();
    bell.ring_and_hear().await;
    let calls = (0..19).map(|_| send(&leaf, get(&peer.url())));
    let answers = soon(join_all(calls)).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(peer.connections(), 2);
    assert!(!long.is_finished());
    finish.notify_one();
    assert!(soon(long).await.unwrap().is_ok());
    assert_eq!(late.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn connections_that_went_away_are_closed() {
    let peer = Peer::raw(|_, socket, counts| async move {
        let mut frames = Frames::accept(socket, None).await;
        let stream = frames.request().await.unwrap();
        counts.hit();
        frames.answer(stream, false).await;
        frames.go_away(stream, NO_ERROR).await;
        while frames.request().await.is_some() {}
    })
    .await;
    let leaf = builder()
        .protocol(Protocol::Http2)
        .shards(2, 2)
        .build()
        .unwrap();
    let mut bell = Bell::hang().await;
    for round in 1..=100 {
        soon(send(&leaf, get(&peer.url()))).await.unwrap();
        assert_eq!(peer.hits(), round);
        bell.ring_and_hear().await;
    }
    let open = |counts: &crate::peer::Counts| counts.open.load(Ordering::SeqCst);
    soon(peer.counts.until(|counts| open(counts) <= 3)).await;
}

#[tokio::test]
async fn a_refused_stream_was_not_processed_any_other_reset_may_have_been() {
    for (code, expected) in [
        (REFUSED_STREAM, FailureKind::NotProcessed),
        (INTERNAL_ERROR, FailureKind::Reset),
    ] {
        let peer = Peer::raw(move |_, socket, counts| async move {
            let mut frames = Frames::accept(socket, None).await;
            while let Some(stream) = frames.request().await {
                counts.hit();
                frames.reset(stream, code).await;
            }
        })
        .await;
        let leaf = one_shard();
        for method in [Method::GET, Method::POST] {
            let failed = soon(failure(&leaf, request(&method, &peer.url()))).await;
            assert_eq!(failed, expected, "{method}");
        }
        assert_eq!((peer.hits(), peer.connections()), (2, 1));
    }
}

#[tokio::test]
async fn a_connection_that_does_not_answer_pings_is_given_up() {
    let peer = Peer::raw(|_, socket, counts| async move {
        let mut frames = Frames::accept(socket, None).await;
        frames.alive = false;
        while frames.request().await.is_some() {
            counts.hit();
        }
    })
    .await;
    let ping = Duration::from_millis(100);
    let leaf = builder()
        .protocol(Protocol::Http2)
        .shards(1, 1)
        .http2_pings(ping, ping)
        .build()
        .unwrap();
    let began = tokio::time::Instant::now();
    let calls = (0..5).map(|_| failure(&leaf, get(&peer.url())));
    let kinds = soon(join_all(calls)).await;
    assert_eq!(kinds, [FailureKind::Closed; 5]);
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(peer.hits(), 5);
}

#[tokio::test]
async fn waiting_for_a_stream_of_a_busy_connection_is_a_pool_limit() {
    let peer = Peer::raw(|_, socket, counts| async move {
        let mut frames = Frames::accept(socket, Some(1)).await;
        while let Some(stream) = frames.request().await {
            counts.hit();
            if stream == 1 {
                frames.answer(stream, false).await;
            }
        }
    })
    .await;
    let leaf = builder()
        .protocol(Protocol::Http2)
        .shards(1, 1)
        .connect_limit(Duration::from_millis(300))
        .build()
        .unwrap();
    // The first call learns the server's limit.
    soon(send(&leaf, get(&peer.url()))).await.unwrap();
    let mut held = Vec::new();
    for _ in 0..2 {
        let (leaf, url) = (leaf.clone(), peer.url());
        held.push(tokio::spawn(async move { send(&leaf, get(&url)).await }));
    }
    soon(
        peer.counts
            .until(|counts| counts.hits.load(Ordering::SeqCst) == 2),
    )
    .await;
    let failed = soon(failure(&leaf, get(&peer.url()))).await;
    assert_eq!(failed, FailureKind::PoolLimit);
    for call in held {
        call.abort();
    }
}
