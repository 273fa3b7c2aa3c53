//! With discovery off, the given host is the only one.

use cosmos_core::OperationOptions;
use cosmos_testbed::embedded::WriteMode;
use cosmos_tests::{ms, with};
use futures::future::join_all;

use crate::harness::{A, B, C, World, all_succeeded, for_each_fault, mixed};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_discovery_only_the_given_host_is_contacted_under_every_fault() {
    for_each_fault(|kind, protocol| async move {
        let world = World::start(WriteMode::Single).await;
        let given = world.account.region_endpoint(A).unwrap();
        let client = world
            .builder_at(&given, protocol)
            .account(|account| account.discovery(false))
            .build()
            .unwrap();
        // Past the world's books, in which the one host of this client is the global endpoint.
        let stack = cosmos_tests::boxed(client.clone());
        let send = |request| cosmos_tests::send(&stack, request);
        all_succeeded("healthy", &join_all(mixed(8).map(send)).await);
        world.fault(A, kind).await;
        let limited = |request| with(request, OperationOptions::new().timeout(ms(800)));
        join_all(mixed(12).map(limited).map(send)).await;
        client.account().refresh().await;
        for region in [B, C] {
            world.check_untouched(region);
        }
        assert_eq!(world.account.global_counts().connections, 0);
        assert_eq!(world.counts(A).account_reads, 0);
        let violations = world.account.violations();
        assert!(violations.is_empty(), "{violations:#?}");
    })
    .await;
}
