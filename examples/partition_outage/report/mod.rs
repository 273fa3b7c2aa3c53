//! The report: one page that needs nothing else, with plots drawn as SVG.

mod plots;

use std::io;
use std::path::Path;

use cosmos_examples::page::{self, escaped, figure, legend, list, put};
use cosmos_examples::text::{count, latency, seconds};

use crate::recorder::Side;
use crate::results::Results;
use crate::setup::REGIONS;
use crate::{ATTEMPT, WAIT};

/// Writes the report, and the folder that it is in.
pub(crate) fn write(results: &Results, path: &Path) -> io::Result<()> {
    page::write(path, &page(results))
}

fn page(results: &Results) -> String {
    let mut page = page::begin("One sick partition");
    head(&mut page, results);
    let states = legend(&plots::STATES);
    let drawn = plots::circuits(results);
    figure(
        &mut page,
        "The circuits that were not closed",
        &states,
        &drawn,
    );
    let regions: Vec<_> = plots::REGION_CLASSES.into_iter().zip(REGIONS).collect();
    let regions = legend(&regions);
    for (index, range) in results.world.ranges.iter().enumerate() {
        let title = if index == 0 {
            format!("Where the requests for the sick partition went (range {range})")
        } else {
            format!("Where the requests for range {range} went")
        };
        let drawn = plots::traffic(&title, results, index);
        figure(&mut page, &title, &regions, &drawn);
    }
    let sides = legend(&[
        ("plain", "sick partition, 99th percentile"),
        ("plain median", "median"),
        ("stack", "the others, 99th percentile"),
        ("stack median", "median"),
    ]);
    let drawn = plots::latencies(results);
    figure(&mut page, "How long operations took", &sides, &drawn);
    details(&mut page, results);
    page::end(page)
}

fn head(page: &mut String, results: &Results) {
    let options = &results.options;
    put(
        page,
        format_args!(
            "<h1>One sick partition</h1>\n\
             <p>{} operations per second (1 in 10 a write) over a container of {} partitions, in an account \
             of three regions that accept writes. One partition fails in {}, which is preferred; the others \
             stay well there.</p>\n<div class=\"cards\">\n",
            options.rate,
            results.world.ranges.len(),
            REGIONS[0],
        ),
    );
    card(page, "plain", "The sick partition", &results.recorded.sick);
    card(page, "stack", "The others", &results.recorded.healthy);
    page.push_str("</div>\n");
}

fn card(page: &mut String, class: &str, name: &str, side: &Side) {
    put(
        page,
        format_args!(
            "<section class=\"card {class}\"><h2>{name}</h2><p class=\"big\">{} failed</p>\
             <p>of {} operations<br>median {}, 99th percentile {}, longest {}</p></section>\n",
            count(side.failed),
            count(side.operations),
            latency(side.latencies.quantile_ms(0.5)),
            latency(side.latencies.quantile_ms(0.99)),
            latency(side.latencies.max_ms()),
        ),
    );
}

fn details(page: &mut String, results: &Results) {
    page.push_str("<div class=\"columns\">\n");
    let probes =
        "Requests for the sick partition that the sick region read while its circuit was open";
    list(
        page,
        "As the servers and the circuits counted",
        [
            ("The circuit opened", results.counters.trips),
            ("Probes", results.counters.probes),
            (probes, results.sick_while_open()),
            (
                "Requests for other partitions that moved",
                results.healthy_moved(),
            ),
        ],
    );
    if results.failed() > 0 {
        list(page, "Why operations failed", &results.recorded.failures);
    }
    page.push_str("</div>\n");
    for example in &results.recorded.examples {
        put(page, format_args!("<pre>{}</pre>\n", escaped(example)));
    }
    page.push_str("<h2>How it was measured</h2>\n<ul>\n");
    for after in results.recoveries() {
        let after = after.map_or_else(
            || "not back by the end".to_owned(),
            |after| format!("back {} s after its sickness ended", seconds(after)),
        );
        put(page, format_args!("<li>The partition was {after}.</li>\n"));
    }
    put(
        page,
        format_args!(
            "<li>Operations begin at fixed times, whatever became of those before; latency counts from then \
             on. Requests are shown at the time at which a server read them.</li>\n\
             <li>A circuit waits {} s (and up to a quarter longer) for its probe here, an attempt takes at \
             most {} s. The defaults are 60 s, then 120 s, and 6 s.</li>\n\
             <li>Ten reads or five writes in a row have to fail before the circuit opens: until then, each \
             costs its operation one attempt. Where the partition hangs, that is {} s.</li>\n</ul>\n",
            WAIT.as_secs(),
            ATTEMPT.as_secs(),
            ATTEMPT.as_secs(),
        ),
    );
}
