//! The Azure SDK's driver, its transport replaced by the instant account.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;

use azure_core::http::Url;
use azure_core::http::headers::{HeaderName, HeaderValue, Headers};
use azure_data_cosmos_driver::models::{
    AccountReference, ContainerReference, CosmosOperation, ItemReference, PartitionKey,
};
use azure_data_cosmos_driver::options::{ConnectionPoolOptions, DriverOptions, OperationOptions};
use azure_data_cosmos_driver::test::{
    HttpClientConfig, HttpClientFactory, HttpRequest, HttpResponse, TransportClient, TransportError,
};
use azure_data_cosmos_driver::{CosmosDriver, CosmosDriverRuntimeBuilder};
use tokio::runtime::Runtime;

use super::DRIVER;
use crate::cost::Subject;
use crate::documents;

pub(super) fn subject(runtime: &Runtime) -> Subject<'_> {
    let (driver, container) = runtime.block_on(connected());
    Subject::new(DRIVER, move |operations| {
        runtime.block_on(async {
            for _ in 0..operations {
                read(&driver, &container).await;
            }
        });
    })
}

async fn read(driver: &CosmosDriver, container: &ContainerReference) {
    let item = ItemReference::from_name(container, PartitionKey::from("p"), "1".to_owned());
    let response = driver
        .execute_singleton_operation(
            CosmosOperation::read_item(item),
            OperationOptions::default(),
        )
        .await
        .expect("an answer");
    black_box(response.into_body().single().expect("a body"));
}

/// A driver that knows the account and the container, as one has that has run for a while.
async fn connected() -> (Arc<CosmosDriver>, ContainerReference) {
    let runtime = CosmosDriverRuntimeBuilder::new()
        .with_mock_http_client_factory(Arc::new(Instant))
        .build()
        .await
        .expect("a runtime");
    let endpoint = Url::parse(documents::ENDPOINT).expect("a good URL");
    let account = AccountReference::with_account_key(endpoint, documents::KEY);
    let driver = runtime
        .create_driver(DriverOptions::builder(account).build())
        .await
        .expect("a driver");
    let container = driver
        .resolve_container("d", "c", OperationOptions::default())
        .await
        .expect("a container");
    (driver, container)
}

/// Answers at once.
#[derive(Debug)]
struct Instant;

impl HttpClientFactory for Instant {
    fn build(
        &self,
        _: &ConnectionPoolOptions,
        _: HttpClientConfig,
    ) -> azure_data_cosmos_driver::Result<Arc<dyn TransportClient>> {
        Ok(Arc::new(Self))
    }
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, TransportError>> + Send + 'a>>;

// The trait is an `async_trait`; this is the signature that it stands for.
impl TransportClient for Instant {
    fn send<'own, 'request, 'both>(&'own self, request: &'request HttpRequest) -> Answer<'both>
    where
        'own: 'both,
        'request: 'both,
        Self: 'both,
    {
        let path = request.url.path();
        let response = if path.contains("/docs/") {
            item()
        } else {
            let known = HeaderName::from_static("if-none-match");
            metadata(path, request.headers.get_optional_str(&known).is_some())
        };
        Box::pin(std::future::ready(Ok(response)))
    }
}

fn item() -> HttpResponse {
    let mut headers = Headers::new();
    for (name, value) in documents::ANSWER {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    HttpResponse {
        status: 200,
        headers,
        body: documents::ITEM.as_bytes().to_vec(),
    }
}

fn metadata(path: &str, unchanged: bool) -> HttpResponse {
    let (status, text) = documents::metadata(path, unchanged);
    let mut headers = Headers::new();
    headers.insert(
        HeaderName::from_static("etag"),
        HeaderValue::from_static(documents::ETAG),
    );
    HttpResponse {
        status,
        headers,
        body: text.into_bytes(),
    }
}
