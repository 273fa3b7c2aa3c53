//! What a failure costs: a failover, a retry after throttling, a circuit that is open.

use cosmos_core::health::BreakerOptions;
use tokio::runtime::Runtime;
use tower::{Layer, Service};
use tower_cosmos::{Recommended, RecommendedLayer};

use super::healthy::{named, recommended};
use super::{Settings, goals};
use crate::cost::{Cost, Subject, costs};
use crate::instant::{Failure, Failures, InstantLeaf};
use crate::operation::{self, Answers, account, attempts, one_key, read, reads};
use crate::{Report, Section};

const TITLE: &str = "The failure path, over the same leaf";
const NOTE: &str = "+: over the healthy operation; in the rows below, without the attempt itself";

const ATTEMPT: &str = "the attempt itself: the bare leaf, an empty request";
const HEALTHY: &str = "healthy";
const FAILOVER: &str = "one failover: 503, then the next region";
const THROTTLED: &str = "one throttle retry: 429, no wait, the same region";
const OPEN: &str = "an open circuit: the next region at once";

pub(super) fn section(runtime: &Runtime, settings: &Settings, goals: &mut Report) -> Section {
    let subjects = vec![
        leaf(),
        reads(HEALTHY, runtime, steady().layer(InstantLeaf::new())),
        failing(
            runtime,
            FAILOVER,
            Failure::Unavailable,
            &["eastus", "westus"],
        ),
        failing(
            runtime,
            THROTTLED,
            Failure::Throttled,
            &["eastus", "eastus"],
        ),
        open(runtime),
    ];
    let costs = costs(settings.rounds, settings.allocator, subjects);
    let [attempt, healthy] = [ATTEMPT, HEALTHY].map(|name| named(&costs, name));
    let mut section = Section::of_costs(TITLE, NOTE, &[], healthy);
    section.add_cost(attempt, None);
    section.add_cost(healthy, None);
    for name in [FAILOVER, THROTTLED, OPEN] {
        section.add_cost(named(&costs, name), Some(healthy));
    }
    for name in [FAILOVER, THROTTLED] {
        let cost = added(named(&costs, name), healthy, attempt);
        if name == FAILOVER {
            goals::failover(goals, cost.nanos);
        }
        let figures = [cost.nanos, cost.allocations, cost.bytes].map(Some);
        let (kind, _) = name.split_once(':').unwrap_or((name, ""));
        section.add(
            format!("  {kind}, without the attempt itself"),
            [None; 6].into_iter().chain(figures),
        );
    }
    section
}

/// What an operation takes more than a healthy one, and than the attempt that it makes more.
fn added(cost: &Cost, healthy: &Cost, attempt: &Cost) -> Cost {
    let less = |of: fn(&Cost) -> f64| of(cost) - of(healthy) - of(attempt);
    Cost {
        nanos: less(|cost| cost.nanos),
        allocations: less(|cost| cost.allocations),
        bytes: less(|cost| cost.bytes),
        ..Cost::default()
    }
}

/// The recommended layers with circuits that record every failure and never open.
pub(super) fn steady() -> RecommendedLayer {
    let never = BreakerOptions::new()
        .reads_tolerated(u32::MAX)
        .min_requests(u32::MAX);
    let layers = recommended(&account()).breaker_options(never);
    layers.expect("good settings")
}

/// The stack around a leaf that answers 503 as often as it is told.
pub(super) fn failing_stack(failures: &Failures) -> Recommended<InstantLeaf> {
    steady().layer(InstantLeaf::failing_with(Failure::Unavailable, failures))
}

/// The leaf alone, asked for nothing in particular.
fn leaf<'a>() -> Subject<'a> {
    let mut leaf = InstantLeaf::new();
    Subject::new(ATTEMPT, move |operations| {
        for _ in 0..operations {
            let response = leaf.call(http::Request::new(()));
            let _ = std::hint::black_box(response.into_inner());
        }
    })
}

/// Operations whose first attempt fails, which lead to these regions.
fn failing<'a>(
    runtime: &'a Runtime,
    name: &str,
    failure: Failure,
    regions: &[&str],
) -> Subject<'a> {
    let failures = Failures::default();
    let leaf = InstantLeaf::failing_with(failure, &failures);
    let mut stack = steady().layer(leaf);
    let key = one_key();
    failures.set(1);
    let went = operation::run(runtime, attempts(&mut stack, &key));
    assert_eq!(went, regions, "{name}");
    Subject::new(name, move |operations| {
        operation::run(runtime, async {
            for _ in 0..operations {
                failures.set(1);
                read(&mut stack, &key).await;
            }
        });
    })
}

/// Operations of a partition whose circuit is open in the preferred region.
fn open(runtime: &Runtime) -> Subject<'_> {
    let failures = Failures::default();
    let leaf = InstantLeaf::failing_with(Failure::Unavailable, &failures);
    let mut stack = recommended(&account()).layer(leaf);
    failures.set(usize::MAX);
    operation::run(runtime, trip(&mut stack));
    failures.set(0);
    reads(OPEN, runtime, stack)
}

/// Reads until the preferred region is left alone.
async fn trip<S: Answers>(stack: &mut S) {
    for _ in 0..20 {
        read(stack, &one_key()).await;
    }
    assert_eq!(attempts(stack, &one_key()).await, ["westus"]);
}
