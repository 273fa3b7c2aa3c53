//! Sessions and throttling: a lagging region, and request units that run out.

use cosmos_client::Protocol;
use cosmos_core::{Reason, Status, requests};
use cosmos_testbed::embedded::{Outcome, WriteMode};
use cosmos_tests::{Req, ms, s};
use serde_json::json;

use crate::harness::{
    A, B, World, all_succeeded, attempts, eventually, for_both, key, read, regions, upsert,
};

fn create(id: &str) -> Req {
    let item = json!({ "id": id, "pk": "p" });
    requests::create_item("shop", "orders", &key(), item)
        .build()
        .expect("a good request")
}

fn read_item(id: &str) -> Req {
    requests::read_item("shop", "orders", id, &key())
        .build()
        .expect("a good request")
}

#[tokio::test]
async fn a_client_reads_what_it_wrote_although_its_region_lags_behind() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Single).await;
        // B is preferred, and A is the hub: what A has written is not in B.
        let client = world
            .builder(protocol)
            .preferred_regions([B, A])
            .build()
            .unwrap();
        all_succeeded("before", &[world.send(&client, read()).await]);
        world.account.moves().pause_replication(B).unwrap();
        for n in 0..5 {
            let id = format!("new{n}");
            all_succeeded("the write", &[world.send(&client, create(&id)).await]);
            let seen = world.send(&client, read_item(&id)).await;
            assert_eq!(regions(&seen), [B, A], "{:?}", seen.journal);
            assert_eq!(attempts(&seen)[1].reason, Reason::Session);
            all_succeeded("the read", &[seen]);
        }
        world.account.moves().resume_replication(B).await.unwrap();
        eventually("B has caught up", || async {
            regions(&world.send(&client, read_item("new4")).await) == [B]
        })
        .await;
        world.check();
    })
    .await;
}

#[tokio::test]
async fn a_multi_write_account_answers_a_session_from_another_region() {
    for_both(|protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let writer = world.client(protocol);
        let reader = world
            .builder(protocol)
            .preferred_regions([B, A])
            .build()
            .unwrap();
        all_succeeded("before", &[world.send(&reader, read()).await]);
        world.account.moves().pause_replication(B).unwrap();
        let written = world.send(&writer, upsert(7)).await;
        let token = written.result.as_ref().unwrap().headers()["x-ms-session-token"].clone();
        let mut request = read_item("u7");
        request.headers_mut().insert("x-ms-session-token", token);
        let seen = world.send(&reader, request).await;
        assert_eq!(regions(&seen)[..2], [B, A], "{:?}", seen.journal);
        all_succeeded("the read", &[seen]);
        world.check();
    })
    .await;
}

#[tokio::test]
async fn a_region_that_always_lags_is_surfaced_once_the_budget_is_spent() {
    let world = World::start(WriteMode::Single).await;
    let client = world.client(Protocol::Http2);
    for region in [A, B, crate::harness::C] {
        world
            .account
            .moves()
            .session_not_available(region, true)
            .unwrap();
    }
    let seen = world.send(&client, read()).await;
    assert_eq!(seen.status(), Status::READ_SESSION_NOT_AVAILABLE);
    assert_eq!(regions(&seen), [A, A, A]);
    world.check();
}

#[tokio::test]
async fn request_units_that_run_out_are_waited_for_as_the_service_says() {
    let world = World::with(|account| account.throughput(400)).await;
    let client = world.client(Protocol::Http2);
    let began = tokio::time::Instant::now();
    let mut seen = Vec::new();
    let throttled = || {
        let log = world.account.wire_log();
        log.iter()
            .any(|entry| matches!(entry.outcome, Outcome::Answered { status: 429, .. }))
    };
    // More than a second's worth, so that the container has to say no.
    while !throttled() && began.elapsed() < s(8) {
        seen.extend(world.send_all(&client, (0..100).map(upsert)).await);
        tokio::time::sleep(ms(1)).await;
    }
    assert!(throttled(), "the container never said no");
    all_succeeded("writes", &seen);
    let waited = seen.iter().any(|seen| {
        attempts(seen)
            .iter()
            .any(|attempt| attempt.reason == Reason::Throttle)
    });
    assert!(waited, "no operation waited");
    assert_eq!(world.counts(B).data, 0, "throttling moves nothing");
    world.check();
}
