use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cosmos_core::health::BreakerOptions;
use cosmos_core::policy::SettingError;
use cosmos_core::{ConnectionString, ConnectionStringError};
use tower_cosmos::{
    Account, AccountBuilder, AccountError, CircuitBreakerLayer, Credential, KeyCredential,
    RecommendedLayer,
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
    /// A setting of the connections or of the circuit breaker is out of range.
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
    partition_lookup: bool,
    circuit_breaker: BreakerOptions,
    per_partition_failover: bool,
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
            partition_lookup: true,
            circuit_breaker: BreakerOptions::new(),
            per_partition_failover: true,
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

    /// Whether the client reads how containers are partitioned (once per container, and again when a
    /// partition splits or merges), so that health, write regions and sessions are kept per
    /// partition. Without it they are kept per container, and write regions not at all. Default:
    /// true.
    pub fn partition_lookup(mut self, enabled: bool) -> Self {
        self.partition_lookup = enabled;
        self
    }

    /// What the per-partition circuit breaker tolerates, and how long it waits before its probes;
    /// `BreakerOptions::new().enabled(false)` switches it off. What is left open here comes from the
    /// environment variables that [`BreakerOptions`] names. Default: on; 10 reads or 5 writes in a
    /// row, probes after 60 s and then every 120 s.
    pub fn circuit_breaker(mut self, options: BreakerOptions) -> Self {
        self.circuit_breaker = options;
        self
    }

    /// Whether writes follow partitions that the service moves to another region by themselves, on
    /// accounts that do so. Default: true; then the account's own flag decides.
    pub fn per_partition_failover(mut self, enabled: bool) -> Self {
        self.per_partition_failover = enabled;
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
        let breaker = CircuitBreakerLayer::new(account.clone()).options(self.circuit_breaker)?;
        let layers = RecommendedLayer::new(account.clone(), self.credential)
            .partition(|layer| layer.enabled(self.partition_lookup))
            .ppaf(|layer| layer.enabled(self.per_partition_failover))
            .circuit_breaker(|_| breaker)
            .session_token(|layer| layer.enabled(true));
        let layers = match self.timeout {
            Some(timeout) => layers.timeout(timeout),
            None => layers,
        };
        let layers = (self.layers)(layers);
        Ok(CosmosClient {
            stack: layers.layer(leaf.clone()),
            circuits: layers.circuits(),
            write_regions: layers.write_regions(),
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
            .field("partition_lookup", &self.partition_lookup)
            .field("circuit_breaker", &self.circuit_breaker)
            .field("per_partition_failover", &self.per_partition_failover)
            .finish_non_exhaustive()
    }
}
