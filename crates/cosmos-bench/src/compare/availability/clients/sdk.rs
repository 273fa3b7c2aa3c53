//! The Azure SDK, with its defaults.

use std::fmt;
use std::sync::Arc;

use azure_core::credentials::Secret;
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::options::{
    EndToEndOperationLatencyPolicy, OperationOptionsBuilder, Region, RoutingStrategy,
};
use azure_data_cosmos::{AccountEndpoint, AccountReference, CosmosClient, CosmosError};
use cosmos_core::BoxError;

use super::{Answer, Client, Performing, document};
use crate::compare::availability::load::Operation;
use crate::compare::availability::scene::{CONTAINER, DATABASE, DEADLINE, REGIONS, Scene};

pub(super) async fn connect(scene: &Scene) -> Result<Arc<dyn Client>, BoxError> {
    let endpoint: AccountEndpoint = scene.account.endpoint().parse()?;
    let key = Secret::new(scene.account.key().to_owned());
    let account = AccountReference::with_authentication_key(endpoint, key);
    let options = OperationOptionsBuilder::new()
        .with_end_to_end_latency_policy(EndToEndOperationLatencyPolicy::new(DEADLINE))
        .build();
    let regions = REGIONS.map(Region::from).to_vec();
    let client = CosmosClient::builder()
        .with_default_operation_options(options)
        .build(account, RoutingStrategy::PreferredRegions(regions))
        .await?;
    let database = client.database_client(DATABASE);
    let container = database.container_client(CONTAINER, None).await?;
    Ok(Arc::new(Sdk(container)))
}

struct Sdk(ContainerClient);

impl Client for Sdk {
    fn perform(&self, operation: Operation) -> Performing<'_> {
        Box::pin(async move {
            let id = operation.id();
            let answer = if operation.is_write() {
                let item = document(operation);
                self.0.upsert_item(id.clone(), &id, item, None).await
            } else {
                self.0.read_item(id.clone(), &id, None).await
            };
            match answer {
                Ok(_) => Answer::good(),
                Err(error) => Answer::failed(why(&error)),
            }
        })
    }
}

impl fmt::Debug for Sdk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sdk").finish_non_exhaustive()
    }
}

/// The status alone: the text has the activity id and more, different each time.
fn why(error: &CosmosError) -> String {
    format!("{:?}", error.status())
}
