//! Limits of one attempt: how long its headers may take, and how long its body may stand still.
//!
//! A region that accepts a request and never answers costs an operation one such limit, then the
//! attempt is an ambiguous failure that the layers above can repeat elsewhere. Headers are timed
//! from the call, so connecting and waiting for a connection count. Both limits are cut to what is
//! left of the operation's deadline; one that was is no failure of the region's. After the deadline
//! nothing is sent, whatever held the request back. While another region
//! could take over, an attempt gets at most two thirds of what is left, so that a region which hangs
//! does not cost the whole operation, however short its deadline.
//!
//! ```
//! use std::time::Duration;
//! use tower_cosmos::AttemptTimeoutLayer;
//!
//! let default = AttemptTimeoutLayer::new(); // 6 s data, 10 s metadata, 5 s idle
//! let tight = AttemptTimeoutLayer::new().data(Duration::from_secs(1));
//! ```
//!
//! # Order
//! Innermost, around the client.
//!
//! # Cancellation
//! When a limit passes the inner future is dropped.
//!
//! # Extensions
//! Reads the operation's [`Route`](cosmos_core::Route).

mod body;
mod future;
mod service;

pub use body::IdleBody;
pub use future::ResponseFuture;
pub use service::{AttemptTimeout, AttemptTimeoutLayer};
