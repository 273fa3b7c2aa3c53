//! Layers, services and futures can be sent and shared where their parts can.

use cosmos_tests::Stack;
use http::Request;
use http_body_util::Full;
use static_assertions::{assert_impl_all, assert_not_impl_any};
use tower::Service;
use tower_cosmos::{
    Account, AttemptTimeoutLayer, BufferLayer, BufferRequestLayer, CircuitBreakerLayer, Clock,
    DeadlineLayer, EndpointLayer, KeyCredential, PartitionLayer, PpafLayer, Recommended,
    RecommendedLayer, RegionFailoverLayer, RetryWithLayer, SessionRetryLayer, SessionTokenLayer,
    ShardReconnectLayer, SigningLayer, ThrottleRetryLayer,
};

type Body = Full<bytes::Bytes>;
type FutureOf<S> = <S as Service<Request<Body>>>::Future;
/// Can be sent, but not shared.
type Local = std::cell::Cell<u8>;

assert_impl_all!(Account: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(Clock: Send, Sync, Clone, std::fmt::Debug);
assert_impl_all!(KeyCredential: Send, Sync, Clone, std::fmt::Debug);
assert_impl_all!(DeadlineLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(ThrottleRetryLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(ShardReconnectLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(SessionRetryLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(SessionTokenLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(RetryWithLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(PartitionLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(PpafLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(CircuitBreakerLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(tower_cosmos::circuit_breaker::Circuits: Send, Sync, Clone, std::fmt::Debug);
assert_impl_all!(tower_cosmos::circuit_breaker::Transitions: Send, Sync, std::fmt::Debug);
assert_impl_all!(tower_cosmos::ppaf::WriteRegions: Send, Sync, Clone, std::fmt::Debug);
assert_impl_all!(RegionFailoverLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(EndpointLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(SigningLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(BufferLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(BufferRequestLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(AttemptTimeoutLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);
assert_impl_all!(RecommendedLayer: Send, Sync, Clone, Unpin, std::fmt::Debug);

assert_impl_all!(tower_cosmos::deadline::Deadline<Stack>: Send, Sync, Clone);
assert_impl_all!(tower_cosmos::throttle_retry::ThrottleRetry<Stack>: Send, Sync, Clone);
assert_impl_all!(tower_cosmos::shard_reconnect::ShardReconnect<Stack>: Send, Sync, Clone);
assert_impl_all!(tower_cosmos::region_failover::RegionFailover<Stack>: Send, Sync, Clone);
assert_impl_all!(tower_cosmos::endpoint::Endpoint<Stack>: Send, Sync, Clone);
assert_impl_all!(tower_cosmos::partition::Partition<Stack>: Send, Sync, Clone);
assert_impl_all!(tower_cosmos::circuit_breaker::CircuitBreaker<Stack>: Send, Sync, Clone);
assert_impl_all!(tower_cosmos::ppaf::Ppaf<Stack>: Send, Sync, Clone);
assert_impl_all!(Recommended<Stack>: Send, Sync, Clone);
assert_not_impl_any!(tower_cosmos::deadline::Deadline<Local>: Sync);

assert_impl_all!(FutureOf<tower_cosmos::deadline::Deadline<Stack>>: Send);
assert_impl_all!(FutureOf<tower_cosmos::throttle_retry::ThrottleRetry<Stack>>: Send);
assert_impl_all!(FutureOf<tower_cosmos::shard_reconnect::ShardReconnect<Stack>>: Send);
assert_impl_all!(FutureOf<tower_cosmos::region_failover::RegionFailover<Stack>>: Send);
assert_impl_all!(FutureOf<tower_cosmos::endpoint::Endpoint<Stack>>: Send);
assert_impl_all!(FutureOf<tower_cosmos::partition::Partition<Stack>>: Send);
assert_impl_all!(FutureOf<tower_cosmos::circuit_breaker::CircuitBreaker<Stack>>: Send);
assert_impl_all!(FutureOf<Recommended<Stack>>: Send);
