//! 404/1002: a region has not caught up with the session token; another one may have.
//!
//! On a single-write account the hub has every write, so both retries go there; on a multi-write
//! account the retries go on through the candidates, as many as there are (retry specification,
//! "404/1002"). The session token stays the same on every attempt: it is never dropped to get an
//! older answer. Exclusions win: a hub that is excluded is not asked. A 404 without the substatus
//! is an answer.
//!
//! ```
//! use tower_cosmos::{Account, SessionRetryLayer};
//!
//! # fn compose(account: Account) {
//! let layer = SessionRetryLayer::new(account);
//! # }
//! ```
//!
//! # Order
//! Outside of `RegionFailoverLayer`, which gets past a region that is down on the way.
//!
//! # Cancellation
//! Nothing is sent after the future is dropped.
//!
//! # Extensions
//! Reads and writes the operation's [`Route`](cosmos_core::Route).

mod layer;
mod policy;

pub use layer::{SessionRetry, SessionRetryLayer};
pub use policy::SessionRetryPolicy;
