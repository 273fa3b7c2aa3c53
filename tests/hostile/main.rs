//! Attempts to break the layers: odd orders, odd settings, odd neighbours.

// Also outside of test functions, where clippy's own setting allows it.
#![allow(clippy::unwrap_used)]

mod bodies;
mod connections;
mod hosts;
mod nesting;
mod odd;
mod partitions;
mod runtimes;
mod settings;

/// A leaf with a fault.
async fn panics(_: cosmos_tests::Req) -> Result<cosmos_tests::Res, cosmos_core::BoxError> {
    panic!("a fault of the leaf")
}
