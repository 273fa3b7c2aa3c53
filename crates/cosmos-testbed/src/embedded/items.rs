//! The store's items, reached past the wire: nothing here is verified, counted or met by a fault.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::account::EmbeddedAccount;
use super::endpoint::Endpoint;
use super::engine::{Answer, Ask};

/// The store did not take or give an item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// The account never had a region of this name.
    #[error("the account has no region {0:?}")]
    UnknownRegion(String),
    /// The partition-key header is not one.
    #[error("{0:?} is no partition-key header")]
    PartitionKey(String),
    /// The store answered with an error.
    #[error("the store answered {status}: {body}")]
    Store {
        /// The HTTP status.
        status: u16,
        /// The answer's body.
        body: String,
    },
}

impl EmbeddedAccount {
    /// Puts an item into every region's store, except those to which replication is paused.
    ///
    /// The partition key is written as its header is, `["a"]`.
    ///
    /// # Errors
    ///
    /// If the store does not take the item.
    pub async fn seed(
        &self,
        database: &str,
        container: &str,
        partition_key: &str,
        item: &Value,
    ) -> Result<(), ItemError> {
        let mut headers = headers(partition_key)?;
        let upsert = HeaderValue::from_static("true");
        headers.insert("x-ms-documentdb-is-upsert", upsert);
        let ask = Ask {
            method: Method::POST,
            path_and_query: format!("{}/docs", path(database, container)),
            headers,
            body: item.to_string().into(),
        };
        self.ask(&self.hub(), ask).await?;
        self.moves().replicated().await;
        Ok(())
    }

    /// The item that a region's store holds, if it does.
    ///
    /// # Errors
    ///
    /// If the region is unknown or does not answer.
    pub async fn stored(
        &self,
        region: &str,
        database: &str,
        container: &str,
        partition_key: &str,
        id: &str,
    ) -> Result<Option<Value>, ItemError> {
        let id = utf8_percent_encode(id, NON_ALPHANUMERIC);
        let ask = Ask {
            method: Method::GET,
            path_and_query: format!("{}/docs/{id}", path(database, container)),
            headers: headers(partition_key)?,
            body: Bytes::new(),
        };
        match self.ask(region, ask).await {
            Ok(body) => Ok(serde_json::from_slice(&body).ok()),
            Err(ItemError::Store { status: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The partition key range that a logical partition lies in now, as the hub has it.
    ///
    /// # Errors
    ///
    /// If there is no such container, or the partition-key header is malformed.
    pub async fn range_of(
        &self,
        database: &str,
        container: &str,
        partition_key: &str,
    ) -> Result<String, ItemError> {
        let mut headers = headers(partition_key)?;
        headers.insert("x-ms-max-item-count", HeaderValue::from_static("1"));
        let ask = Ask {
            method: Method::GET,
            path_and_query: format!("{}/docs", path(database, container)),
            headers,
            body: Bytes::new(),
        };
        let answer = self.answer(&self.hub(), ask).await?;
        // The store tells the range with every answer.
        let range = answer.header("x-ms-documentdb-partitionkeyrangeid");
        Ok(range.unwrap_or_default().to_owned())
    }

    async fn ask(&self, region: &str, ask: Ask) -> Result<Bytes, ItemError> {
        Ok(self.answer(region, ask).await?.body)
    }

    async fn answer(&self, region: &str, ask: Ask) -> Result<Answer, ItemError> {
        let state = self.state();
        let port = state.port(&Endpoint::region(region));
        let port = port.ok_or_else(|| ItemError::UnknownRegion(region.to_owned()))?;
        let answer = state.engine.answer(&port.url, ask).await;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(ItemError::Store {
            status: answer.status.as_u16(),
            body: String::from_utf8_lossy(&answer.body).into_owned(),
        })
    }
}

/// The path of a container.
pub(crate) fn path(database: &str, container: &str) -> String {
    let database = utf8_percent_encode(database, NON_ALPHANUMERIC);
    let container = utf8_percent_encode(container, NON_ALPHANUMERIC);
    format!("/dbs/{database}/colls/{container}")
}

fn headers(partition_key: &str) -> Result<HeaderMap, ItemError> {
    let value = HeaderValue::from_str(partition_key)
        .map_err(|_| ItemError::PartitionKey(partition_key.to_owned()))?;
    let mut headers = HeaderMap::new();
    headers.insert("x-ms-documentdb-partitionkey", value);
    Ok(headers)
}
