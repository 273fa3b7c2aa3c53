//! Independent Tower layers that keep a service talking to Azure Cosmos DB while regions slow
//! down, throttle, refuse, hang, move or disappear.
//!
//! Each layer does one thing and works alone, around any HTTP client that is a Tower service;
//! together, in any order, they share what they know of an operation through one request
//! extension ([`cosmos_core::Route`]). [`RecommendedLayer`] is the order that we recommend, with
//! the reason beside each line.
//!
//! | layer | answers |
//! |---|---|
//! | [`DeadlineLayer`] | the operation takes too long |
//! | [`PartitionLayer`] | which partition an operation is for |
//! | [`PpafLayer`] | the write region of one partition has moved |
//! | [`RegionFailoverLayer`] | a region fails |
//! | [`CircuitBreakerLayer`] | one partition is sick in a region |
//! | [`SessionRetryLayer`] | a region lags behind the session (404/1002) |
//! | [`SessionTokenLayer`] | a client that must read what it wrote |
//! | [`RetryWithLayer`] | writes collide (449) |
//! | [`ThrottleRetryLayer`] | a region throttles (429) |
//! | [`ShardReconnectLayer`] | a connection dies |
//! | [`EndpointLayer`] | which region an attempt goes to; keeps the journal |
//! | [`SigningLayer`] | date and authorization of each attempt |
//! | [`BufferLayer`] | a response body breaks off |
//! | [`AttemptTimeoutLayer`] | a region accepts and never answers |
//! | [`BufferRequestLayer`] | a request body that cannot be sent twice |
//!
//! What every layer keeps to: it calls the service that was polled ready; it holds neither
//! readiness nor a permit while it waits; a request that is nothing of Cosmos DB passes untouched;
//! an answer is never turned into an error.

pub mod account;
pub mod attempt_timeout;
pub mod buffer;
pub mod buffer_request;
pub mod circuit_breaker;
mod clock;
pub mod credential;
pub mod deadline;
pub mod endpoint;
mod ext;
mod held;
mod lending;
mod metadata;
pub mod partition;
pub mod ppaf;
pub mod prepare;
mod protocol;
pub mod region_failover;
pub mod retry;
pub mod retry_with;
mod scope;
pub mod session_retry;
pub mod session_token;
pub mod shard_reconnect;
pub mod signing;
mod stack;
pub mod throttle_retry;
pub mod transport;
mod watch;

pub use account::{Account, AccountBuilder, AccountError, Classify};
pub use attempt_timeout::AttemptTimeoutLayer;
pub use buffer::BufferLayer;
pub use buffer_request::BufferRequestLayer;
pub use circuit_breaker::CircuitBreakerLayer;
pub use clock::Clock;
pub use credential::{Credential, KeyCredential, ResourceTokenCredential};
pub use deadline::DeadlineLayer;
pub use endpoint::EndpointLayer;
pub use ext::ServiceBuilderExt;
pub use partition::PartitionLayer;
pub use ppaf::PpafLayer;
pub use region_failover::RegionFailoverLayer;
pub use retry_with::RetryWithLayer;
pub use session_retry::SessionRetryLayer;
pub use session_token::SessionTokenLayer;
pub use shard_reconnect::ShardReconnectLayer;
pub use signing::SigningLayer;
pub use stack::{AcrossRegions, Attempt, InRegion, Recommended, RecommendedLayer};
pub use throttle_retry::ThrottleRetryLayer;

pub use cosmos_core::signing::MasterKey;

/// Words and decisions that the layers share.
pub use cosmos_core as core;
