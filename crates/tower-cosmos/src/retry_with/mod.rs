//! 449: two writes collided; the same region again.
//!
//! The service answers 449 when concurrent operations got into each other's way and nothing was
//! done: any operation may be sent again, stored procedures too. The gateway would do so itself;
//! this layer tells it not to (`x-ms-noretry-449` on every request) and owns the waits: 10 ms,
//! doubling, plus up to 4 ms, at most 1 s each and 30 s in all (ours: the retry specification,
//! "449", leaves the budget open). Then the 449 is surfaced.
//!
//! ```
//! use tower_cosmos::RetryWithLayer;
//!
//! let layer = RetryWithLayer::new();
//! ```
//!
//! # Order
//! Inside `RegionFailoverLayer`. 449 is no sign of a region's health: nothing is marked.
//!
//! # Cancellation
//! Dropping the future ends the wait; nothing more is sent.
//!
//! # Extensions
//! Reads and writes the operation's [`Route`](cosmos_core::Route).

mod layer;
mod policy;

pub use layer::{RetryWith, RetryWithLayer};
pub use policy::RetryWithPolicy;
