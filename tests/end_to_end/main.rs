//! Clients on real sockets against the embedded account.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod account_moves;
mod building;
mod discovery;
mod exclusions;
mod faults;
mod hanging;
mod harness;
mod journal;
mod lifetime;
mod load;
mod loopback;
mod marks;
mod operations;
mod partition_circuits;
mod partition_headers;
mod partition_moves;
mod partition_write_regions;
mod partitions;
mod secrets;
mod session;
mod start_up;
mod wire;
