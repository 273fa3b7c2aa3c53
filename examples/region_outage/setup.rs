//! The account that each client gets, and what the servers counted.

use std::error::Error;

use cosmos_testbed::embedded::EmbeddedAccount;
use serde_json::json;

use crate::options::AccountKind;

/// The region that both clients prefer, that has the hub at first, and that all faults are in.
pub(crate) const HUB: &str = "East US";
/// The region that becomes the hub.
pub(crate) const NEXT_HUB: &str = "West US 3";
/// The regions, in the order in which the stack prefers them.
pub(crate) const REGIONS: [&str; 3] = [HUB, NEXT_HUB, "North Europe"];

pub(crate) const DATABASE: &str = "shop";
pub(crate) const CONTAINER: &str = "orders";
const PHYSICAL_PARTITIONS: u32 = 4;
/// How many items there are; each has a logical partition of its own.
pub(crate) const ITEMS: u64 = 400;

/// One number for each of [`REGIONS`].
pub(crate) type PerRegion = [u64; REGIONS.len()];

/// Starts an account and fills it. Each client gets one of its own, so that the servers' counts
/// tell them apart.
pub(crate) async fn start(kind: AccountKind) -> Result<EmbeddedAccount, Box<dyn Error>> {
    let account = EmbeddedAccount::builder()
        .regions(REGIONS)
        .write_mode(kind.into())
        .container(DATABASE, CONTAINER, "/customer", PHYSICAL_PARTITIONS)
        .start()
        .await?;
    for number in 0..ITEMS {
        let id = item_id(number);
        let item = json!({ "id": id, "customer": id, "revision": 0 });
        let key = json!([id]).to_string();
        account.seed(DATABASE, CONTAINER, &key, &item).await?;
    }
    Ok(account)
}

/// The id of an item, which is its partition key, too.
pub(crate) fn item_id(number: u64) -> String {
    format!("customer-{number:03}")
}

/// The data requests that each region has read so far.
pub(crate) fn data_requests(account: &EmbeddedAccount) -> PerRegion {
    REGIONS.map(|region| account.counts(region).data)
}
