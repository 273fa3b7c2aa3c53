//! One partition is sick in one region: it alone is served elsewhere, and comes back by one probe.

use cosmos_client::{CosmosClient, Protocol};
use cosmos_core::health::State;
use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultedRequests, WriteMode};
use cosmos_tests::{Req, Seen, ms, s};
use futures::StreamExt;
use tokio::time::timeout;

use crate::harness::{
    A, B, BOTH, World, all_succeeded, at, attempts, breaker, eventually, no_slot_is_left, regions,
    status,
};
use crate::partitions::{Keys, is_of, open, range_of, read_of, requests_at, write_of};

type Case = (WriteMode, fn(&str) -> Req);

/// What fails, where it may fail: reads everywhere, writes where every region accepts them.
const CASES: [Case; 3] = [
    (WriteMode::Single, read_of),
    (WriteMode::Multi, read_of),
    (WriteMode::Multi, write_of),
];

fn requests(keys: &[String], request: fn(&str) -> Req) -> impl Iterator<Item = Req> + use<'_> {
    keys.iter().map(move |key| request(key))
}

async fn all_at(world: &World, client: &CosmosClient, keys: &[String], request: fn(&str) -> Req) {
    let seen = world.send_all(client, requests(keys, request)).await;
    all_succeeded("healthy", &seen);
    for seen in &seen {
        assert_eq!(regions(seen), [A], "{:?}", seen.journal);
    }
}

/// Sends until the circuit of these keys is open.
async fn trip(
    world: &World,
    client: &CosmosClient,
    keys: &[String],
    request: fn(&str) -> Req,
) -> Vec<Seen> {
    let mut all = Vec::new();
    while client.circuits().counters().trips == 0 {
        let seen = world.send_all(client, requests(keys, request)).await;
        all_succeeded("tripping", &seen);
        all.extend(seen);
        assert!(all.len() < 200, "no trip: {:?}", client.circuits().list());
    }
    all
}

async fn is_served_elsewhere(
    kind: FaultKind,
    (mode, request): (WriteMode, fn(&str) -> Req),
    protocol: Protocol,
) {
    let world = World::start(mode).await;
    let client = world.client(protocol);
    let (range, sick, healthy) = Keys::of(&world).await.parted();
    all_at(&world, &client, &sick, request).await;
    all_at(&world, &client, &healthy, request).await;
    let circuits = client.circuits().clone();
    let mut changes = circuits.subscribe();

    let rule = FaultRule::at(A, kind.clone()).range(&*range);
    let fault = world.set(rule).await;
    trip(&world, &client, &sick, request).await;
    let tripped = circuits.list();
    assert!(tripped.iter().any(|circuit| is_of(circuit, &range, A)));

    // Of the sick partition, the region sees probes alone. The others stay. They are asked in turn:
    // a connection that is reset takes the requests of every partition with it.
    let before = (requests_at(&world, A, &sick), circuits.counters().probes);
    for _ in 0..5 {
        let seen = world.send_all(&client, requests(&sick, request)).await;
        all_succeeded(&format!("{kind:?}"), &seen);
        for seen in &seen {
            let attempts = attempts(seen);
            assert!(
                at(&attempts[0], B) || attempts[0].probe,
                "{:?}",
                seen.journal
            );
        }
        all_at(&world, &client, &healthy, request).await;
    }
    let after = (requests_at(&world, A, &sick), circuits.counters().probes);
    assert_eq!(
        after.0 - before.0,
        after.1 - before.1,
        "{kind:?}: probes alone\n{}",
        world.wire()
    );
    assert_eq!(circuits.counters().trips, 1);
    assert_eq!(open(&circuits.list()).len(), 1, "{:?}", circuits.list());

    // Well again: one probe, and everything returns.
    assert!(world.account.faults().clear(fault).await);
    let probes = circuits.counters().probes;
    eventually("the circuit closes", || async {
        let seen = world.send_all(&client, requests(&sick, request)).await;
        all_succeeded("healed", &seen);
        circuits.counters().open == 0
    })
    .await;
    assert_eq!(circuits.counters().probes, probes + 1, "{kind:?}");
    all_at(&world, &client, &sick, request).await;
    all_at(&world, &client, &healthy, request).await;
    let mut states = Vec::new();
    while let Ok(Some(change)) = timeout(ms(1), changes.next()).await {
        assert_eq!(
            change.range.as_ref().map(ToString::to_string),
            Some(range.clone())
        );
        states.push(change.to);
    }
    assert_eq!(states.first(), Some(&State::UnhealthyTentative));
    assert_eq!(states.last(), Some(&State::Healthy));
    no_slot_is_left(&client).await;
    world.check();
}

async fn is_served_elsewhere_in_every_case(kind: FaultKind) {
    let runs = CASES
        .into_iter()
        .flat_map(|case| BOTH.map(|protocol| (case, protocol)));
    futures::stream::iter(runs)
        .for_each_concurrent(3, |(case, protocol)| {
            is_served_elsewhere(kind.clone(), case, protocol)
        })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_that_answers_503_is_served_elsewhere_until_a_probe_succeeds() {
    is_served_elsewhere_in_every_case(status(503, 21008)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_that_hangs_is_served_elsewhere_until_a_probe_succeeds() {
    is_served_elsewhere_in_every_case(FaultKind::Hang).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_that_resets_connections_is_served_elsewhere_until_a_probe_succeeds() {
    is_served_elsewhere_in_every_case(FaultKind::ResetAfterRequest).await;
}

/// Both its children are new: nobody has failed there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_children_of_a_partition_that_splits_while_its_circuit_is_open_start_healthy() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Single).await;
        let client = world
            .builder(protocol)
            .circuit_breaker(breaker().first_wait(s(3600)))
            .build()
            .unwrap();
        let (range, sick, healthy) = Keys::of(&world).await.parted();
        world
            .set(FaultRule::at(A, status(503, 0)).range(&*range))
            .await;
        trip(&world, &client, &sick, read_of).await;
        let moves = world.account.moves();
        let number = range.parse().unwrap();
        moves
            .split_partition("shop", "orders", number, ms(50))
            .await
            .unwrap();
        eventually("the parent's circuit is gone", || async {
            let seen = world.send_all(&client, requests(&sick, read_of)).await;
            all_succeeded("split", &seen);
            let circuits = client.circuits().list();
            !circuits.iter().any(|circuit| is_of(circuit, &range, A))
        })
        .await;
        all_at(&world, &client, &sick, read_of).await;
        all_at(&world, &client, &healthy, read_of).await;
        assert_eq!(client.circuits().counters().probes, 0);
        assert_ne!(range_of(&world, &sick[0]).await, range);
        world.check();
    }
}

/// The caller's patience ends before the client's own, so no attempt ever fails: they are dropped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_that_give_up_after_two_seconds_are_answered_once_a_hanging_region_is_avoided() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Single).await;
        let client = world
            .builder(protocol)
            .circuit_breaker(breaker().first_wait(s(3600)))
            .layers(|layers| layers)
            .build()
            .unwrap();
        let (_, sick, _) = Keys::of(&world).await.parted();
        all_at(&world, &client, &sick, read_of).await;
        let hangs = FaultRule::at(A, FaultKind::Hang).requests(FaultedRequests::Data);
        world.set(hangs).await;
        let call = || async {
            let answer = timeout(s(2), world.send(&client, read_of(&sick[0]))).await;
            answer.is_ok_and(|seen| seen.status().is_success())
        };
        let first = futures::future::join_all((0..10).map(|_| call())).await;
        assert_eq!(first, [false; 10], "the region hangs");
        let circuits = client.circuits();
        assert_eq!(circuits.counters().trips, 1, "{:?}", circuits.list());
        for _ in 0..10 {
            assert!(call().await);
        }
        no_slot_is_left(&client).await;
        world.check();
    }
}
