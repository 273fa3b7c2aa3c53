//! 429: the same region again, after the time it asks for.
//!
//! A throttled region says in `x-ms-retry-after-ms` when to come back. This layer waits exactly
//! that long (without a hint: 5 ms, doubling, at most 5 s, varied by a quarter), up to nine times
//! and 30 s per operation and region, then surfaces the 429. It never moves to another region:
//! throttling is account-wide (retry specification, "429"). 429/3092 is not its business: that is
//! handled like 503, by `RegionFailoverLayer`.
//!
//! ```
//! use tower_cosmos::ThrottleRetryLayer;
//!
//! let default = ThrottleRetryLayer::new();
//! let patient = ThrottleRetryLayer::new().max_retries(20);
//! ```
//!
//! # Order
//! Inside `RegionFailoverLayer`, so that a move starts with a fresh budget for its region; outside
//! of it nothing changes but the depth at which the wait happens: the answer's region is pinned.
//!
//! # Cancellation
//! Dropping the future ends the wait; nothing more is sent.
//!
//! # Extensions
//! Reads and writes the operation's [`Route`](cosmos_core::Route).

mod layer;
mod policy;

pub use layer::{ThrottleRetry, ThrottleRetryLayer};
pub use policy::ThrottlePolicy;
