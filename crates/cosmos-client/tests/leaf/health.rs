//! Sick and old connections: suspected, replaced, never a dead end.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cosmos_client::leaf::Resolving;
use cosmos_client::{Leaf, Protocol};
use http::{Response, StatusCode};
use http_body_util::Full;
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::peer::Peer;
use crate::{builder, get, send, soon};

async fn status(leaf: &Leaf, url: &str) -> StatusCode {
    soon(leaf.clone().oneshot(get(url)))
        .await
        .expect("an answer")
        .status()
}

/// A server whose first connection answers 503 to everything, and all others 200.
async fn first_connection_sick(http2: bool) -> Peer {
    Peer::hyper(http2, |connection, _| async move {
        let mut response = Response::new(Full::from("answer"));
        if connection == 0 {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        }
        response
    })
    .await
}

#[tokio::test]
async fn the_next_request_leaves_a_connection_that_answered_with_a_server_error() {
    let server = first_connection_sick(true).await;
    let leaf = builder()
        .protocol(Protocol::Http2)
        .shards(1, 2)
        .build()
        .unwrap();
    assert_eq!(status(&leaf, &server.url()).await, 503);
    for _ in 0..20 {
        assert_eq!(status(&leaf, &server.url()).await, 200);
    }
}

#[tokio::test]
async fn an_only_shard_is_replaced_after_three_failures_in_a_row() {
    let server = first_connection_sick(true).await;
    let leaf = builder()
        .protocol(Protocol::Http2)
        .shards(1, 1)
        .build()
        .unwrap();
    for _ in 0..3 {
        assert_eq!(status(&leaf, &server.url()).await, 503);
    }
    for _ in 0..10 {
        assert_eq!(status(&leaf, &server.url()).await, 200);
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn an_endpoint_that_fails_is_not_flooded_with_connections() {
    let server = Peer::hyper(true, |_, _| async {
        let mut response = Response::new(Full::from("no"));
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response
    })
    .await;
    let leaf = builder()
        .protocol(Protocol::Http2)
        .shards(2, 4)
        .build()
        .unwrap();
    let began = tokio::time::Instant::now();
    for _ in 0..200 {
        assert_eq!(status(&leaf, &server.url()).await, 503);
    }
    let seconds = usize::try_from(began.elapsed().as_secs()).unwrap();
    assert!(
        server.connections() <= 4 + 1 + seconds,
        "{}",
        server.connections()
    );
    assert!(leaf.usage().len() <= 4);
}

#[tokio::test]
async fn after_all_connections_were_killed_the_first_or_second_call_succeeds() {
    let server = Peer::hyper(true, |_, _| async { Response::new(Full::from("ok")) }).await;
    let leaf = builder()
        .protocol(Protocol::Http2)
        .shards(4, 4)
        .build()
        .unwrap();
    let url = server.url();
    let calls = (0..40).map(|_| status(&leaf, &url));
    assert!(
        futures::future::join_all(calls)
            .await
            .iter()
            .all(|status| *status == 200)
    );
    let address = server.address;
    drop(server);
    let listener = loop {
        match TcpListener::bind(address).await {
            Ok(listener) => break listener,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let server = Peer::hyper_on(listener, true, |_, _| async {
        Response::new(Full::from("ok"))
    });
    let first = soon(send(&leaf, get(&server.url()))).await;
    let second = soon(send(&leaf, get(&server.url()))).await;
    assert!(first.is_ok() || second.is_ok());
    assert!(leaf.usage().len() <= 4);
}

#[tokio::test]
async fn a_thousand_failed_connects_leave_no_more_shards_than_allowed() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let leaf = builder().shards(2, 8).build().unwrap();
    let url = format!("http://{address}/dbs");
    for _ in 0..20 {
        let calls = (0..50).map(|_| send(&leaf, get(&url)));
        assert!(
            futures::future::join_all(calls)
                .await
                .iter()
                .all(Result::is_err)
        );
    }
    assert!(leaf.usage().len() <= 8);
    assert!(leaf.usage().iter().all(|shard| shard.in_flight == 0));
}

#[tokio::test]
async fn a_name_is_looked_up_again_when_a_shard_has_got_old() {
    let old = Peer::hyper(true, |_, _| async { Response::new(Full::from("old")) }).await;
    // The same port at another address.
    let listener = TcpListener::bind(("127.0.0.2", old.address.port()))
        .await
        .unwrap();
    let new = Peer::hyper_on(listener, true, |_, _| async {
        Response::new(Full::from("new"))
    });
    let look_ups = AtomicUsize::new(0);
    let resolver = move |_: &str| -> Resolving {
        let first = look_ups.fetch_add(1, Ordering::SeqCst) == 0;
        let address = if first {
            [127, 0, 0, 1]
        } else {
            [127, 0, 0, 2]
        };
        Box::pin(std::future::ready(Ok(vec![IpAddr::from(address)])))
    };
    let leaf = builder()
        .protocol(Protocol::Http2)
        .shards(1, 1)
        .max_age(Duration::from_millis(200))
        .resolver(resolver)
        .build()
        .unwrap();
    let url = format!("http://account.test:{}/dbs", old.address.port());
    let mut failed = 0;
    soon(async {
        while new.hits() == 0 {
            failed += usize::from(send(&leaf, get(&url)).await.is_err());
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(failed, 0);
    assert!(old.hits() > 0);
}
