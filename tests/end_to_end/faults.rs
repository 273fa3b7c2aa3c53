//! A fault in the preferred region, under load: nothing fails, and traffic comes back.

use cosmos_client::Protocol;
use cosmos_testbed::embedded::{FaultKind, FaultRule, WriteMode};
use futures::future::join;

use crate::harness::{
    A, BOTH, World, all_succeeded, for_each_fault, mixed, no_slot_is_left, read, status, upsert,
};

/// How many operations are under way at once.
const LOAD: usize = 40;

async fn keeps_serving_over(protocol: Protocol, kind: FaultKind) {
    let world = World::start(WriteMode::Multi).await;
    let client = world.client(protocol);
    all_succeeded("before", &world.send_all(&client, mixed(4)).await);
    let fault = world.fault(A, kind.clone()).await;
    all_succeeded(
        &format!("{kind:?}"),
        &world.send_all(&client, mixed(LOAD)).await,
    );
    // Once more, now that the region is known to be bad.
    all_succeeded(
        &format!("{kind:?}"),
        &world.send_all(&client, mixed(LOAD)).await,
    );
    assert!(world.account.faults().clear(fault).await);
    world.settles_at(&client, A, read).await;
    world.settles_at(&client, A, || upsert(1)).await;
    all_succeeded("after", &world.send_all(&client, mixed(4)).await);
    no_slot_is_left(&client).await;
    world.check();
}

async fn keeps_serving(kind: FaultKind) {
    let [http1, http2] = BOTH.map(|protocol| keeps_serving_over(protocol, kind.clone()));
    join(http1, http2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unavailable_503() {
    keeps_serving(status(503, 21008)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn internal_error_500() {
    keeps_serving(status(500, 0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timeout_408() {
    keeps_serving(status(408, 0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gone_410() {
    keeps_serving(status(410, 0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resource_unavailable_429_3092() {
    keeps_serving(status(429, 3092)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn account_not_found_403_1008() {
    keeps_serving(status(403, 1008)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_connections() {
    keeps_serving(FaultKind::RefuseConnections).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_reset_after_the_request() {
    keeps_serving(FaultKind::ResetAfterRequest).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_answers() {
    keeps_serving(FaultKind::LoseAnswer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_are_cut_short() {
    keeps_serving(FaultKind::CutBody).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_hang() {
    keeps_serving(FaultKind::Hang).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_shut_down_with_every_answer() {
    keeps_serving(FaultKind::GoAway).await;
}

/// Only writes: a region answers 403/3 to nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_forbidden_403_3() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        all_succeeded("before", &world.send_all(&client, mixed(4)).await);
        let writes = cosmos_testbed::embedded::FaultedRequests::Writes;
        let rule = FaultRule::at(A, status(403, 3)).requests(writes);
        let fault = world.set(rule).await;
        all_succeeded("403/3", &world.send_all(&client, mixed(LOAD)).await);
        assert!(world.account.faults().clear(fault).await);
        world.settles_at(&client, A, || upsert(1)).await;
        world.settles_at(&client, A, read).await;
        no_slot_is_left(&client).await;
        world.check();
    }
}

/// Throttling ends by itself; the caller waits in the region that asked for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throttling_with_a_hint() {
    for mode in [WriteMode::Single, WriteMode::Multi] {
        for protocol in BOTH {
            let world = World::start(mode).await;
            let client = world.client(protocol);
            all_succeeded("before", &world.send_all(&client, mixed(4)).await);
            let throttle = FaultKind::Throttle { retry_after_ms: 20 };
            world.set(FaultRule::at(A, throttle).times(60)).await;
            let seen = world.send_all(&client, mixed(LOAD)).await;
            all_succeeded("throttled", &seen);
            let retries: usize = seen
                .iter()
                .map(|s| s.journal.as_ref().unwrap().retries())
                .sum();
            assert!(retries >= 60, "{retries}");
            no_slot_is_left(&client).await;
            world.check();
            world.check_untouched(crate::harness::B);
        }
    }
}

/// On a single-write account, what may happen anywhere else happens there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_survive_every_fault_of_the_hub_where_one_region_writes() {
    for_each_fault(|kind, protocol| async move {
        // A read is not forbidden by 403/3, and throttling without an end is answered with 429.
        if kind == status(403, 3) || matches!(kind, FaultKind::Throttle { .. }) {
            return;
        }
        let world = World::start(WriteMode::Single).await;
        let client = world.client(protocol);
        all_succeeded("before", &world.send_all(&client, mixed(4)).await);
        let fault = world.fault(A, kind.clone()).await;
        let reads = world.send_all(&client, (0..20).map(|_| read())).await;
        all_succeeded(&format!("{kind:?} over {protocol:?}"), &reads);
        assert!(world.account.faults().clear(fault).await);
        world.settles_at(&client, A, read).await;
        world.check();
    })
    .await;
}
