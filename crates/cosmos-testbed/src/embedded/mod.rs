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

//!
//! # What is not the service
//!
//! The emulator knows resources by name only, keeps the latest version of an item only, and has no
//! stored procedures, triggers or conflict feed. Around it, this module adds what the library has to be
//! tested against: executing a stored procedure (any id, recorded in
//! [`EmbeddedAccount::procedure_executions`]), HEAD, delete by partition key (done when it is answered),
//! partition key ranges whose writes moved, the tentative-writes header on multi-write accounts, and
//! `x-ms-content-path`, which tells the container that answered. A
//! region that is offline refuses connections, where the service would withdraw its name.

mod account;
mod builder;
mod clock;
mod connection;
mod content_path;
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
