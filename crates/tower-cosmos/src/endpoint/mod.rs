//! Where an attempt becomes a fact: chooses the region, addresses the request, keeps the journal.
//!
//! Every attempt is *begun* here, sent, and *ended* with what the layers below reported, or left
//! *abandoned* when its future is dropped. The choice itself is
//! [`selection`](cosmos_core::selection)'s; this layer takes the trial that it may need, replaces
//! scheme, host and port (path and query keep their bytes), sets `host`, and adds the protocol
//! headers that are absent: `x-ms-version`, `x-ms-activity-id` (one per operation), capabilities,
//! user agent, and on writes of multi-write accounts `x-ms-cosmos-allow-tentative-writes`.
//!
//! A request for a host that is not the account's passes through untouched.
//!
//! ```
//! use tower_cosmos::{Account, EndpointLayer};
//!
//! # fn compose(account: Account) {
//! let layer = EndpointLayer::new(account);
//! # }
//! ```
//!
//! # Order
//! Below every layer that sends a request more than once; the others work through the journal
//! that this layer keeps, and do nothing without it. Below another endpoint layer of the account, it
//! passes on what that one placed.
//!
//! # Cancellation
//! While the regions are not known it waits for them, until the operation's deadline at most. A
//! dropped future leaves its attempt abandoned in the journal and frees its trial.
//!
//! # Extensions
//! Reads the operation's [`Route`](cosmos_core::Route) and passes it on with the attempt's number.

mod address;
mod future;
mod service;

pub use future::ResponseFuture;
pub use service::{Endpoint, EndpointLayer};
