//! A region that cannot be reached is contacted by one trial at a time.

use std::time::Instant;

use bytes::Bytes;
use cosmos_client::{CosmosClient, Protocol};
use cosmos_core::Attempt;
use cosmos_core::signing::MasterKey;
use cosmos_testbed::embedded::{FaultKind, WriteMode};
use cosmos_tests::{KEY, Seen, ms, s};
use http::Response;
use tower_cosmos::KeyCredential;

use crate::harness::{
    A, B, BOTH, INTERVAL, MARK, World, all_succeeded, at, attempts, leaf, limits, mixed, read,
    regions,
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

/// Every contact is a trial, begins after the one before has ended, and a mark's time later.
fn one_trial_at_a_time(contacts: &[Attempt]) {
    for contact in contacts {
        assert!(contact.trial, "{contact}");
    }
    for pair in contacts.windows(2) {
        assert!(
            pair[1].began >= end(&pair[0]) + MARK,
            "{} {}",
            pair[0],
            pair[1]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_refuses_is_not_contacted_while_its_mark_lasts() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world
            .builder(protocol)
            .account(|account| account.mark_duration(s(60)))
            .build()
            .unwrap();
        world.fault(A, FaultKind::RefuseConnections).await;
        let first = world.send(&client, read()).await;
        assert_eq!(
            regions(&first),
            [A, A, B],
            "once more on another connection, then away"
        );
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
        let contacts = contacts(&seen);
        one_trial_at_a_time(&contacts);
        assert!(
            !contacts.is_empty(),
            "no trial within three times the mark's duration"
        );
        world.check();
    }
}

/// Accepting and closing makes contacts visible that a journal might hide.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_accepts_and_closes_at_once_is_contacted_by_trials_alone() {
    for protocol in BOTH {
        let closing = Loopback::closing().await;
        let (client, _servers) = client_between(&closing, protocol).await;
        let first = send(&client).await;
        all_succeeded("first", std::slice::from_ref(&first));
        let before = closing.connections();
        assert!(before > 0);
        let began = tokio::time::Instant::now();
        let mut seen = Vec::new();
        while began.elapsed() < 3 * MARK {
            seen.extend(futures::future::join_all((0..20).map(|_| send(&client))).await);
        }
        all_succeeded("on trial", &seen);
        let contacts = contacts(&seen);
        one_trial_at_a_time(&contacts);
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

/// A client of an account whose first region is `first`, and whose second one works.
async fn client_between(first: &Loopback, protocol: Protocol) -> (CosmosClient, Vec<Loopback>) {
    let second = Loopback::answering(|_| Response::new(Bytes::from_static(b"{}"))).await;
    let text = document(&[(A, &first.endpoint()), (B, &second.endpoint())]);
    let global = Loopback::answering(move |_| Response::new(text.clone())).await;
    let key = KeyCredential::new(MasterKey::from_base64(KEY).unwrap());
    let client = CosmosClient::builder(&global.endpoint(), key)
        .account(|account| {
            account
                .mark_duration(MARK)
                .refresh_interval(INTERVAL)
                .read_timeout(ms(700))
        })
        .leaf(leaf(protocol))
        .layers(|layers| layers.attempt(limits()))
        .build()
        .unwrap();
    (client, vec![global, second])
}

async fn send(client: &CosmosClient) -> Seen {
    let stack = cosmos_tests::boxed(client.clone());
    cosmos_tests::send(&stack, read()).await
}
