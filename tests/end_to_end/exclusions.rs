//! Excluded regions are not contacted, whatever happens elsewhere.

use cosmos_client::CosmosClient;
use cosmos_core::{FailureKind, OperationOptions};
use cosmos_testbed::embedded::{FaultKind, WriteMode};
use cosmos_tests::{Req, ms, with};

use crate::harness::{
    A, B, BOTH, C, World, all_succeeded, at, attempts, for_each_fault, mixed, read, regions,
    status, upsert,
};

fn excluding(request: Req, names: &[&str]) -> Req {
    let options = OperationOptions::new().exclude_regions(names).unwrap();
    with(request, options)
}

/// A fault in every region that is left. What becomes of the operations does not matter here.
async fn is_left_alone(
    world: &World,
    client: &CosmosClient,
    kind: &FaultKind,
    per_operation: bool,
) {
    for region in [B, C] {
        world.fault(region, kind.clone()).await;
    }
    let requests = mixed(12).map(|request| {
        if per_operation {
            excluding(request, &[A])
        } else {
            request
        }
    });
    world.send_all(client, requests).await;
    world.check();
    world.check_untouched(A);
}

async fn an_excluded_region_is_left_alone(per_operation: bool) {
    for_each_fault(|kind, protocol| async move {
        let world = World::start(WriteMode::Multi).await;
        let client = world.builder(protocol).timeout(ms(800));
        let client = if per_operation {
            client
        } else {
            client.excluded_regions(["eastus"])
        };
        is_left_alone(&world, &client.build().unwrap(), &kind, per_operation).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_the_client_excludes_is_left_alone_under_every_fault_elsewhere() {
    an_excluded_region_is_left_alone(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_that_the_operation_excludes_is_left_alone_under_every_fault_elsewhere() {
    an_excluded_region_is_left_alone(true).await;
}

#[tokio::test]
async fn the_regions_that_are_left_are_used_in_their_order() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world
            .builder(protocol)
            .excluded_regions([A])
            .build()
            .unwrap();
        all_succeeded("healthy", &world.send_all(&client, mixed(8)).await);
        world.fault(B, status(503, 0)).await;
        let seen = world.send_all(&client, mixed(8)).await;
        all_succeeded("503", &seen);
        assert!(
            seen.iter()
                .all(|seen| at(attempts(seen).last().unwrap(), C))
        );
        world.check();
        world.check_untouched(A);
    }
}

#[tokio::test]
async fn with_every_region_excluded_one_request_goes_to_the_last_resort() {
    // The hub, although it is not preferred; the first preferred write region.
    for (mode, last_resort) in [(WriteMode::Single, A), (WriteMode::Multi, C)] {
        for (kind, protocol) in [
            None,
            Some(status(503, 0)),
            Some(FaultKind::ResetAfterRequest),
        ]
        .into_iter()
        .flat_map(|kind| BOTH.map(|protocol| (kind.clone(), protocol)))
        {
            let world = World::start(mode).await;
            let client = world
                .builder(protocol)
                .preferred_regions([C, B])
                .build()
                .unwrap();
            if let Some(kind) = &kind {
                for region in [A, B, C] {
                    world.fault(region, kind.clone()).await;
                }
            }
            for request in [read(), upsert(1)] {
                let before = world.data();
                let seen = world.send(&client, excluding(request, &[A, B, C])).await;
                assert_eq!(regions(&seen), [last_resort]);
                assert_eq!(world.data(), before + 1, "{kind:?}\n{}", world.wire());
                match &kind {
                    None => assert!(seen.status().is_success()),
                    Some(FaultKind::Status { .. }) => assert_eq!(seen.status().code(), 503),
                    Some(_) => assert_eq!(seen.error().sent(), cosmos_core::Sent::Maybe),
                }
            }
            world.check();
        }
    }
}

#[tokio::test]
async fn with_every_region_excluded_strictly_nothing_is_sent() {
    for protocol in BOTH {
        let world = World::start(WriteMode::Multi).await;
        let client = world.client(protocol);
        for request in [read(), upsert(1), crate::harness::read_container()] {
            let options = OperationOptions::new()
                .exclude_regions([A, B, C])
                .unwrap()
                .strict_exclusions(true);
            let seen = world.send(&client, with(request, options)).await;
            assert_eq!(seen.error().kind(), FailureKind::Excluded);
            assert!(attempts(&seen).is_empty());
        }
        world.check();
        for region in [A, B, C] {
            world.check_untouched(region);
        }
    }
}
