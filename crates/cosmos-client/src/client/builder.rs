use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cosmos_core::policy::SettingError;
use cosmos_core::{ConnectionString, ConnectionStringError};
use tower_cosmos::{
    Account, AccountBuilder, AccountError, Credential, KeyCredential, RecommendedLayer,
};
use tower_layer::Layer;

use super::CosmosClient;
use crate::{Leaf, LeafBuilder};

/// Why a client cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The endpoint, a region's name or a setting of the account is none.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// A setting of the connections is out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// Makes a [`CosmosClient`]; every setting has a default.
#[must_use]
pub struct CosmosClientBuilder {
    account: AccountBuilder,
    credential: Arc<dyn Credential>,
    leaf: LeafBuilder,
    layers: Box<dyn FnOnce(RecommendedLayer) -> RecommendedLayer + Send>,
    timeout: Option<Duration>,
}

impl CosmosClient {
    /// Begins a client for the account at a global endpoint.
    pub fn builder(endpoint: &str, credential: impl Credential) -> CosmosClientBuilder {
        let credential: Arc<dyn Credential> = Arc::new(credential);
        CosmosClientBuilder {
            account: Account::builder(endpoint, Arc::clone(&credential)),
            credential,
            leaf: Leaf::builder(),
            layers: Box::new(|layers| layers),
            timeout: None,
        }
    }

    /// Begins a client for the account that a connection string names.
    ///
    /// # Errors
    /// [`ConnectionStringError`] if the text is none. It repeats nothing of the text.
    pub fn from_connection_string(
        text: &str,
    ) -> Result<CosmosClientBuilder, ConnectionStringError> {
        let (endpoint, key) = text.parse::<ConnectionString>()?.into_parts();
        Ok(Self::builder(
            &endpoint.to_string(),
            KeyCredential::new(key),
        ))
    }
}

impl CosmosClientBuilder {
    /// The regions to prefer, best first. Default: the account's own order.
    pub fn preferred_regions<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        self.account = self.account.preferred_regions(names);
        self
    }

    /// Regions that no data operation may use. Default: none.
    pub fn excluded_regions<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.account = self.account.excluded_regions(names);
        self
    }

    /// Regional endpoints to read the account document from while no region is known and the
    /// global endpoint does not answer. Default: none.
    pub fn fallback_endpoints<N: Into<String>>(
        mut self,
        endpoints: impl IntoIterator<Item = N>,
    ) -> Self {
        self.account = self.account.fallback_endpoints(endpoints);
        self
    }

    /// The longest that an operation may take. Default: no limit but what an operation's own
    /// options set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Other settings of the account.
    pub fn account(mut self, change: impl FnOnce(AccountBuilder) -> AccountBuilder) -> Self {
        self.account = change(self.account);
        self
    }

    /// The settings of the connections.
    pub fn leaf(mut self, leaf: LeafBuilder) -> Self {
        self.leaf = leaf;
        self
    }

    /// Other settings of the layers.
    pub fn layers(
        mut self,
        change: impl FnOnce(RecommendedLayer) -> RecommendedLayer + Send + 'static,
    ) -> Self {
        self.layers = Box::new(change);
        self
    }

    /// Makes the client. Nothing is sent before the first operation.
    ///
    /// # Errors
    /// [`ClientError`] if the endpoint, a region's name or a setting is none.
    pub fn build(self) -> Result<CosmosClient, ClientError> {
        let leaf = self.leaf.build()?;
        let account = self.account.build(leaf.clone())?;
        let layers = RecommendedLayer::new(account.clone(), self.credential)
            .session_token(|layer| layer.enabled(true));
        let layers = match self.timeout {
            Some(timeout) => layers.timeout(timeout),
            None => layers,
        };
        let stack = (self.layers)(layers).layer(leaf.clone());
        Ok(CosmosClient {
            stack,
            account,
            leaf,
            closed: Arc::new(AtomicBool::new(false)),
        })
    }
}

impl fmt::Debug for CosmosClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CosmosClientBuilder")
            .field("account", &self.account)
            .field("leaf", &self.leaf)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
