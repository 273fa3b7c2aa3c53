//! `tower-resilience`: a time limiter around a circuit breaker around a retry.

use std::time::Duration;

use tokio::runtime::Runtime;
use tower::ServiceBuilder;
use tower_resilience::circuitbreaker::CircuitBreakerLayer;
use tower_resilience::retry::RetryLayer;
use tower_resilience::timelimiter::TimeLimiterLayer;

use crate::cost::Subject;
use crate::instant::{InstantLeaf, Req};
use crate::operation::reads;

pub(super) fn subject(runtime: &Runtime) -> Subject<'_> {
    let breaker = CircuitBreakerLayer::builder()
        .failure_rate_threshold(0.9)
        .sliding_window_size(100)
        .build()
        .expect("good settings");
    let limiter = TimeLimiterLayer::builder()
        .timeout_duration(Duration::from_secs(10))
        .build();
    let retry = RetryLayer::<Req, _, _>::builder().max_attempts(4).build();
    let service = ServiceBuilder::new()
        .layer(limiter)
        .layer(retry)
        .layer(breaker)
        .service(InstantLeaf::new());
    reads(
        "tower-resilience: time limiter, retry, circuit breaker",
        runtime,
        service,
    )
}
