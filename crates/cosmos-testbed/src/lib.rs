//! An embedded multi-region Cosmos DB account with fault switches, and a scripted one for paused-time tests.
