//! Independent Tower layers that keep a service talking to Azure Cosmos DB while regions fail.

pub mod transport;
