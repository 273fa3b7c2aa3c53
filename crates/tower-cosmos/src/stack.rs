//! The recommended order of the layers, as one layer.

use std::time::Duration;

use cosmos_core::policy::SettingError;
use tower::ServiceBuilder;
use tower_layer::Layer;

use crate::Account;
use crate::attempt_timeout::{AttemptTimeout, AttemptTimeoutLayer};
use crate::buffer::{Buffer, BufferLayer};
use crate::circuit_breaker::{BreakerOptions, CircuitBreaker, CircuitBreakerLayer, Circuits};
use crate::credential::Credential;
use crate::deadline::{Deadline, DeadlineLayer};
use crate::endpoint::{Endpoint, EndpointLayer};
use crate::partition::{Partition, PartitionLayer};
use crate::ppaf::{Ppaf, PpafLayer, WriteRegions};
use crate::region_failover::{RegionFailover, RegionFailoverLayer};
use crate::retry_with::{RetryWith, RetryWithLayer};
use crate::session_retry::{SessionRetry, SessionRetryLayer};
use crate::session_token::{SessionToken, SessionTokenLayer};
use crate::shard_reconnect::{ShardReconnect, ShardReconnectLayer};
use crate::signing::{Signing, SigningLayer};
use crate::throttle_retry::{ThrottleRetry, ThrottleRetryLayer};

/// The service that [`RecommendedLayer`] makes of a client `S`.
pub type Recommended<S> = Deadline<Partition<Ppaf<SessionToken<AcrossRegions<S>>>>>;

/// What moves between regions.
pub type AcrossRegions<S> = SessionRetry<RegionFailover<CircuitBreaker<InRegion<S>>>>;

/// What stays in one region.
pub type InRegion<S> = RetryWith<ThrottleRetry<ShardReconnect<Attempt<S>>>>;

/// One attempt.
pub type Attempt<S> = Endpoint<Signing<Buffer<AttemptTimeout<S>>>>;

/// All layers in the recommended order. Each one's settings can be changed.
///
/// ```
/// use std::time::Duration;
/// use tower::ServiceBuilder;
/// use tower_cosmos::{Account, Credential, RecommendedLayer};
///
/// # fn compose<S>(account: Account, credential: impl Credential, client: S) {
/// let layers = RecommendedLayer::new(account, credential)
///     .timeout(Duration::from_secs(10))
///     .failover(|layer| layer.immediate_first_retry(true));
/// let service = ServiceBuilder::new()
///     .layer(layers)
///     .service(client);
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RecommendedLayer {
    deadline: DeadlineLayer,
    partition: PartitionLayer,
    ppaf: PpafLayer,
    session_token: SessionTokenLayer,
    session_retry: SessionRetryLayer,
    failover: RegionFailoverLayer,
    circuit_breaker: CircuitBreakerLayer,
    retry_with: RetryWithLayer,
    throttle: ThrottleRetryLayer,
    reconnect: ShardReconnectLayer,
    endpoint: EndpointLayer,
    signing: SigningLayer,
    buffer: BufferLayer,
    attempt: AttemptTimeoutLayer,
}

impl RecommendedLayer {
    /// The layers with their defaults, dated by the account's clock.
    pub fn new(account: Account, credential: impl Credential) -> Self {
        let clock = account.clock().clone();
        Self {
            deadline: DeadlineLayer::new(),
            partition: PartitionLayer::new(account.clone()),
            ppaf: PpafLayer::new(account.clone()),
            session_token: SessionTokenLayer::new(account.clone()).enabled(false),
            session_retry: SessionRetryLayer::new(account.clone()),
            failover: RegionFailoverLayer::new(account.clone()),
            circuit_breaker: CircuitBreakerLayer::new(account.clone()),
            retry_with: RetryWithLayer::new(),
            throttle: ThrottleRetryLayer::new(),
            reconnect: ShardReconnectLayer::new(),
            endpoint: EndpointLayer::new(account),
            signing: SigningLayer::new(credential).clock(clock),
            buffer: BufferLayer::new(),
            attempt: AttemptTimeoutLayer::new(),
        }
    }

    /// The longest that an operation may take. Default: no limit but the caller's.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.deadline = self.deadline.timeout(timeout);
        self
    }

    /// Changes the layer that finds out the partition of an operation.
    pub fn partition(mut self, change: impl FnOnce(PartitionLayer) -> PartitionLayer) -> Self {
        self.partition = change(self.partition);
        self
    }

    /// Changes the layer that remembers where partitions accept writes.
    pub fn ppaf(mut self, change: impl FnOnce(PpafLayer) -> PpafLayer) -> Self {
        self.ppaf = change(self.ppaf);
        self
    }

    /// Where partitions are remembered to accept writes, for operators.
    #[must_use]
    pub fn write_regions(&self) -> WriteRegions {
        self.ppaf.write_regions()
    }

    /// Changes the circuit breaker.
    pub fn circuit_breaker(
        mut self,
        change: impl FnOnce(CircuitBreakerLayer) -> CircuitBreakerLayer,
    ) -> Self {
        self.circuit_breaker = change(self.circuit_breaker);
        self
    }

    /// Sets the breaker's options in code; what they leave open comes from the environment.
    ///
    /// # Errors
    /// [`SettingError`] if a number is outside of what it can be.
    pub fn breaker_options(mut self, options: BreakerOptions) -> Result<Self, SettingError> {
        self.circuit_breaker = self.circuit_breaker.options(options)?;
        Ok(self)
    }

    /// The breaker's circuits, for operators. To be taken once the breaker is set.
    #[must_use]
    pub fn circuits(&self) -> Circuits {
        self.circuit_breaker.circuits()
    }

    /// Changes the layer that learns session tokens. By default it does nothing, so that tokens are
    /// the caller's; `|layer| layer.enabled(true)` switches it on.
    pub fn session_token(
        mut self,
        change: impl FnOnce(SessionTokenLayer) -> SessionTokenLayer,
    ) -> Self {
        self.session_token = change(self.session_token);
        self
    }

    /// Changes the layer for 404/1002.
    pub fn session_retry(
        mut self,
        change: impl FnOnce(SessionRetryLayer) -> SessionRetryLayer,
    ) -> Self {
        self.session_retry = change(self.session_retry);
        self
    }

    /// Changes the layer for 449.
    pub fn retry_with(mut self, change: impl FnOnce(RetryWithLayer) -> RetryWithLayer) -> Self {
        self.retry_with = change(self.retry_with);
        self
    }

    /// Changes the failover layer.
    pub fn failover(
        mut self,
        change: impl FnOnce(RegionFailoverLayer) -> RegionFailoverLayer,
    ) -> Self {
        self.failover = change(self.failover);
        self
    }

    /// Changes the layer for 429.
    pub fn throttle(
        mut self,
        change: impl FnOnce(ThrottleRetryLayer) -> ThrottleRetryLayer,
    ) -> Self {
        self.throttle = change(self.throttle);
        self
    }

    /// Changes the reconnecting layer.
    pub fn reconnect(
        mut self,
        change: impl FnOnce(ShardReconnectLayer) -> ShardReconnectLayer,
    ) -> Self {
        self.reconnect = change(self.reconnect);
        self
    }

    /// Changes the layer that reads response bodies.
    pub fn buffer(mut self, change: impl FnOnce(BufferLayer) -> BufferLayer) -> Self {
        self.buffer = change(self.buffer);
        self
    }

    /// Changes the limits of one attempt.
    pub fn attempt(
        mut self,
        change: impl FnOnce(AttemptTimeoutLayer) -> AttemptTimeoutLayer,
    ) -> Self {
        self.attempt = change(self.attempt);
        self
    }
}

impl<S> Layer<S> for RecommendedLayer {
    type Service = Recommended<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ServiceBuilder::new()
            // One instant for everything below, so that no wait of theirs leads past it.
            .layer(self.deadline)
            // Outside of everything that keeps state per partition.
            .layer(self.partition.clone())
            // Its memory is asked for every attempt, so it only has to come before the first.
            .layer(self.ppaf.clone())
            // Outside of everything that sends twice: every attempt carries the same token.
            .layer(self.session_token.clone())
            // Outside of failover, which gets past a region that is down on the way to the hub.
            .layer(self.session_retry.clone())
            // Moves once the layers below have done what can be done in the region.
            .layer(self.failover.clone())
            // Asked for every attempt, too: it decides where the moves above lead.
            .layer(self.circuit_breaker.clone())
            // Collisions are settled where they happened.
            .layer(self.retry_with)
            // Waits for the region that asked for it, so it is inside of the move.
            .layer(self.throttle)
            // Closest to the connection: a dying one is mended before anybody else hears of it.
            .layer(self.reconnect)
            // From here on down a request has a region, and is an attempt in the journal.
            .layer(self.endpoint.clone())
            // Each attempt with the date of its own sending, and only if it is for the account.
            .layer(self.signing.clone())
            // Inside of the attempt, so that a body that breaks off fails it.
            .layer(self.buffer)
            // Closest to the client: it also wraps the body that the buffer reads.
            .layer(self.attempt)
            .service(inner)
    }
}
