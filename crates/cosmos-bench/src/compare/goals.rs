//! What the figures are held to.

use std::time::Duration;

use super::healthy::{LEAF, STACK, UNSIGNED, named};
use crate::cost::Cost;
use crate::loopback::ALLOWED;
use crate::report::Goal;
use crate::{Report, peers};

/// The longest that an operation may take, everywhere.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// The healthy path: the stack against the Azure driver, and against fixed figures.
pub(super) fn healthy(report: &mut Report, costs: &[Cost]) {
    let added = |name| named(costs, name).nanos - named(costs, LEAF).nanos;
    if let Some(driver) = costs.iter().find(|cost| cost.name == peers::DRIVER) {
        let share = driver.nanos / added(STACK);
        report.add(
            "Azure driver's point read / what the stack adds (aim: 40 x)",
            share,
            "x",
            Some(Goal::AtLeast(20.0)),
        );
    }
    // A twentieth of the 87 us that the driver was once measured at, whatever it takes today.
    report.add(
        "the stack adds (aim: 2200 ns)",
        added(STACK),
        "ns",
        Some(Goal::AtMost(4_400.0)),
    );
    report.add(
        "the stack without signing adds (aim: 2000 ns)",
        added(UNSIGNED),
        "ns",
        Some(Goal::AtMost(3_500.0)),
    );
    let allocations = named(costs, STACK).allocations - named(costs, LEAF).allocations;
    report.add(
        "allocations that the stack adds (aim: 15)",
        allocations,
        "",
        Some(Goal::AtMost(45.0)),
    );
}

/// Layers that have nothing to do on the healthy path and keep no copy.
const IDLE: [&str; 6] = [
    "+ BufferLayer",
    "+ CircuitBreakerLayer",
    "+ SessionTokenLayer (off)",
    "+ PpafLayer",
    "+ PartitionLayer",
    "+ DeadlineLayer",
];

/// What layers with nothing to do allocate. The innermost makes the operation's state for all, so
/// it counts only where another has made it.
pub(super) fn layers(report: &mut Report, costs: &[Cost]) {
    let mut most = (0.0, "");
    for pair in costs.windows(2).skip(1) {
        let [below, own] = pair else { continue };
        let added = own.allocations - below.allocations;
        if IDLE.contains(&own.name.as_str()) && added > most.0 {
            most = (added, own.name.trim_start_matches("+ "));
        }
    }
    let name = match most {
        (_, "") => "allocations of a layer with nothing to do".to_owned(),
        (_, layer) => format!("allocations of a layer with nothing to do: {layer}"),
    };
    report.add(name, most.0, "", Some(Goal::AtMost(0.0)));
}

/// One failover.
pub(super) fn failover(report: &mut Report, nanos: f64) {
    let goal = Some(Goal::AtMost(3_000.0));
    report.add(
        "one failover, without the attempt itself",
        nanos,
        "ns",
        goal,
    );
}

/// Over loopback, beside a bare client: processor time in microseconds, and with many at a time
/// throughput and latency.
pub(super) fn loopback(report: &mut Report, name: &str, cpu: f64, busiest: Option<(f64, f64)>) {
    let goal = Some(Goal::AtMost(ALLOWED.as_secs_f64() * 1e6));
    report.add(
        format!("{name}: processor time more than bare hyper"),
        cpu,
        "us",
        goal,
    );
    if let Some((throughput, p99)) = busiest {
        let goal = Some(Goal::AtLeast(0.9));
        report.add(
            format!("{name}: throughput / bare hyper's"),
            throughput,
            "x",
            goal,
        );
        let goal = Some(Goal::AtMost(1.15));
        report.add(format!("{name}: p99 / bare hyper's"), p99, "x", goal);
    }
}

/// Two threads against one.
pub(super) fn threads(report: &mut Report, name: &str, ratio: f64) {
    let name = format!("throughput of two threads / one, {name}");
    report.add(name, ratio, "x", Some(Goal::AtLeast(1.7)));
}
