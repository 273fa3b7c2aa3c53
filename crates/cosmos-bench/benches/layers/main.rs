//! A healthy point read through each layer alone, over an instant leaf, for daily work.
//!
//! `cargo bench -p cosmos-bench --bench layers [-- NAME]`
//!
//! Every row includes building the request, the leaf and one `block_on`, as the first does. What a
//! layer costs beside the others, and beside the peers, is `cosmos-bench compare`'s to say.

use std::time::Duration;

use cosmos_bench::InstantLeaf;
use cosmos_bench::operation::{Answers, account, credential, one_key, read, run, runtime};
use divan::{AllocProfiler, Bencher, Divan};
use tower::Layer;
use tower_cosmos::{
    AttemptTimeoutLayer, BufferLayer, BufferRequestLayer, CircuitBreakerLayer, DeadlineLayer,
    EndpointLayer, PartitionLayer, PpafLayer, RecommendedLayer, RegionFailoverLayer,
    RetryWithLayer, SessionRetryLayer, SessionTokenLayer, ShardReconnectLayer, SigningLayer,
    ThrottleRetryLayer,
};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    // Enough reads in a sample for the clock, and for what happens to all of them now and then.
    Divan::default().sample_size(500).config_with_args().main();
}

fn reads<L>(bencher: Bencher<'_, '_>, layer: L)
where
    L: Layer<InstantLeaf>,
    L::Service: Answers,
{
    let (runtime, key) = (runtime(), one_key());
    let mut service = layer.layer(InstantLeaf::new());
    bencher.bench_local(|| run(&runtime, read(&mut service, &key)));
}

#[divan::bench]
fn a_bare_leaf(bencher: Bencher<'_, '_>) {
    reads(bencher, tower::layer::util::Identity::new());
}

#[divan::bench]
fn attempt_timeout(bencher: Bencher<'_, '_>) {
    reads(bencher, AttemptTimeoutLayer::new());
}

#[divan::bench]
fn buffer(bencher: Bencher<'_, '_>) {
    reads(bencher, BufferLayer::new());
}

#[divan::bench]
fn buffer_request(bencher: Bencher<'_, '_>) {
    reads(bencher, BufferRequestLayer::new());
}

#[divan::bench]
fn circuit_breaker(bencher: Bencher<'_, '_>) {
    reads(bencher, CircuitBreakerLayer::new(account()));
}

#[divan::bench]
fn deadline(bencher: Bencher<'_, '_>) {
    reads(
        bencher,
        DeadlineLayer::new().timeout(Duration::from_secs(10)),
    );
}

#[divan::bench]
fn endpoint(bencher: Bencher<'_, '_>) {
    reads(bencher, EndpointLayer::new(account()));
}

#[divan::bench]
fn partition(bencher: Bencher<'_, '_>) {
    reads(bencher, PartitionLayer::new(account()));
}

#[divan::bench]
fn ppaf(bencher: Bencher<'_, '_>) {
    reads(bencher, PpafLayer::new(account()));
}

#[divan::bench]
fn recommended(bencher: Bencher<'_, '_>) {
    reads(bencher, RecommendedLayer::new(account(), credential()));
}

#[divan::bench]
fn region_failover(bencher: Bencher<'_, '_>) {
    reads(bencher, RegionFailoverLayer::new(account()));
}

#[divan::bench]
fn retry_with(bencher: Bencher<'_, '_>) {
    reads(bencher, RetryWithLayer::new());
}

#[divan::bench]
fn session_retry(bencher: Bencher<'_, '_>) {
    reads(bencher, SessionRetryLayer::new(account()));
}

#[divan::bench]
fn session_token(bencher: Bencher<'_, '_>) {
    reads(bencher, SessionTokenLayer::new(account()));
}

#[divan::bench]
fn shard_reconnect(bencher: Bencher<'_, '_>) {
    reads(bencher, ShardReconnectLayer::new());
}

#[divan::bench]
fn signing(bencher: Bencher<'_, '_>) {
    reads(bencher, SigningLayer::new(credential()));
}

#[divan::bench]
fn throttle_retry(bencher: Bencher<'_, '_>) {
    reads(bencher, ThrottleRetryLayer::new());
}
