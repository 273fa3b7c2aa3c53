//! Which partition an operation is for.
//!
//! A container is spread over partitions, and it is partitions that fail, move and split. A request
//! names its partition key only; which physical partition (partition key range) that is depends on
//! the container's definition and on a map that changes. This layer reads both, once per container,
//! and puts the range into the operation's route, where circuits, write regions and session tokens
//! are looked up by it.
//!
//! The caller's word comes first: the option
//! [`partition_key_range`](cosmos_core::OperationOptions::partition_key_range), then the header
//! `x-ms-documentdb-partitionkeyrangeid`. Else the partition key is hashed as the service does.
//! An operation without a key, or whose container cannot be read (in time), goes on without a range, and
//! the journal says why ([`range_problem`](cosmos_core::Journal::range_problem)): the lookup never
//! fails a request.
//!
//! The map is read afresh, incrementally, when a region says that it is stale: 410 with substatus
//! 1000, 1002, 1007 or 1008, for which `RegionFailoverLayer` waits before it retries with the new
//! range, or an answer that names another range: then the operations that come after it wait. What
//! is kept per partition goes with its range.
//!
//! ```
//! use std::time::Duration;
//! use tower_cosmos::{Account, PartitionLayer};
//!
//! # fn compose(account: Account) {
//! let layer = PartitionLayer::new(account).lookup_limit(Duration::from_millis(500));
//! # }
//! ```
//!
//! # Order
//! Outside of the layers that use the partition: `PpafLayer`, `SessionTokenLayer`,
//! `CircuitBreakerLayer`. Inside of `DeadlineLayer`, which limits the lookup, too.
//!
//! # Cancellation
//! A read goes on if its operation is dropped, for those that wait with it and after it; it ends
//! with the last handle to the layer.
//!
//! # Extensions
//! Writes the range into the operation's [`Route`](cosmos_core::Route).

mod cache;
mod container;
mod future;
mod layer;
mod reader;

pub use future::ResponseFuture;
pub use layer::{Partition, PartitionLayer};
