use std::sync::Arc;

use cosmos_core::headers;
use cosmos_testbed::scripted::{Container, Document, Step};
use cosmos_tests::{Lab, create, ms, read, recommended, s, send};
use parking_lot::Mutex;
use tokio::time::sleep;
use tower_cosmos::ppaf::WriteRegions;

use super::{LINK, asked, of};

fn document() -> Document {
    Document::single_write(["A", "B", "C"]).per_partition_failover(true)
}

fn lab(lookup: bool) -> (Lab, WriteRegions) {
    let memory: Arc<Mutex<Option<WriteRegions>>> = Arc::default();
    let kept = memory.clone();
    let lab = Lab::around(
        document(),
        |account| account,
        move |account| {
            let layers = recommended(account).partition(|layer| layer.enabled(lookup));
            *kept.lock() = Some(layers.write_regions());
            layers
        },
    );
    lab.regions.set_container(LINK, Container::new("rid"));
    let memory = memory.lock().take().unwrap();
    (lab, memory)
}

/// "Forgotten when the range is gone": also if a write that was under way is confirmed afterwards.
#[tokio::test(start_paused = true)]
async fn a_write_under_way_during_a_split_brings_no_gone_range_back() {
    let (lab, memory) = lab(true);
    lab.regions.script("A", [Step::status(403, 3)]);
    assert_eq!(asked(&lab, create()).await, "A B");
    assert_eq!(memory.len(), 1);
    lab.regions.script("B", [Step::status(201, 0).after(s(3))]);
    let stack = lab.stack.clone();
    let slow = tokio::spawn(async move { send(&stack, create()).await.status() });
    sleep(ms(100)).await;
    lab.regions
        .set_container(LINK, Container::new("rid").split("0", "20", ["1", "2"]));
    lab.regions.script("A", [Step::status(410, 1002)]);
    let _ = lab.send(read()).await;
    assert_eq!(memory.len(), 0);
    assert!(slow.await.unwrap().is_success());
    assert_eq!(memory.len(), 0);
}

/// "Forgotten when the container is gone".
#[tokio::test(start_paused = true)]
async fn a_write_under_way_while_the_container_is_made_anew_teaches_nothing_of_the_new_one() {
    let (lab, _) = lab(true);
    lab.regions.script("A", [Step::status(403, 3)]);
    assert_eq!(asked(&lab, create()).await, "A B");
    lab.regions.script(
        "B",
        [Step::status(201, 0)
            .after(s(3))
            .header(headers::CONTENT_PATH, "rid")],
    );
    let stack = lab.stack.clone();
    let slow = tokio::spawn(async move { send(&stack, create()).await.status() });
    sleep(ms(100)).await;
    lab.regions.set_container(LINK, Container::new("anew"));
    lab.regions.script(
        "A",
        [Step::status(200, 0).header(headers::CONTENT_PATH, "anew")],
    );
    let _ = lab.send(read()).await;
    assert!(slow.await.unwrap().is_success());
    assert_eq!(asked(&lab, create()).await, "A");
}

/// The flag goes off and on again while a write is under way.
#[tokio::test(start_paused = true)]
async fn a_flag_that_goes_off_and_on_during_a_write_leaves_nothing() {
    let (lab, memory) = lab(false);
    lab.regions
        .script("A", [Step::status(403, 3), Step::status(403, 3)]);
    lab.regions.script("B", [Step::status(201, 0).after(s(5))]);
    let stack = lab.stack.clone();
    let slow = tokio::spawn(async move { send(&stack, of("0", create())).await.status() });
    sleep(ms(100)).await;
    for flag in [false, true] {
        lab.regions
            .set_document(document().per_partition_failover(flag));
        sleep(ms(2000)).await;
        lab.account.refresh().await;
    }
    let _ = slow.await.unwrap();
    let _ = memory.len();
    lab.regions.clear_wire();
    let seen = lab.send(of("0", create())).await;
    assert!(seen.status().is_success());
}

/// Never more than three generic failovers, even with memory, breaker and a region that is wrong.
#[tokio::test(start_paused = true)]
async fn every_region_forbids_and_there_are_four_attempts() {
    let (lab, _) = lab(false);
    for region in ["A", "B", "C"] {
        lab.regions.script(region, [Step::status(403, 3).forever()]);
    }
    lab.regions.clear_wire();
    let _ = lab.send(of("0", create())).await;
    assert_eq!(lab.wire().len(), 4, "{}", lab.wire());
}

/// A million ids that were made up leave room for a partition that there is.
#[tokio::test(start_paused = true)]
async fn names_of_any_kind_are_remembered_or_not_but_served() {
    let (lab, _) = lab(false);
    let long = "x".repeat(100_000);
    for id in [
        "",
        " ",
        "\u{0}",
        "é",
        "../..",
        "0,1",
        "%00",
        "-1",
        long.as_str(),
    ] {
        lab.regions.script("A", [Step::status(403, 3)]);
        assert_eq!(asked(&lab, of(id, create())).await, "A B", "{id:.10}");
        lab.regions.heal("A");
        let next = asked(&lab, of(id, create())).await;
        assert!(next == "A" || next == "B", "{id:.10} {next}");
    }
}
