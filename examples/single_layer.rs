//! One layer alone: waiting for a region that throttles, around a service of any sort.
//!
//! Layers are independent. The one that handles 429 asks for nothing but [`EndpointLayer`] below it,
//! which chooses the region of each attempt and keeps the journal.
//!
//! ```text
//! cargo run --example single_layer
//! ```

use cosmos_core::signing::MasterKey;
use cosmos_core::{BoxError, Journal, PartitionKey, requests};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use tower::{ServiceBuilder, ServiceExt};
use tower_cosmos::{Account, EndpointLayer, KeyCredential, ThrottleRetryLayer};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    // Stands for the service's own client. It does what a script says: here, East US throttles
    // twice, and says for how many milliseconds. After its script, a region answers well.
    let client = ScriptedAccount::new(Document::single_write(["East US", "West US 3"]));
    let throttled = |hint| Step::status(429, 3200).hint(hint);
    client.script("East US", [throttled("200"), throttled("50")]);

    // Reading which regions there are has to be signed, although no layer here signs anything.
    let key = KeyCredential::new(MasterKey::from_base64("c2VjcmV0")?);
    let account = Account::new(ScriptedAccount::ENDPOINT, key, client.clone())?;

    let service = ServiceBuilder::new()
        // Waits exactly as long as it is told, then asks the same region again. Settings differ from
        // the defaults by setters; what is not set stays as the retry specification has it.
        .layer(ThrottleRetryLayer::new().max_retries(3))
        .layer(EndpointLayer::new(account))
        .service(client.clone());

    let order = PartitionKey::from("customer-7");
    let request = requests::read_item("shop", "orders", "42", &order).build()?;
    let response = service.oneshot(request).await?;

    // The caller sees one answer ...
    println!("the caller: {}\n", response.status());
    // ... the journal says how it came about ...
    if let Some(journal) = response.extensions().get::<Journal>() {
        println!("the journal:\n{journal}\n");
    }
    // ... and the regions saw three requests, as far apart as they had asked for.
    println!("the regions:\n{}", client.wire());
    Ok(())
}
