//! The embedded account over real sockets.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod client;
mod control;
mod fault_scope;
mod faults;
mod moves;
mod partitions;
mod serving;
