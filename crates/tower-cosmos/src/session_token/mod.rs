//! Session tokens: a client reads what it wrote, in whichever region.
//!
//! The service says with every answer how far a partition has got; a client that sends this back
//! is never answered from an older state. This layer learns the tokens from every attempt's answer
//! (2xx, 304, 409, 412 and 404 but 404/1002), merges them, and puts on a request those of its
//! container (of its partition key range, where that is known), fixed for the operation: every
//! attempt carries the same. It does so for documents only, on writes only where the account
//! accepts them in every region, and only if the consistency of account or request is session.
//! A token that the caller put on the request wins.
//!
//! ```
//! use tower_cosmos::{Account, SessionTokenLayer};
//!
//! # fn compose(account: Account) {
//! let layer = SessionTokenLayer::new(account);
//! # }
//! ```
//!
//! # Order
//! Outside of every layer that sends a request more than once.
//!
//! # Cancellation
//! Nothing is learned from an attempt that was dropped.
//!
//! # Extensions
//! Reads the operation's [`Route`](cosmos_core::Route) and listens to its answers.

mod service;
mod store;

pub use service::{SessionToken, SessionTokenLayer, SessionTokenPreparation};
