//! Fault switches: what an endpoint does to requests instead of, or before, answering them.

mod rule;
mod switches;
mod table;

pub use rule::{FaultKind, FaultRule, FaultScope, FaultedRequests};
pub use switches::{FaultError, FaultSwitches};
pub use table::FaultId;
pub(crate) use table::{FaultTable, Subject};
