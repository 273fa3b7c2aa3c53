//! The running account.

use std::io;
use std::sync::Arc;

use azure_core::http::Url;
use serde::Serialize;

use super::builder::EmbeddedAccountBuilder;
use super::control;
use super::endpoint::Endpoint;
use super::faults::FaultSwitches;
use super::moves::AccountMoves;
use super::observations::{Counts, Violation, WireEntry};
use super::port::Port;
use super::procedures::ProcedureExecution;
use super::state::State;

/// A multi-region account on loopback ports; see the [module](super).
///
/// Dropping it ends its listeners and every connection.
#[must_use = "the account ends when it is dropped"]
pub struct EmbeddedAccount {
    state: Arc<State>,
    global: Arc<Port>,
    key: String,
}

/// A region of an account, as of now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RegionInfo {
    /// The display name, such as `East US`.
    pub name: String,
    /// `http://127.0.0.1:PORT/`, or `https`.
    pub endpoint: String,
    /// Whether the region accepts writes.
    pub accepts_writes: bool,
    /// Whether the region is the hub.
    pub hub: bool,
    /// Whether the region is part of the account; one that was removed keeps its port and answers
    /// 403/1008.
    pub member: bool,
}

impl EmbeddedAccount {
    /// Describes an account to start.
    pub fn builder() -> EmbeddedAccountBuilder {
        EmbeddedAccountBuilder::default()
    }

    pub(crate) fn state(&self) -> &Arc<State> {
        &self.state
    }

    pub(crate) fn new(state: Arc<State>, global: Arc<Port>, key: String) -> Self {
        Self { state, global, key }
    }

    /// The global endpoint, `http://127.0.0.1:PORT/` (or `https`). It answers as the hub does.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        self.global.url.as_str()
    }

    /// The master key in base64, made up for this account.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Endpoint and key as one connection string.
    #[must_use]
    pub fn connection_string(&self) -> String {
        format!(
            "AccountEndpoint={};AccountKey={};",
            self.endpoint(),
            self.key
        )
    }

    /// Every region that the account has or had.
    #[must_use]
    pub fn regions(&self) -> Vec<RegionInfo> {
        self.state.regions()
    }

    /// The endpoint of a region, if the account has or had it.
    #[must_use]
    pub fn region_endpoint(&self, region: &str) -> Option<String> {
        let port = self.state.port(&Endpoint::region(region))?;
        Some(port.url.to_string())
    }

    /// The hub: of a single-write account the region that writes.
    #[must_use]
    pub fn hub(&self) -> String {
        self.state.engine.hub()
    }

    /// Sets and clears faults.
    #[must_use]
    pub fn faults(&self) -> FaultSwitches {
        FaultSwitches::new(Arc::clone(&self.state))
    }

    /// Moves the account: failover, regions, replication, partitions.
    #[must_use]
    pub fn moves(&self) -> AccountMoves {
        AccountMoves::new(Arc::clone(&self.state))
    }

    /// Serves the control endpoint on a loopback port of its own, and returns its URL.
    ///
    /// `GET /account`, `/counts`, `/log`, `/violations`, `/executions` and `/faults` read; `POST
    /// /faults` sets a [`FaultRule`](super::FaultRule) and answers its id; `DELETE /faults`,
    /// `/faults/ID` and `/counts` clear; `POST /moves` calls a method of [`AccountMoves`] by its name:
    /// `{"move": "fail_over", "region": "West US 3"}`.
    ///
    /// # Errors
    ///
    /// If there is no port to listen on.
    pub async fn open_control(&self) -> io::Result<String> {
        let address = control::open(&self.state).await?;
        Ok(format!("http://{address}/"))
    }

    /// What a region's endpoint has read.
    #[must_use]
    pub fn counts(&self, region: &str) -> Counts {
        self.state.seen.counts(&Endpoint::region(region))
    }

    /// What the global endpoint has read.
    #[must_use]
    pub fn global_counts(&self) -> Counts {
        self.state.seen.counts(&Endpoint::Global)
    }

    /// Sets every count to zero.
    pub fn reset_counts(&self) {
        self.state.seen.reset_counts();
    }

    /// The latest requests, oldest first.
    #[must_use]
    pub fn wire_log(&self) -> Vec<WireEntry> {
        self.wire_log_from(0)
    }

    /// The latest requests from the one of this sequence number on, oldest first.
    #[must_use]
    pub fn wire_log_from(&self, sequence: u64) -> Vec<WireEntry> {
        self.state.seen.log_from(sequence)
    }

    /// Requests that were turned away for their signature, date, version or host. A run that leaves
    /// any behind has failed.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        self.state.seen.violations()
    }

    /// Every execution of a stored procedure, oldest first.
    #[must_use]
    pub fn procedure_executions(&self) -> Vec<ProcedureExecution> {
        self.state.procedures.executions()
    }
}

impl Drop for EmbeddedAccount {
    fn drop(&mut self) {
        self.state.shut_down();
    }
}

impl std::fmt::Debug for EmbeddedAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedAccount")
            .field("endpoint", &self.endpoint())
            .field("key", &"..")
            .field("regions", &self.regions())
            .finish_non_exhaustive()
    }
}

impl State {
    pub(crate) fn regions(&self) -> Vec<RegionInfo> {
        let config = self.engine.store().config();
        let topology = config.topology_snapshot();
        let describe = |port: Arc<Port>| {
            let name = port.endpoint.region_name()?.to_owned();
            Some(RegionInfo {
                endpoint: Url::to_string(&port.url),
                accepts_writes: config.is_write_region(&name),
                hub: topology.write_region == name,
                member: topology.active.iter().any(|region| region.name() == name),
                name,
            })
        };
        self.ports().into_iter().filter_map(describe).collect()
    }
}
