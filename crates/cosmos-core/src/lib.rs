//! Words and decisions for resilient Azure Cosmos DB clients: no I/O, no async, no clock of its own.

pub mod connection_string;
pub mod headers;
pub mod operation;
mod percent;
pub mod requests;
pub mod signing;
