//! An embedded multi-region Cosmos DB account with fault switches, and a scripted one for paused-time tests.

pub mod embedded;

pub use embedded::EmbeddedAccount;
