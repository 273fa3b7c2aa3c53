//! `CircuitBreakerLayer`: a partition that fails in a region is sent elsewhere, it alone.

mod callers;
mod composition;
mod counting;
mod endpoints;
mod last_resort;
mod probes;
mod scope;

use cosmos_core::health::{BreakerSettings, Circuit};
use cosmos_core::{OperationOptions, RangeId, Region};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, Req, create, read, recommended, with};
use tower_cosmos::circuit_breaker::Circuits;

fn lab() -> Lab {
    Lab::new(Document::multi_write(["A", "B", "C"]))
}

fn single() -> Lab {
    Lab::new(Document::single_write(["A", "B", "C"]))
}

/// A lab, and the handle to its circuits.
fn watched(document: Document) -> (Lab, Circuits) {
    let mut circuits = None;
    let lab = Lab::around(
        document,
        |account| account,
        |account| {
            let layers = recommended(account);
            circuits = Some(layers.circuits());
            layers
        },
    );
    (lab, circuits.unwrap())
}

/// A lab whose breaker has other settings.
fn set(settings: BreakerSettings) -> Lab {
    Lab::around(
        Document::multi_write(["A", "B", "C"]),
        |account| account,
        |account| recommended(account).circuit_breaker(|layer| layer.settings(settings)),
    )
}

fn of(range: &str, request: Req) -> Req {
    with(request, OperationOptions::new().partition_key_range(range))
}

fn without(region: &str, range: &str, request: Req) -> Req {
    let options = OperationOptions::new().partition_key_range(range);
    with(request, options.exclude_regions([region]).unwrap())
}

fn times(count: usize, step: &Step) -> Vec<Step> {
    vec![step.clone(); count]
}

/// Reads of a range until its circuit in A has tripped, then none on the wire.
async fn trip(lab: &Lab, range: &str) {
    fail(lab, 10, || of(range, read())).await;
    lab.regions.clear_wire();
}

/// Writes of a range until its circuit in A has tripped, then none on the wire.
async fn trip_by_writes(lab: &Lab, range: &str) {
    fail(lab, 5, || of(range, create())).await;
    lab.regions.clear_wire();
}

/// Requests that fail in A and succeed elsewhere.
async fn fail(lab: &Lab, count: usize, request: impl Fn() -> Req) {
    lab.regions.script("A", times(count, &Step::status(503, 0)));
    for _ in 0..count {
        assert!(lab.send(request()).await.status().is_success());
    }
    lab.regions.heal("A");
}

/// The regions that see one more such request.
async fn asked(lab: &Lab, request: Req) -> String {
    lab.regions.clear_wire();
    let _ = lab.send(request).await;
    lab.wire().regions()
}

/// The circuit of a range in a region.
fn circuit(circuits: &Circuits, range: &str, region: &str) -> Option<Circuit> {
    let (id, region) = (RangeId::new(range), Region::named(region).unwrap());
    let mut list = circuits.list().into_iter();
    list.find(|circuit| circuit.range.as_ref() == Some(&id) && circuit.region == region)
}
