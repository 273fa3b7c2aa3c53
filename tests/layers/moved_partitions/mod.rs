//! `PpafLayer`: writes find the region that a partition has moved to, and go there from then on.

mod account;
mod following;
mod learning;

use cosmos_core::OperationOptions;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, Req, create, recommended, s, with};
use tower_cosmos::ppaf::WriteRegions;

fn document() -> Document {
    Document::single_write(["A", "B", "C"]).per_partition_failover(true)
}

/// A lab without jitter around an account that moves partitions, and what is remembered of them.
fn lab() -> (Lab, WriteRegions) {
    let mut memory = None;
    let lab = Lab::around(
        document(),
        |account| account,
        |account| {
            recommended(account).ppaf(|layer| {
                memory = Some(layer.write_regions());
                layer
            })
        },
    );
    (lab, memory.unwrap())
}

fn of(range: &str, request: Req) -> Req {
    with(request, OperationOptions::new().partition_key_range(range))
}

/// The regions that see one more such request.
async fn asked(lab: &Lab, request: Req) -> String {
    lab.regions.clear_wire();
    let _ = lab.send(request).await;
    lab.wire().regions()
}

/// A range's partition has moved to B, and a write has found it there.
async fn moved(lab: &Lab, range: &str) {
    lab.regions.script("A", [Step::status(403, 3)]);
    assert_eq!(asked(lab, of(range, create())).await, "A B");
    assert_eq!(asked(lab, of(range, create())).await, "B");
}

/// The account is another one from now on, and known to be.
async fn becomes(lab: &Lab, document: Document) {
    lab.regions.set_document(document);
    tokio::time::sleep(s(6)).await;
    lab.account.refresh().await;
}
