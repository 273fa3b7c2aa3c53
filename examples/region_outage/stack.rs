//! The client with the layers of tower-cosmos, in their recommended order.

use std::error::Error;

use cosmos_client::{CosmosClient, Leaf, Protocol};
use cosmos_core::health::BreakerOptions;
use cosmos_core::signing::MasterKey;
use cosmos_examples::load::DEADLINE;
use cosmos_testbed::EmbeddedAccount;
use tower_cosmos::KeyCredential;

use crate::AVOIDED;
use crate::setup::REGIONS;

/// A client of the account with all layers, over HTTP/2. It is told the global endpoint; the regions
/// it finds out itself.
pub(crate) fn client(account: &EmbeddedAccount) -> Result<CosmosClient, Box<dyn Error>> {
    let credential = KeyCredential::new(MasterKey::from_base64(account.key())?);
    let breaker = BreakerOptions::new().first_wait(AVOIDED).next_wait(AVOIDED);
    let client = CosmosClient::builder(account.endpoint(), credential)
        .preferred_regions(REGIONS)
        .timeout(DEADLINE)
        .account(|account| account.mark_duration(AVOIDED))
        .circuit_breaker(breaker)
        // There is no TLS on loopback to settle on HTTP/2 by.
        .leaf(Leaf::builder().protocol(Protocol::Http2))
        .build()?;
    Ok(client)
}
