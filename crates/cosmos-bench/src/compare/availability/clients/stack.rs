//! The stack: `CosmosClient` with its defaults.

use std::sync::Arc;

use cosmos_client::{CosmosClient, Leaf, Protocol};
use cosmos_core::signing::MasterKey;
use cosmos_core::{BoxError, JournalSlot, OperationOptions, Status};
use tower::ServiceExt;
use tower_cosmos::KeyCredential;

use super::{Answer, Client, Performing, request, root};
use crate::compare::availability::load::Operation;
use crate::compare::availability::scene::{DEADLINE, REGIONS, Scene};

pub(super) fn connect(scene: &Scene) -> Result<Arc<dyn Client>, BoxError> {
    let credential = KeyCredential::new(MasterKey::from_base64(scene.account.key())?);
    let client = CosmosClient::builder(scene.account.endpoint(), credential)
        .preferred_regions(REGIONS)
        .timeout(DEADLINE)
        // There is no TLS on loopback to settle on HTTP/2 by.
        .leaf(Leaf::builder().protocol(Protocol::Http2))
        .build()?;
    Ok(Arc::new(Stack(client)))
}

#[derive(Debug)]
struct Stack(CosmosClient);

impl Client for Stack {
    fn perform(&self, operation: Operation) -> Performing<'_> {
        let client = self.0.clone();
        Box::pin(async move {
            let mut request = match request(operation) {
                Ok(request) => request,
                Err(error) => return Answer::failed(error.to_string()),
            };
            // The slot has the journal however the operation ends.
            let slot = JournalSlot::new();
            let options = OperationOptions::new().journal_slot(&slot);
            request.extensions_mut().insert(options);
            let failure = match client.oneshot(request).await {
                Ok(response) => {
                    let status = Status::of_response(&response);
                    (!status.is_success()).then(|| status.to_string())
                }
                Err(error) => Some(root(&*error)),
            };
            Answer {
                failure,
                journal: slot.journal(),
            }
        })
    }
}
