//! The account that a client gets to itself.

use std::collections::HashSet;
use std::time::Duration;

use cosmos_core::BoxError;
use cosmos_testbed::embedded::{EmbeddedAccount, WriteMode};
use serde_json::json;

/// The region that all clients prefer, and that the faults are in.
pub(super) const PREFERRED: &str = "East US";
/// The regions, in the order in which they are preferred.
pub(super) const REGIONS: [&str; 3] = [PREFERRED, "West US 3", "North Europe"];

pub(super) const DATABASE: &str = "shop";
pub(super) const CONTAINER: &str = "orders";
const PARTITIONS: u32 = 4;

/// How many items there are; each has a logical partition of its own.
pub(super) const ITEMS: u64 = 400;

/// By when an operation has to have ended, whoever performs it.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

/// A seeded account of three regions that all write.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) account: EmbeddedAccount,
    /// The partition that is sick where only one is.
    pub(super) sick: String,
    /// The partition-key headers of what lies in it.
    pub(super) sick_keys: HashSet<String>,
}

impl Scene {
    pub(super) async fn start() -> Result<Self, BoxError> {
        let account = EmbeddedAccount::builder()
            .regions(REGIONS)
            .write_mode(WriteMode::Multi)
            .container(DATABASE, CONTAINER, "/customer", PARTITIONS)
            .start()
            .await?;
        let mut ranges = Vec::new();
        for number in 0..ITEMS {
            let id = item_id(number);
            let key = json!([id]).to_string();
            let item = json!({ "id": id, "customer": id, "revision": 0 });
            account.seed(DATABASE, CONTAINER, &key, &item).await?;
            let range = account.range_of(DATABASE, CONTAINER, &key).await?;
            ranges.push((key, range));
        }
        let sick = ranges.first().map(|(_, range)| range.clone());
        let sick = sick.ok_or("no items")?;
        let sick_keys = ranges.into_iter().filter(|(_, range)| *range == sick);
        Ok(Self {
            account,
            sick_keys: sick_keys.map(|(key, _)| key).collect(),
            sick,
        })
    }
}

/// The id of an item, which is its partition key, too.
pub(super) fn item_id(number: u64) -> String {
    format!("customer-{number:03}")
}
