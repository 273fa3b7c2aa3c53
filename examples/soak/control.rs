//! The account's control endpoint.

use std::error::Error;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

/// Drives the account.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    base: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Control {
    pub(crate) fn new(base: &str) -> Self {
        // Without a pool: the sockets that this process keeps are the client's.
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build_http();
        let base = base.trim_end_matches('/').to_owned();
        Self { base, client }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, Box<dyn Error>> {
        self.call(Method::GET, path, &Value::Null).await
    }

    pub(crate) async fn set_fault(&self, rule: &Value) -> Result<(), Box<dyn Error>> {
        self.call(Method::POST, "/faults", rule).await.map(drop)
    }

    pub(crate) async fn clear_faults(&self) -> Result<(), Box<dyn Error>> {
        let cleared = self.call(Method::DELETE, "/faults", &Value::Null);
        cleared.await.map(drop)
    }

    /// Moves the account and gives what the move returned.
    pub(crate) async fn make(&self, wanted: &Value) -> Result<Value, Box<dyn Error>> {
        let answer = self.call(Method::POST, "/moves", wanted).await?;
        Ok(answer["result"].clone())
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, Box<dyn Error>> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .body(Full::from(body.to_string()))?;
        let response = self.client.request(request).await?;
        let status = response.status();
        let answer: Value = serde_json::from_slice(&response.collect().await?.to_bytes())?;
        if status.is_success() {
            Ok(answer)
        } else {
            Err(json!({ "asked": body, "answered": answer })
                .to_string()
                .into())
        }
    }
}
