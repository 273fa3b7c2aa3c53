//! A region that fails: on to the next one.
//!
//! What another region can mend (5xx, 408, 410, 429/3092, transport errors) costs one of three
//! moves; what only a fresh view of the account can mend (403/3 on multi-write accounts, 403/1008)
//! one of 120, a second apart, each asking for a refresh of the account document (retry
//! specification, "Cross-Region Failover Behavior" and "Retry Budget Summary"). Which region is
//! next is not decided here but by [`selection`](cosmos_core::selection), from what the journal
//! says was tried; excluded regions are never among them.
//!
//! ```
//! use tower_cosmos::{Account, RegionFailoverLayer};
//!
//! # fn compose(account: Account) {
//! let default = RegionFailoverLayer::new(account.clone());
//! let eager = RegionFailoverLayer::new(account).immediate_first_retry(true);
//! # }
//! ```
//!
//! A move costs no wait. Repeating the *same* region, because there is no other, waits 50 ms,
//! doubling; 410s that say the map of ranges is old wait 100 ms, doubling. Both are ours, where
//! the specification is silent.
//!
//! # Order
//! Outside of the layers that repeat a region (429, 449, reconnect): they get their turn first.
//!
//! # Cancellation
//! Nothing is sent after the future is dropped. A refresh that was asked for goes on: it belongs
//! to the account, not to the caller.
//!
//! # Extensions
//! Reads and writes the operation's [`Route`](cosmos_core::Route).

mod layer;
mod policy;

pub use layer::{RegionFailover, RegionFailoverLayer};
pub use policy::FailoverPolicy;
