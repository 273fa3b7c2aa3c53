//! Starting an account.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use azure_data_cosmos_driver::in_memory_emulator::{
    self as emulator, ContainerConfig, ReplicationConfig, VirtualAccountConfig, VirtualRegion,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::ServerConfig;
use serde::{Deserialize, Serialize};

use super::account::EmbeddedAccount;
use super::endpoint::Endpoint;
use super::engine::Engine;
use super::state::State;

/// How many regions accept writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteMode {
    /// The hub alone.
    #[default]
    Single,
    /// Every region.
    Multi,
}

impl From<WriteMode> for emulator::WriteMode {
    fn from(mode: WriteMode) -> Self {
        match mode {
            WriteMode::Single => Self::Single,
            WriteMode::Multi => Self::Multi,
        }
    }
}

/// Why an account did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No loopback port could be had.
    #[error("no loopback port to listen on")]
    Listen(#[from] io::Error),
    /// The emulator does not accept what the account should be.
    #[error("the account cannot be like that: {0}")]
    Account(String),
}

/// What an account will be; see [`EmbeddedAccount::builder`].
#[derive(Clone, Debug)]
#[must_use = "an account starts with `start`"]
pub struct EmbeddedAccountBuilder {
    account_id: String,
    regions: Vec<String>,
    write_mode: WriteMode,
    containers: Vec<Container>,
    per_partition_failover: bool,
    replication_delay: Duration,
    throughput: Option<u64>,
    seed: u64,
    tls: Option<Arc<ServerConfig>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Container {
    pub(crate) database: String,
    pub(crate) name: String,
    pub(crate) partition_key_path: String,
    pub(crate) physical_partitions: u32,
}

impl Default for EmbeddedAccountBuilder {
    /// One region, East US, which writes; no containers; immediate replication.
    fn default() -> Self {
        Self {
            account_id: "testbed".to_owned(),
            regions: vec!["East US".to_owned()],
            write_mode: WriteMode::default(),
            containers: Vec::new(),
            per_partition_failover: false,
            throughput: None,
            replication_delay: Duration::ZERO,
            seed: 1,
            tls: None,
        }
    }
}

impl EmbeddedAccountBuilder {
    /// The regions by display name, the hub first.
    pub fn regions(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.regions = names.into_iter().map(Into::into).collect();
        self
    }

    /// Which regions accept writes.
    pub fn write_mode(mut self, mode: WriteMode) -> Self {
        self.write_mode = mode;
        self
    }

    /// Adds a container, and its database unless it is there. The path is the partition key's, such
    /// as `/pk`.
    pub fn container(
        mut self,
        database: impl Into<String>,
        container: impl Into<String>,
        partition_key_path: impl Into<String>,
        physical_partitions: u32,
    ) -> Self {
        self.containers.push(Container {
            database: database.into(),
            name: container.into(),
            partition_key_path: partition_key_path.into(),
            physical_partitions,
        });
        self
    }

    /// What the account document says about per-partition automatic failover.
    pub fn per_partition_failover(mut self, enabled: bool) -> Self {
        self.per_partition_failover = enabled;
        self
    }

    /// How long a write takes to reach the other regions. Zero, the default: it is there when the
    /// write is answered.
    pub fn replication_delay(mut self, delay: Duration) -> Self {
        self.replication_delay = delay;
        self
    }

    /// Limits every container to this many request units a second, from 400 on: what is above is
    /// answered with 429/3200 and a hint. Default: no limit.
    pub fn throughput(mut self, request_units: u64) -> Self {
        self.throughput = Some(request_units);
        self
    }

    /// Decides which requests a fault with a probability meets.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Speaks TLS, on every endpoint; the certificate is for `127.0.0.1`. Default: cleartext.
    pub fn tls(mut self, config: ServerConfig) -> Self {
        self.tls = Some(Arc::new(config));
        self
    }

    /// Starts the account: every region and the global endpoint listen when this returns. Must be
    /// called on a tokio runtime.
    ///
    /// # Errors
    ///
    /// If there are no ports, no regions, two of one name, or a container that cannot be.
    pub async fn start(self) -> Result<EmbeddedAccount, StartError> {
        let mut listening = Vec::new();
        let mut regions = Vec::new();
        for (index, name) in self.regions.iter().enumerate() {
            if self.regions[..index].contains(name) {
                let message = format!("region {name:?} is named twice");
                return Err(StartError::Account(message));
            }
            let endpoint = Endpoint::region(name);
            let (port, listener) = State::listen(endpoint, self.tls.clone())?;
            regions.push(VirtualRegion::new(name, port.url.clone()));
            listening.push((port, listener));
        }
        let replication = ReplicationConfig::fixed(self.replication_delay);
        let config = VirtualAccountConfig::new(regions)
            .map_err(|error| StartError::Account(error.to_string()))?
            .with_account_id(self.account_id.clone())
            .with_write_mode(self.write_mode.into())
            .with_replication_config(replication)
            .with_throttling_enabled(self.throughput.is_some())
            .with_per_partition_failover(self.per_partition_failover);
        let engine = Engine::new(config).map_err(StartError::Account)?;
        // Each database once: creating it again would replace it.
        let databases: BTreeSet<_> = self.containers.iter().map(|c| &c.database).collect();
        for database in databases {
            engine.store().create_database(database);
        }
        for container in &self.containers {
            container.create(&engine, self.throughput)?;
        }
        let (global, listener) = State::listen(Endpoint::Global, self.tls.clone())?;
        listening.push((global, listener));

        // A fresh key per account: a client that was left over from another one is turned away.
        let mut key = vec![0_u8; 64];
        fastrand::Rng::new().fill(&mut key);
        let encoded = STANDARD.encode(&key);
        let state = State::new(self.account_id, key, engine, self.seed);
        let mut global = None;
        for (port, listener) in listening {
            let port = state.open(port, listener);
            if port.endpoint == Endpoint::Global {
                global = Some(port);
            }
        }
        let global = global.ok_or_else(|| io::Error::other("the global endpoint is missing"))?;
        let account = EmbeddedAccount::new(Arc::clone(&state), global, encoded);
        state.settle().await;
        Ok(account)
    }
}

impl Container {
    pub(crate) fn create(
        &self,
        engine: &Engine,
        throughput: Option<u64>,
    ) -> Result<(), StartError> {
        let wrong = |what: &dyn std::fmt::Display| {
            let name = format!("{}/{}", self.database, self.name);
            StartError::Account(format!("{name}: {what}"))
        };
        let definition = serde_json::json!({
            "paths": [self.partition_key_path], "kind": "Hash", "version": 2
        });
        let definition = serde_json::from_value(definition).map_err(|error| wrong(&error))?;
        let config = ContainerConfig::new().with_partition_count(self.physical_partitions);
        let config = match throughput {
            Some(request_units) => config.with_throughput(request_units),
            None => config,
        };
        let config = config.build().map_err(|error| wrong(&error))?;
        engine
            .store()
            .create_container_with_config(&self.database, &self.name, definition, config);
        Ok(())
    }
}
