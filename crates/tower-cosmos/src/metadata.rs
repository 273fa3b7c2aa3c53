//! The small stack for reads of our own: a container's properties and its partition key ranges.
//!
//! They go through the account's leaf, never through a service that was polled ready for somebody's
//! request, and have limits and budgets of their own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cosmos_core::health::PartitionStandings;
use cosmos_core::{
    AccountId, BoxError, Breaker, Ended, Entered, OperationOptions, Partition, Region, Route,
};
use http::{Request, Response};
use http_body_util::{BodyExt, Collected, Full};
use tower::util::BoxCloneSyncService;
use tower::{ServiceBuilder, ServiceExt};

use crate::clock::now;
use crate::{
    Account, AttemptTimeoutLayer, BufferLayer, DeadlineLayer, EndpointLayer, RegionFailoverLayer,
    ShardReconnectLayer, SigningLayer, ThrottleRetryLayer,
};

/// The longest that a read may take, all its tries together.
const LIMIT: Duration = Duration::from_secs(30);

/// Sends reads of our own.
pub(crate) type Service =
    BoxCloneSyncService<Request<Full<Bytes>>, Response<Full<Bytes>>, BoxError>;

/// The stack for reads of our own.
pub(crate) fn service(account: &Account) -> Service {
    let jitter = account.jitter();
    let service = ServiceBuilder::new()
        .layer(DeadlineLayer::new().timeout(LIMIT))
        .layer(RegionFailoverLayer::new(account.clone()).jitter(jitter))
        .layer(ThrottleRetryLayer::new().jitter(jitter))
        .layer(ShardReconnectLayer::new())
        .layer(EndpointLayer::new(account.clone()))
        .layer(SigningLayer::new(account.credential()).clock(account.clock().clone()))
        .layer(BufferLayer::new())
        .layer(AttemptTimeoutLayer::new().metadata(account.read_timeout()))
        .service(account.leaf());
    BoxCloneSyncService::new(service)
}

/// Sends the reads that an operation needs.
#[derive(Clone)]
pub(crate) struct Reads {
    account: AccountId,
    service: Service,
    // A read goes on for others, but it is sent for the operation that began it.
    options: OperationOptions,
}

impl Reads {
    /// Reads that keep away from the regions that the operation excludes.
    pub(crate) fn of(account: AccountId, service: &Service, route: &Route) -> Self {
        let rules = route.rules();
        let options = OperationOptions::new().strict_exclusions(rules.strict);
        Self {
            account,
            service: service.clone(),
            options: rules
                .excluded
                .iter()
                .fold(options, OperationOptions::exclude),
        }
    }
}

/// Sends a read of our own; `prefer` is the region to ask first.
///
/// Returns the answer, and the region that it came from.
pub(crate) async fn read(
    reads: &Reads,
    mut request: Request<Full<Bytes>>,
    prefer: Option<Region>,
) -> Result<(Response<Full<Bytes>>, Option<Region>), BoxError> {
    request.extensions_mut().insert(reads.options.clone());
    let Some(Entered { mut route, .. }) = Route::enter(&mut request, now()) else {
        return Err("no request for the account".into());
    };
    // What fails here says little of the endpoint's data: it is marked only if it cannot be reached.
    route.plant_breaker(reads.account, || Arc::new(Lenient));
    route.steering.pin = prefer;
    request.extensions_mut().insert(route.clone());
    let response = reads.service.clone().oneshot(request).await?;
    let region = route.with_attempts(|attempts| attempts.last().map(|attempt| attempt.region));
    Ok((response, region))
}

/// The body of an answer that was read to its end.
pub(crate) async fn body_of(response: Response<Full<Bytes>>) -> Bytes {
    // A `Full` body is there already and cannot fail.
    let collected = response.into_body().collect().await;
    collected.map(Collected::to_bytes).unwrap_or_default()
}

/// Counts nothing.
#[derive(Debug)]
struct Lenient;

impl Breaker for Lenient {
    fn standings(&self, _: Partition<'_>, _: Instant) -> PartitionStandings {
        PartitionStandings::default()
    }

    fn take_probe(&self, _: Partition<'_>, _: Region, _: u64, _: Instant) -> bool {
        false
    }

    fn renew(&self, _: Partition<'_>, _: Region, _: u64, _: Instant) {}

    fn release(&self, _: Partition<'_>, _: Region, _: u64, _: Instant) {}

    fn ended(&self, _: &Ended<'_>, _: Instant) -> bool {
        false
    }

    fn forget(&self, _: Partition<'_>) {}
}
