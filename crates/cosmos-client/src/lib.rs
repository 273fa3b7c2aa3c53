//! A sharded hyper client for Azure Cosmos DB under the recommended tower-cosmos stack.
