//! Words and decisions for resilient Azure Cosmos DB clients.
//!
//! Everything here is a value or a pure function: no I/O, no async, no clock (`now` is passed in).
//! The layers of `tower-cosmos` are small machines around these decisions:
//!
//! * [`operation`] reads what a request does, [`status`] what an answer says;
//! * [`topology`] is what is known of an account's regions, [`selection`] chooses one;
//! * [`route`] carries steering and rules through the layers, [`journal`] the facts;
//! * [`partition`] finds the partition that an operation is for;
//! * [`health`] keeps circuits per partition and region, [`write_regions`] where partitions take
//!   their writes;
//! * [`session`] reads and merges session tokens;
//! * [`policy`] holds the tables of the retry specification.

pub mod connection_string;
pub mod endpoint;
pub mod error;
pub mod flight;
pub mod headers;
pub mod health;
pub mod journal;
mod json;
pub mod operation;
pub mod partition;
mod percent;
pub mod policy;
pub mod region;
pub mod requests;
pub mod retry_guard;
pub mod route;
#[doc(hidden)]
pub mod seeded;
pub mod selection;
pub mod session;
pub mod signing;
pub mod status;
mod sync;
mod table;
pub mod topology;
pub mod write_regions;

pub use connection_string::{ConnectionString, ConnectionStringError};
pub use endpoint::{Endpoint, EndpointError};
pub use error::{BoxError, FailureKind, Sent, TransportError, causes, find_cause};
pub use journal::{
    Attempt, AttemptId, Begin, Budget, Journal, JournalSlot, Outcome, Oversight, Phase, Reason,
    Spent,
};
pub use operation::{Action, Operation, Resource};
pub use partition::{
    ContainerProperties, Epk, EpkTarget, Partition, PartitionKeyDefinition, RangeId, RangeMap,
    RangePage,
};
pub use region::{Region, RegionError, RegionSet};
pub use requests::PartitionKey;
pub use route::{
    AccountId, AnswerListener, AttemptObserver, Breaker, Ended, Entered, OperationOptions,
    Original, Position, RangeLookup, Route, Rules, Steering, Toll, WriteRegionMemory,
};
pub use status::Status;
pub use topology::{Access, Topology, TopologyError};
