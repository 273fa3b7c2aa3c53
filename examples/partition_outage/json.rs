//! The results as one JSON object.

use serde_json::{Map, Value, json};

use crate::recorder::Side;
use crate::results::Results;
use crate::setup::REGIONS;
use crate::wire::PerRegion;
use crate::{ATTEMPT, WAIT};

/// The object that `--json` prints. Requests are as the servers counted them.
pub(crate) fn object(results: &Results) -> Value {
    let world = &results.world;
    let ranges = world.ranges.iter().enumerate();
    let ranges: Map<_, _> = ranges
        .map(|(index, name)| (name.clone(), by_region(results.requests.of_range(index))))
        .collect();
    let recoveries = results.recoveries();
    let recoveries: Vec<_> = recoveries
        .into_iter()
        .map(|after| after.map(|after| after.as_millis()))
        .collect();
    let changes: Vec<_> = results
        .changes
        .iter()
        .map(|change| {
            json!({
                "at_s": change.at.as_secs_f64(),
                "range": change.transition.range.as_ref().map(ToString::to_string),
                "region": change.transition.region.name(),
                "from": change.transition.from.name(),
                "to": change.transition.to.name(),
            })
        })
        .collect();
    json!({
        "seconds": results.options.duration().as_secs(),
        "rate": results.options.rate,
        "circuit_wait_s": WAIT.as_secs_f64(),
        "attempt_limit_s": ATTEMPT.as_secs_f64(),
        "preferred_region": REGIONS[0],
        "sick_range": world.sick,
        "operations": results.operations(),
        "failed": results.failed(),
        "failures_by_cause": results.recorded.failures,
        "trips": results.counters.trips,
        "probes": results.counters.probes,
        "recovered_after_ms": results.recovered_after().map(|after| after.as_millis()),
        "recoveries_ms": recoveries,
        "healthy_partitions_moved": results.healthy_moved(),
        "sick_partition_requests_to_sick_region_while_open": results.sick_while_open(),
        "requests_by_range_and_region": ranges,
        "sick_partition": side(&results.recorded.sick),
        "healthy_partitions": side(&results.recorded.healthy),
        "transitions": changes,
        "report": results.options.report,
    })
}

fn side(side: &Side) -> Value {
    json!({
        "operations": side.operations,
        "failed": side.failed,
        "p50_ms": side.latencies.quantile_ms(0.5),
        "p99_ms": side.latencies.quantile_ms(0.99),
        "max_ms": side.latencies.max_ms(),
    })
}

fn by_region(counts: PerRegion) -> Value {
    let named = REGIONS.iter().zip(counts);
    named
        .map(|(region, count)| ((*region).to_owned(), json!(count)))
        .collect::<Map<_, _>>()
        .into()
}
