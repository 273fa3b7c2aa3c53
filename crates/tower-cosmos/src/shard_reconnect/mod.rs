//! A dying connection: the same region once more, over another connection.
//!
//! A pooled connection can die just as a request takes it, and a front end that restarts resets
//! what it held, while the region is well. This layer sends the request once more to the same
//! region, asking the leaf for another connection shard, before anything is made of the failure
//! (retry specification, "Transport Errors"). It does so for refused, reset, closed and otherwise
//! broken connections and for HTTP/2 streams that the server did not process; not for names that
//! do not resolve, time limits or a full pool; never for the one trial of an endpoint; and for a
//! stored procedure only if nothing was sent.
//!
//! ```
//! use tower_cosmos::ShardReconnectLayer;
//!
//! let layer = ShardReconnectLayer::new();
//! ```
//!
//! # Order
//! Inside `RegionFailoverLayer`: outside of it, the failover has moved to another region before
//! this layer sees the failure.
//!
//! # Cancellation
//! Nothing is sent after the future is dropped.
//!
//! # Extensions
//! Reads and writes the operation's [`Route`](cosmos_core::Route).

mod layer;
mod policy;

pub use layer::{ShardReconnect, ShardReconnectLayer};
pub use policy::ReconnectPolicy;
