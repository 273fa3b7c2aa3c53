//! 404/1002: another region with the same session token (retry specification, "404/1002").

use crate::selection::{Scope, candidates};
use crate::{Operation, Region, RegionSet, Topology};

/// Retries on a single-write account.
pub const SINGLE_WRITE_RETRIES: u32 = 2;

/// Where the retries of an operation go, and how many there are.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SessionPlan {
    /// How many retries there are. On a multi-write account as many as there are candidates that
    /// are not excluded when the first 404/1002 arrives.
    pub retries: u32,
    /// The region to pin: the hub of a single-write account, unless it is excluded. `None`: the
    /// next candidate.
    pub hub: Option<Region>,
}

/// The plan for an operation.
#[must_use]
pub fn plan(topology: &Topology, operation: Operation, excluded: RegionSet) -> SessionPlan {
    if topology.is_multi_write() {
        let allowed = candidates(topology, operation, Scope::Listed)
            .iter()
            .filter(|region| !excluded.contains(**region))
            .count();
        let retries = u32::try_from(allowed).unwrap_or(u32::MAX);
        return SessionPlan { retries, hub: None };
    }
    let hub = topology.hub().filter(|hub| !excluded.contains(*hub));
    SessionPlan {
        retries: SINGLE_WRITE_RETRIES,
        hub,
    }
}
