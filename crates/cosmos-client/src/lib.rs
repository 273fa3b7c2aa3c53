//! A sharded hyper client for Azure Cosmos DB under the recommended tower-cosmos stack.
//!
//! [`CosmosClient`] is the recommended stack around a [`Leaf`], as one Tower service.
//!
//! [`Leaf`] is the bottom of the stack: it turns one request into one answer over a connection of
//! its own pools, and says of every failure whether the service can have seen the request.

pub mod client;
pub mod leaf;

pub use client::{ClientError, CosmosClient, CosmosClientBuilder};
pub use leaf::{Leaf, LeafBuilder, Protocol};
