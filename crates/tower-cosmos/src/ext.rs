//! The layers as methods of [`ServiceBuilder`].

use std::time::Duration;

use tower::ServiceBuilder;
use tower_layer::Stack;

use crate::{
    Account, AttemptTimeoutLayer, BufferLayer, BufferRequestLayer, CircuitBreakerLayer, Credential,
    DeadlineLayer, EndpointLayer, PartitionLayer, PpafLayer, RecommendedLayer, RegionFailoverLayer,
    RetryWithLayer, SessionRetryLayer, SessionTokenLayer, ShardReconnectLayer, SigningLayer,
    ThrottleRetryLayer,
};

/// Adds the layers of this crate to a [`ServiceBuilder`], with their default settings.
///
/// ```
/// use std::time::Duration;
/// use tower::ServiceBuilder;
/// use tower_cosmos::{Account, Credential, ServiceBuilderExt};
///
/// # fn compose<S>(account: Account, credential: impl Credential, client: S) {
/// let service = ServiceBuilder::new()
///     .operation_timeout(Duration::from_secs(10))
///     .partition_lookup(account.clone())
///     .ppaf(account.clone())
///     .session_tokens(account.clone())
///     .session_retry(account.clone())
///     .region_failover(account.clone())
///     .circuit_breaker(account.clone())
///     .retry_with()
///     .throttle_retry()
///     .shard_reconnect()
///     .endpoint(account)
///     .signing(credential)
///     .buffer_response()
///     .attempt_timeout()
///     .service(client);
/// # }
/// ```
pub trait ServiceBuilderExt<L>: Sized {
    /// All layers in the recommended order: [`RecommendedLayer`].
    fn recommended(
        self,
        account: Account,
        credential: impl Credential,
    ) -> ServiceBuilder<Stack<RecommendedLayer, L>>;

    /// Limits an operation: [`DeadlineLayer`].
    fn operation_timeout(self, timeout: Duration) -> ServiceBuilder<Stack<DeadlineLayer, L>>;

    /// Finds out the partition of an operation: [`PartitionLayer`].
    fn partition_lookup(self, account: Account) -> ServiceBuilder<Stack<PartitionLayer, L>>;

    /// Sends writes where their partition accepts them: [`PpafLayer`].
    fn ppaf(self, account: Account) -> ServiceBuilder<Stack<PpafLayer, L>>;

    /// Sends partitions elsewhere that fail in a region: [`CircuitBreakerLayer`].
    fn circuit_breaker(self, account: Account) -> ServiceBuilder<Stack<CircuitBreakerLayer, L>>;

    /// Moves to another region: [`RegionFailoverLayer`].
    fn region_failover(self, account: Account) -> ServiceBuilder<Stack<RegionFailoverLayer, L>>;

    /// Learns and sends session tokens: [`SessionTokenLayer`].
    fn session_tokens(self, account: Account) -> ServiceBuilder<Stack<SessionTokenLayer, L>>;

    /// Asks another region after 404/1002: [`SessionRetryLayer`].
    fn session_retry(self, account: Account) -> ServiceBuilder<Stack<SessionRetryLayer, L>>;

    /// Tries again after 449: [`RetryWithLayer`].
    fn retry_with(self) -> ServiceBuilder<Stack<RetryWithLayer, L>>;

    /// Waits for a throttled region: [`ThrottleRetryLayer`].
    fn throttle_retry(self) -> ServiceBuilder<Stack<ThrottleRetryLayer, L>>;

    /// Tries once more over another connection: [`ShardReconnectLayer`].
    fn shard_reconnect(self) -> ServiceBuilder<Stack<ShardReconnectLayer, L>>;

    /// Sends requests to the account's regions: [`EndpointLayer`].
    fn endpoint(self, account: Account) -> ServiceBuilder<Stack<EndpointLayer, L>>;

    /// Signs every attempt: [`SigningLayer`].
    fn signing(self, credential: impl Credential) -> ServiceBuilder<Stack<SigningLayer, L>>;

    /// Reads response bodies to their end: [`BufferLayer`].
    fn buffer_response(self) -> ServiceBuilder<Stack<BufferLayer, L>>;

    /// Makes any request body one that can be sent again: [`BufferRequestLayer`].
    fn buffer_request(self) -> ServiceBuilder<Stack<BufferRequestLayer, L>>;

    /// Limits each attempt: [`AttemptTimeoutLayer`].
    fn attempt_timeout(self) -> ServiceBuilder<Stack<AttemptTimeoutLayer, L>>;
}

impl<L> ServiceBuilderExt<L> for ServiceBuilder<L> {
    fn recommended(
        self,
        account: Account,
        credential: impl Credential,
    ) -> ServiceBuilder<Stack<RecommendedLayer, L>> {
        self.layer(RecommendedLayer::new(account, credential))
    }

    fn operation_timeout(self, timeout: Duration) -> ServiceBuilder<Stack<DeadlineLayer, L>> {
        self.layer(DeadlineLayer::new().timeout(timeout))
    }

    fn partition_lookup(self, account: Account) -> ServiceBuilder<Stack<PartitionLayer, L>> {
        self.layer(PartitionLayer::new(account))
    }

    fn ppaf(self, account: Account) -> ServiceBuilder<Stack<PpafLayer, L>> {
        self.layer(PpafLayer::new(account))
    }

    fn circuit_breaker(self, account: Account) -> ServiceBuilder<Stack<CircuitBreakerLayer, L>> {
        self.layer(CircuitBreakerLayer::new(account))
    }

    fn region_failover(self, account: Account) -> ServiceBuilder<Stack<RegionFailoverLayer, L>> {
        self.layer(RegionFailoverLayer::new(account))
    }

    fn session_tokens(self, account: Account) -> ServiceBuilder<Stack<SessionTokenLayer, L>> {
        self.layer(SessionTokenLayer::new(account))
    }

    fn session_retry(self, account: Account) -> ServiceBuilder<Stack<SessionRetryLayer, L>> {
        self.layer(SessionRetryLayer::new(account))
    }

    fn retry_with(self) -> ServiceBuilder<Stack<RetryWithLayer, L>> {
        self.layer(RetryWithLayer::new())
    }

    fn throttle_retry(self) -> ServiceBuilder<Stack<ThrottleRetryLayer, L>> {
        self.layer(ThrottleRetryLayer::new())
    }

    fn shard_reconnect(self) -> ServiceBuilder<Stack<ShardReconnectLayer, L>> {
        self.layer(ShardReconnectLayer::new())
    }

    fn endpoint(self, account: Account) -> ServiceBuilder<Stack<EndpointLayer, L>> {
        self.layer(EndpointLayer::new(account))
    }

    fn signing(self, credential: impl Credential) -> ServiceBuilder<Stack<SigningLayer, L>> {
        self.layer(SigningLayer::new(credential))
    }

    fn buffer_response(self) -> ServiceBuilder<Stack<BufferLayer, L>> {
        self.layer(BufferLayer::new())
    }

    fn buffer_request(self) -> ServiceBuilder<Stack<BufferRequestLayer, L>> {
        self.layer(BufferRequestLayer::new())
    }

    fn attempt_timeout(self) -> ServiceBuilder<Stack<AttemptTimeoutLayer, L>> {
        self.layer(AttemptTimeoutLayer::new())
    }
}
