//! Layers around the hyper client that a service already has: writes an item, loses the preferred
//! region, reads the item all the same, and prints what happened.
//!
//! ```text
//! cargo run --example quickstart
//! ```

use std::time::Duration;

use cosmos_core::signing::MasterKey;
use cosmos_core::{BoxError, Journal, PartitionKey, requests};
use cosmos_testbed::embedded::{EmbeddedAccount, FaultKind, FaultRule};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use tower::{Service, ServiceBuilder, ServiceExt};
use tower_cosmos::{Account, KeyCredential, ServiceBuilderExt};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    // An account to try things on, in this process. A real one has an endpoint and a key, too.
    let embedded = EmbeddedAccount::builder()
        .regions(["East US", "West US 3", "North Europe"])
        .container("shop", "orders", "/customer", 4)
        .start()
        .await?;
    let credential = KeyCredential::new(MasterKey::from_base64(embedded.key())?);

    // The client stays what it is: any Tower service that sends an `http::Request` will do.
    let client = Client::builder(TokioExecutor::new()).build_http();

    // Which regions there are is read from the account, with the same client, when first needed.
    let account = Account::builder(embedded.endpoint(), credential.clone())
        .preferred_regions(["East US", "West US 3"])
        .build(client.clone())?;

    // From the outside in. `.recommended(account, credential)` is short for these and a few more.
    let mut service = ServiceBuilder::new()
        .operation_timeout(Duration::from_secs(5)) // the caller waits no longer, whatever happens
        .region_failover(account.clone()) // a region fails: on to the next
        .shard_reconnect() // a connection dies: once more over another
        .endpoint(account) // every attempt gets its region here, and its place in the journal
        .signing(credential) // inside, so that each attempt has a fresh date and signature
        .buffer_response() // a body that breaks off is a failed attempt
        .attempt_timeout() // a region that never answers does not use up the whole time
        .service(client);

    let key = PartitionKey::from("customer-7");
    let order = json!({ "id": "42", "customer": "customer-7", "total": 12.5 });
    let write = requests::upsert_item("shop", "orders", &key, order).build()?;
    let written = service.ready().await?.call(write).await?;
    print(&written);

    // From now on the preferred region refuses connections.
    let outage = FaultRule::at("East US", FaultKind::RefuseConnections);
    embedded.faults().set(outage).await?;

    let read = requests::read_item("shop", "orders", "42", &key).build()?;
    let found = service.ready().await?.call(read).await?;
    print(&found);
    let body = found.into_body().collect().await?.to_bytes();
    println!("{}", String::from_utf8_lossy(&body));
    Ok(())
}

/// The journal says what was tried, where, why, and how it ended. It travels with the response.
fn print<B>(response: &http::Response<B>) {
    println!("{}", response.status());
    if let Some(journal) = response.extensions().get::<Journal>() {
        println!("{journal}\n");
    }
}
