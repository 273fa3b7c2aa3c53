//! A hyper client below the layers of tower-cosmos, in their recommended order.

use std::error::Error;

use bytes::Bytes;
use cosmos_client::{Leaf, Protocol};
use cosmos_core::signing::MasterKey;
use cosmos_core::{JournalSlot, OperationOptions};
use cosmos_testbed::EmbeddedAccount;
use http::Request;
use http_body_util::Full;
use tokio::time::Instant;
use tower::{Layer, ServiceExt};
use tower_cosmos::{Account, KeyCredential, Recommended, RecommendedLayer};

use crate::MARK_DURATION;
use crate::client::{Answer, Client};
use crate::load::DEADLINE;
use crate::setup::REGIONS;

/// A client with all layers, over HTTP/2.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    service: Recommended<Leaf>,
}

impl Stack {
    /// A client of the account. It is told the global endpoint; the regions it finds out itself.
    pub(crate) fn new(embedded: &EmbeddedAccount) -> Result<Self, Box<dyn Error>> {
        let credential = KeyCredential::new(MasterKey::from_base64(embedded.key())?);
        let leaf = Leaf::builder().protocol(Protocol::Http2).build()?;
        let account = Account::builder(embedded.endpoint(), credential.clone())
            .preferred_regions(REGIONS)
            .mark_duration(MARK_DURATION)
            .build(leaf.clone())?;
        let layers = RecommendedLayer::new(account, credential).timeout(DEADLINE);
        Ok(Self {
            service: layers.layer(leaf),
        })
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
        let result = self.service.clone().oneshot(request).await;
        Answer::of(&result).with_journal(slot.journal())
    }
}
