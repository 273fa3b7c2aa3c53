//! The plots of the report.

use cosmos_examples::frame::Frame;
use cosmos_examples::plot::{Axis, Plot};
use cosmos_examples::text::{latency, percent, shares};

use crate::measure::{Slice, Timeline};
use crate::results::Results;
use crate::setup::REGIONS;

/// The classes under which the style sheet knows the regions' colours.
pub(super) const REGION_CLASSES: [&str; REGIONS.len()] = ["region-a", "region-b", "region-c"];

/// The success rate of both clients.
pub(super) fn success(results: &Results) -> String {
    let name = "Success rate over time";
    let mut plot = Plot::new(name, 230.0, Axis::Percent, results.schedule.frame());
    let rate = |slice: &Slice| slice.success_rate().map(|rate| 100.0 * rate);
    plot.line("plain", results.plain.slices.iter().map(rate));
    plot.line("stack", results.stack.slices.iter().map(rate));
    hints(&mut plot, results, |slice| percent(slice.success_rate()));
    plot.finish()
}

/// Median and 99th percentile of both clients.
pub(super) fn latencies(results: &Results) -> String {
    let axis = Axis::LogMillis {
        from: 0.5,
        to: 20_000.0,
    };
    let mut plot = Plot::new("Latency over time", 300.0, axis, results.schedule.frame());
    let at = |quantile| move |slice: &Slice| slice.latencies.quantile_ms(quantile);
    plot.line("plain median", results.plain.slices.iter().map(at(0.5)));
    plot.line("stack median", results.stack.slices.iter().map(at(0.5)));
    plot.line("plain", results.plain.slices.iter().map(at(0.99)));
    plot.line("stack", results.stack.slices.iter().map(at(0.99)));
    hints(&mut plot, results, |slice| {
        let [median, high] = [0.5, 0.99].map(|q| latency(slice.latencies.quantile_ms(q)));
        format!("median {median}, p99 {high}")
    });
    plot.finish()
}

/// Which region a client's requests went to.
pub(super) fn traffic(name: &str, timeline: &Timeline, frame: &Frame) -> String {
    let mut plot = Plot::new(name, 170.0, Axis::Percent, frame.clone());
    for (slice, requests) in timeline.iter().enumerate() {
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

fn hints(plot: &mut Plot, results: &Results, show: impl Fn(&Slice) -> String) {
    let frame = results.schedule.frame();
    let slices = results.plain.slices.iter().zip(&results.stack.slices);
    for (number, (plain, stack)) in slices.enumerate() {
        let at = frame.slice_start(number).as_secs_f64();
        let text = format!("{at:.1} s\nplain: {}\nstack: {}", show(plain), show(stack));
        plot.hint(number, &text);
    }
}
