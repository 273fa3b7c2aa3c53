//! What is promised of circuits, moved partitions and their lookup, under whatever comes.

mod accounts;
mod circuits;
mod extremes;
mod lookups;
mod moved;
mod odd;

use cosmos_core::OperationOptions;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, Req, read, recommended, with};
use tower_cosmos::RecommendedLayer;
use tower_cosmos::circuit_breaker::Circuits;

const LINK: &str = "dbs/d/colls/c";

fn multi() -> Document {
    Document::multi_write(["A", "B", "C"])
}

/// A lab whose layers are changed, and its circuits.
fn lab_with(
    document: Document,
    change: impl FnOnce(RecommendedLayer) -> RecommendedLayer,
) -> (Lab, Circuits) {
    let mut circuits = None;
    let lab = Lab::around(
        document,
        |account| account,
        |account| {
            let layers = change(recommended(account));
            circuits = Some(layers.circuits());
            layers
        },
    );
    (lab, circuits.unwrap())
}

fn of(range: &str, request: Req) -> Req {
    with(request, OperationOptions::new().partition_key_range(range))
}

fn without(regions: &[&str], range: &str, request: Req) -> Req {
    let options = OperationOptions::new().partition_key_range(range);
    let options = options.exclude_regions(regions.iter().copied()).unwrap();
    with(request, options)
}

/// Ten reads that fail in A trip the circuit there.
async fn trip(lab: &Lab, range: &str) {
    lab.regions.script("A", vec![Step::status(503, 0); 10]);
    for _ in 0..10 {
        assert!(lab.send(of(range, read())).await.status().is_success());
    }
    lab.regions.clear_wire();
}

async fn asked(lab: &Lab, request: Req) -> String {
    lab.regions.clear_wire();
    let _ = lab.send(request).await;
    lab.wire().regions()
}
