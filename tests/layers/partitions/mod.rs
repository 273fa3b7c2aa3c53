//! `PartitionLayer`: which partition an operation is for.

mod lookup;
mod reading;
mod renewal;
mod splits;
mod tokens;

use cosmos_core::{Journal, OperationOptions, RangeId};
use cosmos_testbed::scripted::{Container, Document};
use cosmos_tests::{Lab, Req, read, recommended};
use tower_cosmos::RecommendedLayer;
use tower_cosmos::circuit_breaker::Circuits;

const LINK: &str = "dbs/d/colls/c";

/// The recommended layers, with reads of containers.
fn layers(account: &tower_cosmos::Account) -> RecommendedLayer {
    recommended(account).partition(|layer| layer.enabled(true))
}

/// A lab with a container of one range.
fn lab() -> Lab {
    around(Container::new("rid"))
}

fn around(container: Container) -> Lab {
    let document = Document::multi_write(["A", "B", "C"]);
    let lab = Lab::around(document, |account| account, layers);
    lab.regions.set_container(LINK, container);
    lab
}

/// A lab with a container of one range, and the handle to the circuits.
fn watched() -> (Lab, Circuits) {
    let mut circuits = None;
    let lab = Lab::around(
        Document::multi_write(["A", "B", "C"]),
        |account| account,
        |account| {
            let layers = layers(account);
            circuits = Some(layers.circuits());
            layers
        },
    );
    lab.regions.set_container(LINK, Container::new("rid"));
    (lab, circuits.unwrap())
}

fn split() -> Container {
    Container::new("rid").split("0", "20", ["1", "2"])
}

/// The journal of one more such request.
async fn journal(lab: &Lab, request: Req) -> Journal {
    lab.send(request).await.journal.unwrap()
}

/// The range of one more read.
async fn range(lab: &Lab) -> Option<RangeId> {
    journal(lab, read()).await.range()
}

fn named(range: &str) -> OperationOptions {
    OperationOptions::new().partition_key_range(range)
}
