//! The client with the layers of tower-cosmos, in their recommended order.

use std::error::Error;

use bytes::Bytes;
use cosmos_client::{CosmosClient, Leaf, Protocol};
use cosmos_core::signing::MasterKey;
use cosmos_core::{JournalSlot, OperationOptions};
use cosmos_testbed::EmbeddedAccount;
use http::Request;
use http_body_util::Full;
use tokio::time::Instant;
use tower::ServiceExt;
use tower_cosmos::KeyCredential;

use crate::MARK_DURATION;
use crate::client::{Answer, Client};
use crate::load::DEADLINE;
use crate::setup::REGIONS;

/// A client with all layers, over HTTP/2.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    client: CosmosClient,
}

impl Stack {
    /// A client of the account. It is told the global endpoint; the regions it finds out itself.
    pub(crate) fn new(account: &EmbeddedAccount) -> Result<Self, Box<dyn Error>> {
        let credential = KeyCredential::new(MasterKey::from_base64(account.key())?);
        let client = CosmosClient::builder(account.endpoint(), credential)
            .preferred_regions(REGIONS)
            .timeout(DEADLINE)
            .account(|account| account.mark_duration(MARK_DURATION))
            // There is no TLS on loopback to settle on HTTP/2 by.
            .leaf(Leaf::builder().protocol(Protocol::Http2))
            .build()?;
        Ok(Self { client })
    }
}

impl Client for Stack {
    async fn perform(&self, mut request: Request<Full<Bytes>>, deadline: Instant) -> Answer {
        // The slot has the journal however the operation ends.
        let slot = JournalSlot::new();
        let options = OperationOptions::new()
            .deadline(deadline.into_std())
            .journal_slot(&slot);
        request.extensions_mut().insert(options);
        let result = self.client.clone().oneshot(request).await;
        Answer::of(&result).with_journal(slot.journal())
    }
}
