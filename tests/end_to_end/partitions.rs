//! What the tests of partitions share: keys by the range that they are in, and what servers saw of them.

use std::collections::BTreeMap;

use cosmos_core::health::{Circuit, State};
use cosmos_core::{PartitionKey, requests};
use cosmos_testbed::embedded::Endpoint;
use cosmos_tests::{Req, Seen};
use serde_json::json;

use crate::harness::{World, named};

/// How many partition keys are spread over the ranges.
const KEYS: usize = 16;

/// The keys of a container, by the range that they are in.
pub(crate) struct Keys(BTreeMap<String, Vec<String>>);

impl Keys {
    /// Fills `shop/orders` with one item of each key.
    pub(crate) async fn of(world: &World) -> Self {
        let mut by_range = BTreeMap::<String, Vec<String>>::new();
        for key in (0..KEYS).map(|number| format!("key{number}")) {
            let item = json!({ "id": "1", "pk": key, "revision": 0 });
            let account = &world.account;
            let header = header(&key);
            let seeded = account.seed("shop", "orders", &header, &item).await;
            seeded.expect("an item");
            let range = range_of(world, &key).await;
            by_range.entry(range).or_default().push(key);
        }
        let keys = Self(by_range);
        assert!(keys.0.len() > 1, "{:?}", keys.0);
        keys
    }

    /// A range, its keys, and the keys of all others.
    pub(crate) fn parted(&self) -> (String, Vec<String>, Vec<String>) {
        let (range, sick) = self.0.first_key_value().expect("a range");
        let others = self.0.values().skip(1).flatten().cloned();
        (range.clone(), sick.clone(), others.collect())
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.values().flatten().cloned().collect()
    }
}

/// A partition key as its header is.
pub(crate) fn header(key: &str) -> String {
    json!([key]).to_string()
}

/// The range that the servers have a key in.
pub(crate) async fn range_of(world: &World, key: &str) -> String {
    let range = world.account.range_of("shop", "orders", &header(key)).await;
    range.expect("a range")
}

pub(crate) fn read_of(key: &str) -> Req {
    let request = requests::read_item("shop", "orders", "1", &PartitionKey::from(key));
    request.build().expect("a good request")
}

pub(crate) fn write_of(key: &str) -> Req {
    revision_of(key, 1)
}

/// A write that a later read can tell from others.
pub(crate) fn revision_of(key: &str, revision: u64) -> Req {
    let item = json!({ "id": "1", "pk": key, "revision": revision });
    let request = requests::upsert_item("shop", "orders", &PartitionKey::from(key), item);
    request.build().expect("a good request")
}

/// The range that an operation was for, as far as its client knew.
pub(crate) fn range(seen: &Seen) -> Option<String> {
    let range = seen.journal.as_ref()?.range()?;
    Some(range.to_string())
}

/// How many data requests with one of these keys a region has read.
pub(crate) fn requests_at(world: &World, region: &str, keys: &[String]) -> u64 {
    let headers: Vec<String> = keys.iter().map(|key| header(key)).collect();
    let log = world.account.wire_log();
    let of_these = log.iter().filter(|entry| {
        let key = entry.partition_key.as_ref();
        entry.endpoint == Endpoint::region(region) && key.is_some_and(|key| headers.contains(key))
    });
    of_these.count() as u64
}

/// The circuits that are not healthy: range and region.
pub(crate) fn open(circuits: &[Circuit]) -> Vec<(String, State)> {
    let open = circuits
        .iter()
        .filter(|circuit| circuit.state != State::Healthy);
    open.map(|circuit| {
        let range = circuit.range.as_ref().map(ToString::to_string);
        (range.unwrap_or_default(), circuit.state)
    })
    .collect()
}

/// Whether the circuit is that of a range in a region.
pub(crate) fn is_of(circuit: &Circuit, range: &str, region: &str) -> bool {
    let own = circuit.range.as_ref().map(ToString::to_string);
    own.as_deref() == Some(range) && circuit.region == named(region)
}
