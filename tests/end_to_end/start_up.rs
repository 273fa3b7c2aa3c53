//! Before the regions are known, and while the account document cannot be had.

use std::sync::Arc;

use bytes::Bytes;
use cosmos_client::{CosmosClient, Protocol};
use cosmos_core::signing::MasterKey;
use cosmos_core::{FailureKind, OperationOptions};
use cosmos_testbed::embedded::{Counts, FaultKind, FaultRule, FaultScope, WriteMode};
use cosmos_tests::{KEY, Seen, ms, s, with};
use http::{Response, StatusCode};
use parking_lot::Mutex;
use tokio::time::Instant;
use tower_cosmos::KeyCredential;

use crate::harness::{
    A, ACCOUNT_READ, B, BOTH, SLACK, World, all_succeeded, eventually, for_both, leaf, limits,
    mixed, no_slot_is_left, read, regions,
};
use crate::loopback::{Loopback, document};

const OUTAGES: [FaultKind; 3] = [
    FaultKind::RefuseConnections,
    FaultKind::Hang,
    FaultKind::ResetAfterRequest,
];

fn global(kind: FaultKind) -> FaultRule {
    FaultRule::new(FaultScope::Global, kind)
}

fn everywhere(kind: FaultKind) -> FaultRule {
    FaultRule::new(FaultScope::Everywhere, kind)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_starts_by_a_fallback_endpoint_while_the_global_one_is_out() {
    for kind in OUTAGES {
        let kind = &kind;
        for_both(|protocol| async move {
            let world = World::start(WriteMode::Single).await;
            world.set(global(kind.clone())).await;
            let fallbacks = [B, A].map(|region| world.account.region_endpoint(region).unwrap());
            let client = world
                .builder(protocol)
                .fallback_endpoints(fallbacks)
                .build()
                .unwrap();
            let began = Instant::now();
            all_succeeded("start-up", &world.send_all(&client, mixed(8)).await);
            assert!(
                began.elapsed() < ACCOUNT_READ + SLACK,
                "{kind:?}: {:?}",
                began.elapsed()
            );
            assert_eq!(world.counts(B).account_reads, 1, "{kind:?}");
            world.check();
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_fallback_or_a_deadline_an_outage_at_start_up_is_an_error() {
    for kind in OUTAGES {
        let kind = &kind;
        for_both(|protocol| async move {
            let world = World::start(WriteMode::Single).await;
            let outage = world.set(global(kind.clone())).await;
            let client = world.client(protocol);
            let began = Instant::now();
            for seen in world.send_all(&client, mixed(8)).await {
                assert_eq!(seen.error().kind(), FailureKind::NoTopology, "{kind:?}");
                assert!(seen.error().journal().is_some());
            }
            assert!(
                began.elapsed() < ACCOUNT_READ + SLACK,
                "{kind:?}: {:?}",
                began.elapsed()
            );
            assert_eq!(world.data(), 0);
            // The failure is not kept.
            world.account.faults().clear(outage).await;
            eventually("it starts", || async {
                world.send(&client, read()).await.result.is_ok()
            })
            .await;
            world.check();
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_ends_the_wait_for_the_regions_with_408_20008() {
    for kind in OUTAGES {
        let kind = &kind;
        for_both(|protocol| async move {
            let world = World::start(WriteMode::Single).await;
            world.set(global(kind.clone())).await;
            let client = world.client(protocol);
            let requests =
                mixed(8).map(|request| with(request, OperationOptions::new().timeout(ms(400))));
            let began = Instant::now();
            for seen in world.send_all(&client, requests).await {
                let status = seen.status();
                assert_eq!(
                    (status.code(), status.substatus()),
                    (408, 20008),
                    "{kind:?}"
                );
            }
            let took = began.elapsed();
            assert!(
                (ms(400)..ms(400) + SLACK).contains(&took),
                "{kind:?}: {took:?}"
            );
            assert_eq!(world.data(), 0);
            no_slot_is_left(&client).await;
            world.check();
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operation_waits_for_regions_that_become_known_before_its_deadline() {
    for kind in OUTAGES {
        let kind = &kind;
        for_both(|protocol| async move {
            let world = World::start(WriteMode::Single).await;
            let outage = world.set(global(kind.clone())).await;
            let client = world.client(protocol);
            let requests =
                mixed(8).map(|request| with(request, OperationOptions::new().timeout(s(8))));
            let (seen, ()) = futures::future::join(world.send_all(&client, requests), async {
                tokio::time::sleep(ms(300)).await;
                world.account.faults().clear(outage).await;
            })
            .await;
            all_succeeded("waited", &seen);
            world.check();
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_read_that_fails_everywhere_changes_nothing_for_a_running_client() {
    let kinds = OUTAGES
        .into_iter()
        .chain([crate::harness::status(503, 0), FaultKind::CutBody]);
    for kind in kinds {
        let world = World::start(WriteMode::Single).await;
        let client = world.client(Protocol::Http2);
        world.settles_at(&client, A, read).await;
        let known = client.account().topology().unwrap().generation();
        let reads = cosmos_testbed::embedded::FaultedRequests::AccountReads;
        // Refusing is not for account reads alone, so then the regions still give the document.
        let refuses = kind == FaultKind::RefuseConnections;
        let outage = if refuses {
            global(kind.clone())
        } else {
            everywhere(kind.clone()).requests(reads)
        };
        world.set(outage).await;
        let served = |counts: Counts| counts.account_reads;
        let before = served(world.account.global_counts());
        eventually("the document is asked for", || async {
            client.account().refresh().await;
            refuses || served(world.account.global_counts()) > before
        })
        .await;
        all_succeeded("running", &world.send_all(&client, mixed(8)).await);
        if !refuses {
            assert_eq!(
                client.account().topology().unwrap().generation(),
                known,
                "{kind:?}"
            );
        }
        world.check();
    }
}

type Answer = Arc<Mutex<(StatusCode, Bytes)>>;

/// An account of which every endpoint gives this answer to account reads.
async fn account_that_answers(answer: &Answer) -> Loopback {
    let answer = Arc::clone(answer);
    Loopback::answering(move |path| {
        let (status, body) = match path {
            "/" => answer.lock().clone(),
            _ => (StatusCode::OK, Bytes::from_static(b"{}")),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        response
    })
    .await
}

fn client_of(loopback: &Loopback, protocol: Protocol) -> CosmosClient {
    let key = KeyCredential::new(MasterKey::from_base64(KEY).unwrap());
    CosmosClient::builder(&loopback.endpoint(), key)
        .account(|account| account.refresh_interval(ms(20)).read_timeout(ACCOUNT_READ))
        .leaf(leaf(protocol))
        .layers(|layers| layers.attempt(limits))
        .build()
        .unwrap()
}

async fn send(client: &CosmosClient) -> Seen {
    let stack = cosmos_tests::boxed(client.clone());
    cosmos_tests::send(&stack, read()).await
}

fn unusable(good: &Bytes) -> Vec<(StatusCode, Bytes)> {
    let ok = StatusCode::OK;
    let html = Bytes::from_static(b"<html><body>Service Unavailable</body></html>");
    let blank = document(&[("", "http://127.0.0.1:1/")]);
    vec![
        (StatusCode::SERVICE_UNAVAILABLE, html.clone()),
        // A document that comes with an error is none.
        (StatusCode::SERVICE_UNAVAILABLE, good.clone()),
        (ok, html),
        (ok, good.slice(..good.len() / 2)),
        (ok, Bytes::new()),
        (ok, Bytes::from_static(b"{}")),
        (ok, Bytes::from_static(b"[]")),
        (ok, Bytes::from_static(b"null")),
        (
            ok,
            Bytes::from_static(br#"{"readableLocations":[],"writableLocations":[]}"#),
        ),
        (ok, blank),
    ]
}

#[tokio::test]
async fn an_unusable_document_changes_nothing_and_a_good_one_does_again() {
    for protocol in BOTH {
        let answer = Answer::default();
        let server = account_that_answers(&answer).await;
        let one = document(&[(A, &server.endpoint())]);
        let two = document(&[(B, &server.endpoint()), (A, &server.endpoint())]);
        *answer.lock() = (StatusCode::OK, one.clone());
        let client = client_of(&server, protocol);
        all_succeeded("good", &[send(&client).await]);
        for bad in unusable(&two) {
            let known = client.account().topology().unwrap().generation();
            *answer.lock() = bad.clone();
            let before = server.account_reads();
            eventually("it is read", || async {
                client.account().refresh().await;
                server.account_reads() > before
            })
            .await;
            let seen = send(&client).await;
            assert_eq!(regions(&seen), [A], "{bad:?}");
            assert_eq!(
                client.account().topology().unwrap().generation(),
                known,
                "{bad:?}"
            );
        }
        *answer.lock() = (StatusCode::OK, two);
        eventually("the new document", || async {
            client.account().refresh().await;
            regions(&send(&client).await) == [B]
        })
        .await;
    }
}

#[tokio::test]
async fn an_unusable_document_at_start_up_is_an_error_until_there_is_a_good_one() {
    for protocol in BOTH {
        let answer = Answer::default();
        let server = account_that_answers(&answer).await;
        let good = document(&[(A, &server.endpoint())]);
        let client = client_of(&server, protocol);
        for bad in unusable(&good) {
            *answer.lock() = bad.clone();
            let seen = send(&client).await;
            assert_eq!(seen.error().kind(), FailureKind::NoTopology, "{bad:?}");
        }
        assert_eq!(server.requests(), 0);
        *answer.lock() = (StatusCode::OK, good);
        eventually("it starts", || async { send(&client).await.result.is_ok() }).await;
    }
}
