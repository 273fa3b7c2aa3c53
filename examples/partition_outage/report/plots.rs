//! The plots of the report.

use std::collections::BTreeMap;

use cosmos_core::health::State;
use cosmos_examples::latencies::Latencies;
use cosmos_examples::plot::{Axis, Plot};
use cosmos_examples::text::{latency, shares};

use crate::circuits::Change;
use crate::results::Results;
use crate::setup::REGIONS;

/// The classes under which the style sheet knows the regions' colours.
pub(super) const REGION_CLASSES: [&str; REGIONS.len()] = ["region-a", "region-b", "region-c"];

/// The classes of the circuits' states, and what they mean.
pub(super) const STATES: [(&str, &str); 3] = [
    ("state-tentative", "open, first probe to come"),
    ("state-unhealthy", "open, a probe has failed"),
    ("state-probing", "open, a probe is on its way"),
];

/// How wide a probe is drawn, in seconds.
const PROBE: f64 = 0.06;

fn class(state: State) -> Option<(&'static str, &'static str)> {
    match state {
        State::UnhealthyTentative => Some(STATES[0]),
        State::Unhealthy => Some(STATES[1]),
        State::HealthyTentative => Some(STATES[2]),
        _ => None,
    }
}

/// The states of every circuit that ever opened, one lane each, and the sick partition's probes.
pub(super) fn circuits(results: &Results) -> String {
    let mut lanes = BTreeMap::<String, Vec<&Change>>::new();
    for change in &results.changes {
        let range = change.transition.range.as_ref();
        let range = range.map_or_else(|| "-".to_owned(), ToString::to_string);
        lanes
            .entry(format!("range {range}"))
            .or_default()
            .push(change);
    }
    let frame = results.schedule.frame();
    let end = frame.total().as_secs_f64();
    let names: Vec<_> = lanes.keys().cloned().collect();
    let mut plot = Plot::new("Circuits over time", 110.0, Axis::Lanes(names), frame);
    let mut bottom = 0.0;
    for (name, changes) in &lanes {
        let ends = changes.iter().skip(1).map(|next| next.at.as_secs_f64());
        for (change, until) in changes.iter().zip(ends.chain([end])) {
            let from = change.at.as_secs_f64();
            if let Some((class, meaning)) = class(change.transition.to) {
                let region = change.transition.region.name();
                let text =
                    format!("{name} in {region}, from {from:.2} s to {until:.2} s: {meaning}");
                let until = until.min(end);
                plot.band(
                    class,
                    &(from..until),
                    &(bottom + 0.15..bottom + 0.85),
                    &text,
                );
            }
        }
        if *name == format!("range {}", results.world.sick) {
            for at in results.read_while_open() {
                let at = at.as_secs_f64();
                let text = format!("{at:.2} s: the sick region read a probe");
                let span = at..(at + PROBE).min(end);
                plot.band(STATES[2].0, &span, &(bottom..bottom + 1.0), &text);
            }
        }
        bottom += 1.0;
    }
    plot.finish()
}

/// Which region the requests for a range went to.
pub(super) fn traffic(name: &str, results: &Results, range: usize) -> String {
    let frame = results.schedule.frame();
    let mut plot = Plot::new(name, 120.0, Axis::Percent, frame.clone());
    for (slice, requests) in results.requests.slices[range].iter().enumerate() {
        plot.stack(slice, REGION_CLASSES.into_iter().zip(shares(requests)));
        let counts = REGIONS.iter().zip(requests);
        let counts: Vec<String> = counts.map(|(region, n)| format!("{region}: {n}")).collect();
        let at = frame.slice_start(slice).as_secs_f64();
        plot.hint(
            slice,
            &format!("{at:.1} s, requests read\n{}", counts.join("\n")),
        );
    }
    plot.finish()
}

/// Median and 99th percentile of the sick partition's operations and of all others.
pub(super) fn latencies(results: &Results) -> String {
    let axis = Axis::LogMillis {
        from: 0.5,
        to: 20_000.0,
    };
    let frame = results.schedule.frame();
    let mut plot = Plot::new("Latency over time", 260.0, axis, frame.clone());
    let (sick, healthy) = (&results.recorded.sick, &results.recorded.healthy);
    let at = |quantile| move |slice: &Latencies| slice.quantile_ms(quantile);
    plot.line("plain median", sick.slices.iter().map(at(0.5)));
    plot.line("stack median", healthy.slices.iter().map(at(0.5)));
    plot.line("plain", sick.slices.iter().map(at(0.99)));
    plot.line("stack", healthy.slices.iter().map(at(0.99)));
    for (slice, (sick, healthy)) in sick.slices.iter().zip(&healthy.slices).enumerate() {
        let start = frame.slice_start(slice).as_secs_f64();
        let show = |of: &Latencies| {
            let [median, high] = [0.5, 0.99].map(|quantile| latency(of.quantile_ms(quantile)));
            format!("median {median}, p99 {high}")
        };
        let text = format!(
            "{start:.1} s\nsick: {}\nothers: {}",
            show(sick),
            show(healthy)
        );
        plot.hint(slice, &text);
    }
    plot.finish()
}
