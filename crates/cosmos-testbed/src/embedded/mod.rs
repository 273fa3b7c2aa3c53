//! An embedded multi-region account on loopback ports.
//!
//! Code that must survive a regional outage needs regions that fail. This account has them: every
//! region is a listener of its own with real connections, in front of the in-memory emulator that the
//! Azure SDK's own driver is tested with, and every endpoint can be told to answer with an error, to
//! hang, to refuse connections, or to break off in the middle.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cosmos_testbed::embedded::{EmbeddedAccount, FaultKind, FaultRule, WriteMode};
//!
//! let account = EmbeddedAccount::builder()
//!     .regions(["East US", "West US 3", "North Europe"])
//!     .write_mode(WriteMode::Single)
//!     .container("shop", "orders", "/customer", 4)
//!     .start()
//!     .await?;
//! println!("{}", account.endpoint());
//!
//! let faults = account.faults();
//! let outage = faults.set(FaultRule::at("East US", FaultKind::RefuseConnections)).await?;
//! // ... requests that have to reach another region ...
//! faults.clear(outage).await;
//! assert_eq!(account.counts("East US").data, 0);
//! # Ok(())
//! # }
//! ```
//!
//! Another process drives the account over its [control endpoint](EmbeddedAccount::open_control), a small
//! JSON interface: `POST /faults` with a [`FaultRule`], `POST /moves` with
//! `{"move": "fail_over", "region": "West US 3"}` and the like, `GET /counts`.
//!
//! Every request is verified: its signature, date, version and host. A request that fails is answered
//! 401 (403 for its date) and kept in [`EmbeddedAccount::violations`].

mod account;
mod builder;
mod clock;
mod connection;
mod control;
mod deviations;
mod endpoint;
mod engine;
mod exchange;
mod faults;
mod items;
mod listener;
mod moves;
mod observations;
mod partition_delete;
mod perform;
mod port;
mod procedures;
mod reply;
mod request;
mod state;
mod verify;

pub use account::{EmbeddedAccount, RegionInfo};
pub use builder::{EmbeddedAccountBuilder, StartError, WriteMode};
pub use deviations::ReassignedRange;
pub use endpoint::Endpoint;
pub use faults::{
    FaultError, FaultId, FaultKind, FaultRule, FaultScope, FaultSwitches, FaultedRequests,
};
pub use items::ItemError;
pub use moves::{AccountMoves, MoveError};
pub use observations::{Counts, Outcome, Violation, WIRE_LOG_CAPACITY, WireEntry};
pub use procedures::ProcedureExecution;
pub use verify::ViolationKind;
