//! A simulated network between callers and the regions of an account: partitions, loss in one
//! direction, delay, crashes.
//!
//! Time is simulated, and so is chance: a seed decides when what breaks, how long each message takes
//! and what callers do, so a run can be repeated. [`schedules`] says what is not decided by it.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod api;
mod faults;
mod ledger;
mod region;
mod report;
mod run;
mod store;
mod traffic;
mod wire;

mod crashes;
mod delays;
mod partitions;
mod schedules;
