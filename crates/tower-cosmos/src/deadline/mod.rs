//! One instant by which an operation has ended, whatever happens.
//!
//! The instant is the operation's beginning plus the timeout, so it is the same wherever this
//! layer stands; a tighter one in the caller's options wins. When it passes, the caller gets a
//! response 408 with substatus 20008 (retry specification, "Deadline Exceeded"), made here and
//! saying so, at once: nothing waits for it, retries it or takes it for a region's failure.
//!
//! The body counts, too, as far as it is read inside: with `BufferLayer` below, all of it is.
//! A body that the caller reads is limited by `AttemptTimeoutLayer`'s body.
//!
//! ```
//! use std::time::Duration;
//! use tower_cosmos::DeadlineLayer;
//!
//! let only_the_callers = DeadlineLayer::new();
//! let two_seconds = DeadlineLayer::new().timeout(Duration::from_secs(2));
//! ```
//!
//! # Order
//! Outermost. Further inside it ends the same instant, but layers outside may wait past it;
//! nothing is sent after it all the same.
//!
//! # Cancellation
//! At the deadline the inner future is dropped, and whatever it held with it.
//!
//! # Extensions
//! Reads and writes the operation's [`Route`](cosmos_core::Route).

mod future;
mod service;

pub use future::ResponseFuture;
pub use service::{Deadline, DeadlineLayer};
