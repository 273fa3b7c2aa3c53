//! Programs a reader would copy, and what those that measure share: an open loop, latencies, a report.

pub mod client;
pub mod frame;
pub mod latencies;
pub mod load;
pub mod page;
pub mod plot;
pub mod text;

/// The README's code compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
