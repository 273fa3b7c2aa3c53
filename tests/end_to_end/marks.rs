//! A region that cannot be reached is contacted by one trial at a time.

use std::time::{Duration, Instant};

use bytes::Bytes;
use cosmos_client::{CosmosClient, CosmosClientBuilder, Protocol};
use cosmos_core::signing::MasterKey;
use cosmos_core::{Attempt, FailureKind, Outcome};
use cosmos_testbed::embedded::{FaultKind, WriteMode};
use cosmos_tests::{KEY, Seen, ms, s};
use futures::future::join_all;
use http::{Response, StatusCode};
use tower_cosmos::KeyCredential;

use crate::harness::{
    A, B, BOTH, INTERVAL, MARK, SLACK, World, all_succeeded, at, attempts, breaker, eventually,
    leaf, limits, mixed, no_slot_is_left, read, regions,
};
use crate::loopback::{Loopback, document};

/// The attempts at A, in the order in which they began.
fn contacts(seen: &[Seen]) -> Vec<Attempt> {
    let mut contacts: Vec<_> = seen
        .iter()
        .flat_map(attempts)
        .filter(|attempt| at(attempt, A))
        .collect();
    contacts.sort_by_key(|attempt| attempt.sequence);
    contacts
}

fn end(attempt: &Attempt) -> Instant {
    attempt.began + attempt.duration.unwrap()
}

/// Every contact is a trial or a probe, and begins after the one before has ended: a mark's (or a
/// circuit's) time later, unless that one had reached the region, which leaves its mark as it was.
fn one_at_a_time(contacts: &[Attempt]) {
    for contact in contacts {
        assert!(contact.trial || contact.probe, "{contact}");
    }
    for pair in contacts.windows(2) {
        let unreachable = matches!(pair[0].outcome, Outcome::Failed(kind) if kind.is_unreachable());
        let pause = if unreachable || pair[0].probe {
            MARK
        } else {
            Duration::ZERO
        };
        assert!(
            pair[1].began >= end(&pair[0]) + pause,
            "{:?} {:?}",
            pair[0],
            pair[1]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_refuses_is_not_contacted_while_its_mark_lasts() {
    for (protocol, lookup) in with_and_without_lookup() {
        let world = World::start(WriteMode::Multi).await;
        let client = world
            .builder(protocol)
            .partition_lookup(lookup)
            .account(|account| account.mark_duration(s(60)))
            .build()
            .unwrap();
        world.fault(A, FaultKind::RefuseConnections).await;
        let first = world.send(&client, read()).await;
        if lookup {
            assert_eq!(regions(&first), [B], "the lookup has found out");
        } else {
            let expected = [A, A, B];
            assert_eq!(regions(&first), expected, "another connection, then away");
        }
        for _ in 0..5 {
            let seen = world.send_all(&client, mixed(40)).await;
            all_succeeded("marked", &seen);
            assert!(contacts(&seen).is_empty());
        }
        world.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_refuses_is_tried_by_one_request_at_a_time() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        world.fault(A, FaultKind::RefuseConnections).await;
        all_succeeded("first", &[world.send(&client, read()).await]);
        let began = tokio::time::Instant::now();
        let mut seen = Vec::new();
        while began.elapsed() < 3 * MARK {
            seen.extend(world.send_all(&client, mixed(40)).await);
        }
        all_succeeded("on trial", &seen);
        // Each failure asks for the account document; the interval bounds what comes of it.
        let reads = world.account.global_counts().account_reads;
        let intervals = began.elapsed().as_millis() / INTERVAL.as_millis();
        assert!(u128::from(reads) <= intervals + 2, "{reads} account reads");
        let contacts = contacts(&seen);
        one_at_a_time(&contacts);
        assert!(
            !contacts.is_empty(),
            "no trial within three times the mark's duration"
        );
        world.check();
    }
}

/// Accepting and closing makes contacts visible that a journal might hide. The region can be reached,
/// so what keeps requests away is the circuit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_accepts_and_closes_at_once_is_contacted_by_one_request_at_a_time() {
    for protocol in BOTH {
        let closing = Loopback::closing().await;
        let (client, _servers) = client_between(&closing, protocol, |client| client).await;
        let mut first = send(&client).await;
        while at(&attempts(&first)[0], A) {
            all_succeeded("first", std::slice::from_ref(&first));
            first = send(&client).await;
        }
        let before = closing.connections();
        assert!(before > 0);
        let began = tokio::time::Instant::now();
        let mut seen = Vec::new();
        while began.elapsed() < 3 * MARK {
            seen.extend(join_all((0..20).map(|_| send(&client))).await);
        }
        all_succeeded("on trial", &seen);
        let contacts = contacts(&seen);
        one_at_a_time(&contacts);
        assert!(!contacts.is_empty());
        // A trial opens one connection. The first failure may have left one that it did not use.
        let opened = closing.connections() - before;
        assert!(
            opened <= contacts.len() as u64 + 1,
            "{opened} connections in {} trials",
            contacts.len()
        );
    }
}

#[tokio::test]
async fn a_region_that_drops_connects_costs_one_connect_limit_and_is_then_avoided() {
    for (protocol, lookup) in with_and_without_lookup() {
        let black_hole = Loopback::black_hole().await;
        let (client, _servers) = client_between(&black_hole, protocol, |client| {
            client
                .partition_lookup(lookup)
                .leaf(leaf(protocol).connect_limit(ms(300)))
                .account(|account| account.mark_duration(s(60)))
        })
        .await;
        let began = tokio::time::Instant::now();
        let first = send(&client).await;
        all_succeeded("first", std::slice::from_ref(&first));
        let took = began.elapsed();
        assert!((ms(300)..ms(300) + SLACK).contains(&took), "{took:?}");
        if lookup {
            assert_eq!(regions(&first), [B], "the lookup has found out");
        } else {
            assert_eq!(regions(&first), [A, B]);
            let failed = attempts(&first)[0].outcome;
            assert_eq!(failed, Outcome::Failed(FailureKind::ConnectTimeout));
        }
        assert_eq!(regions(&send(&client).await), [B]);
    }
}

/// Failed answers that are long neither pile up on their connections nor cost new ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_answers_with_long_bodies_keep_their_connections_usable() {
    for protocol in BOTH {
        let failing = Loopback::answering(|_| {
            let mut response = Response::new(Bytes::from(vec![b'x'; 1024 * 1024]));
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response
        })
        .await;
        let (client, _servers) = client_between(&failing, protocol, |client| {
            // A circuit would leave the region to its probes.
            client
                .circuit_breaker(breaker().enabled(false))
                .account(|account| account.mark_duration(ms(1)))
        })
        .await;
        let began = tokio::time::Instant::now();
        eventually("sixty failures", || async {
            let seen = join_all((0..5).map(|_| send(&client))).await;
            all_succeeded("503", &seen);
            failing.requests() >= 60
        })
        .await;
        // Shards that are suspected make room for new ones, up to eight, and one a second is
        // replaced; each has a connection or two. Without reuse there would be sixty.
        let seconds = began.elapsed().as_secs();
        let most = 2 * (8 + 1 + seconds);
        assert!(
            failing.connections() <= most,
            "{} of {most}",
            failing.connections()
        );
        no_slot_is_left(&client).await;
    }
}

fn with_and_without_lookup() -> impl Iterator<Item = (Protocol, bool)> {
    BOTH.into_iter()
        .flat_map(|protocol| [true, false].map(|lookup| (protocol, lookup)))
}

/// A client of an account whose first region is `first`, and whose second one works.
async fn client_between(
    first: &Loopback,
    protocol: Protocol,
    settings: impl FnOnce(CosmosClientBuilder) -> CosmosClientBuilder,
) -> (CosmosClient, Vec<Loopback>) {
    let second = Loopback::answering(|_| Response::new(Bytes::from_static(b"{}"))).await;
    let text = document(&[(A, &first.endpoint()), (B, &second.endpoint())]);
    let global = Loopback::answering(move |_| Response::new(text.clone())).await;
    let key = KeyCredential::new(MasterKey::from_base64(KEY).unwrap());
    let client = CosmosClient::builder(&global.endpoint(), key)
        .account(|account| account.mark_duration(MARK).refresh_interval(INTERVAL))
        .circuit_breaker(breaker())
        .leaf(leaf(protocol))
        .layers(|layers| layers.attempt(limits));
    (settings(client).build().unwrap(), vec![global, second])
}

async fn send(client: &CosmosClient) -> Seen {
    let stack = cosmos_tests::boxed(client.clone());
    cosmos_tests::send(&stack, read()).await
}
