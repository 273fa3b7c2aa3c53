//! The account: one container of four partitions, and which keys are in which.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use cosmos_testbed::embedded::{EmbeddedAccount, WriteMode};
use serde_json::json;

/// The regions, in the order in which the client prefers them. The partition is sick in the first.
pub(crate) const REGIONS: [&str; 3] = ["East US", "West US 3", "North Europe"];

pub(crate) const DATABASE: &str = "shop";
pub(crate) const CONTAINER: &str = "orders";

/// How many partition keys there are, with one item each.
const KEYS: u64 = 200;

/// An account whose container has been split, before any client sees it.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) account: Arc<EmbeddedAccount>,
    /// The partition key ranges, the sick one first.
    pub(crate) ranges: Vec<String>,
    /// The range that gets sick.
    pub(crate) sick: String,
    /// The keys, and the range of each as an index into `ranges`.
    pub(crate) keys: Vec<(String, usize)>,
}

impl World {
    pub(crate) async fn start() -> Result<Self, Box<dyn Error>> {
        let account = EmbeddedAccount::builder()
            .regions(REGIONS)
            .write_mode(WriteMode::Multi)
            .container(DATABASE, CONTAINER, "/customer", 2)
            .start()
            .await?;
        let moves = account.moves();
        for partition in 0..2 {
            let lock = Duration::from_millis(1);
            moves
                .split_partition(DATABASE, CONTAINER, partition, lock)
                .await?;
        }
        let mut by_range = BTreeMap::<String, Vec<String>>::new();
        for id in (0..KEYS).map(|number| format!("customer-{number:03}")) {
            let key = header(&id);
            let item = json!({ "id": id, "customer": id, "revision": 0 });
            account.seed(DATABASE, CONTAINER, &key, &item).await?;
            let range = account.range_of(DATABASE, CONTAINER, &key).await?;
            by_range.entry(range).or_default().push(id);
        }
        let ranges: Vec<_> = by_range.keys().cloned().collect();
        let keys = by_range.into_values().enumerate();
        let keys = keys.flat_map(|(range, keys)| keys.into_iter().map(move |key| (key, range)));
        Ok(Self {
            account: Arc::new(account),
            sick: ranges.first().cloned().ok_or("there are no partitions")?,
            ranges,
            keys: keys.collect(),
        })
    }

    /// Whether every request was one that the service would look at: well signed, dated and
    /// addressed.
    pub(crate) fn check(&self) -> Result<(), Box<dyn Error>> {
        match self.account.violations().first() {
            None => Ok(()),
            Some(violation) => Err(violation.detail.clone().into()),
        }
    }
}

/// A partition key as its header is.
pub(crate) fn header(key: &str) -> String {
    json!([key]).to_string()
}
