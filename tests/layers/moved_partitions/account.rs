//! The account changes under the memory.

use cosmos_core::OperationOptions;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, Req, always, boxed, create, recommended, s, send, with};
use tower::{Layer, ServiceExt, service_fn};
use tower_cosmos::{BufferLayer, EndpointLayer, PpafLayer};

use super::{asked, becomes, document, lab, moved, of};

#[tokio::test(start_paused = true)]
async fn the_flag_is_followed_while_the_client_runs() {
    let lab = Lab::new(document().per_partition_failover(false));
    for _ in 0..2 {
        lab.regions.script("A", [Step::status(503, 0)]);
        assert_eq!(asked(&lab, of("0", create())).await, "A A", "off");
        becomes(&lab, document()).await;
        moved(&lab, "0").await;
        becomes(&lab, document().per_partition_failover(false)).await;
        assert_eq!(asked(&lab, of("0", create())).await, "A", "off again");
        becomes(&lab, document()).await;
        assert_eq!(asked(&lab, of("0", create())).await, "A", "and forgotten");
        moved(&lab, "0").await;
        becomes(&lab, document().per_partition_failover(false)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_whose_every_region_takes_writes_has_nothing_to_remember() {
    let (lab, memory) = lab();
    moved(&lab, "0").await;
    let all = Document::multi_write(["A", "B", "C"]);
    becomes(&lab, all.per_partition_failover(true)).await;
    assert!(memory.is_empty());
    assert_eq!(asked(&lab, of("0", create())).await, "A");
    becomes(&lab, document()).await;
    assert_eq!(asked(&lab, of("0", create())).await, "A");
}

/// Found by the simulation: where partitions cannot move, nobody asks for what is remembered, and
/// it stayed.
#[tokio::test(start_paused = true)]
async fn an_account_that_is_left_with_one_region_has_nothing_to_remember() {
    let (lab, memory) = lab();
    moved(&lab, "0").await;
    let one = Document::single_write(["A"]);
    becomes(&lab, one.per_partition_failover(true)).await;
    assert!(memory.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_failover_of_the_whole_account_supersedes_what_is_remembered() {
    let (lab, memory) = lab();
    moved(&lab, "0").await;
    becomes(&lab, document().writable(["C"])).await;
    assert!(memory.is_empty());
    assert_eq!(asked(&lab, of("0", create())).await, "C");
}

#[tokio::test(start_paused = true)]
async fn a_region_that_joins_changes_nothing() {
    let (lab, _) = lab();
    moved(&lab, "0").await;
    let larger = Document::single_write(["A", "B", "C", "D"]);
    becomes(&lab, larger.per_partition_failover(true)).await;
    assert_eq!(asked(&lab, of("0", create())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn a_remembered_region_that_leaves_the_account_is_not_asked() {
    let (lab, _) = lab();
    moved(&lab, "0").await;
    let smaller = Document::single_write(["A", "C"]);
    becomes(&lab, smaller.per_partition_failover(true)).await;
    assert_eq!(asked(&lab, of("0", create())).await, "A");
    lab.regions.script("A", [Step::status(403, 3)]);
    assert_eq!(asked(&lab, of("0", create())).await, "A C");
}

#[tokio::test(start_paused = true)]
async fn a_write_under_way_while_the_account_fails_over_brings_nothing_back() {
    let (lab, memory) = lab();
    lab.regions.script("A", [Step::status(403, 3)]);
    let slow = Step::status(201, 0).after(cosmos_tests::s(8));
    lab.regions.script("B", [slow]);
    let request = cosmos_core::OperationOptions::new().partition_key_range("0");
    let layers = recommended(&lab.account).attempt(|layer| layer.data(cosmos_tests::s(20)));
    let stack = cosmos_tests::boxed(tower::Layer::layer(&layers, lab.regions.clone()));
    let write = cosmos_tests::send(&stack, cosmos_tests::with(create(), request));
    let (seen, ()) = tokio::join!(write, becomes(&lab, document().writable(["C"])));
    assert!(seen.status().is_success());
    assert!(memory.is_empty());
    assert_eq!(asked(&lab, of("0", create())).await, "C");
}

#[tokio::test(start_paused = true)]
async fn switched_off_every_write_goes_to_the_hub() {
    let lab = Lab::around(
        document(),
        |account| account,
        |account| recommended(account).ppaf(|layer| layer.enabled(false)),
    );
    lab.regions.script("A", always(503, 0));
    assert_eq!(asked(&lab, of("0", create())).await, "A A A A");
}

#[tokio::test(start_paused = true)]
async fn an_account_that_gets_a_second_region_may_have_moved_a_write_that_waits() {
    let single = Document::single_write(["A"]).per_partition_failover(true);
    let lab = Lab::with(single, |account| account.refresh_interval(s(1)));
    lab.account.refresh().await;
    let attempt = BufferLayer::new().layer(lab.regions.clone());
    let attempt = boxed(EndpointLayer::new(lab.account.clone()).layer(attempt));
    let waiting = service_fn(move |request: Req| {
        let attempt = attempt.clone();
        async move {
            tokio::time::sleep(s(3)).await;
            attempt.oneshot(request).await
        }
    });
    let stack = boxed(PpafLayer::new(lab.account.clone()).layer(waiting));
    let options = OperationOptions::new().partition_key_range("0");
    let write = with(create(), options.exclude_regions(["B"]).unwrap());
    let (write, ()) = tokio::join!(send(&stack, write), async {
        tokio::time::sleep(s(2)).await;
        // B is the hub now, and excluded; but the partition may be in A.
        let two = Document::single_write(["B", "A"]).per_partition_failover(true);
        lab.regions.set_document(two);
        lab.account.refresh().await;
    });
    assert_eq!(write.status().code(), 201);
    assert_eq!(lab.wire().regions(), "A");
}
