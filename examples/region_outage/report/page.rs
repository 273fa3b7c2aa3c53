//! The page around the plots.

use cosmos_examples::load::DEADLINE;
use cosmos_examples::page::{self, escaped, figure, legend, list, put};
use cosmos_examples::text::{count, latency, percent, seconds};

use super::plots::{self, REGION_CLASSES};
use crate::AVOIDED;
use crate::options::AccountKind;
use crate::results::{ClientResults, PhaseResults, Results};
use crate::setup::{HUB, NEXT_HUB, REGIONS};
use crate::table::retries;

/// The whole page.
pub(super) fn page(results: &Results) -> String {
    let mut page = page::begin("One regional outage, two clients");
    head(&mut page, results);
    let Results {
        plain,
        stack,
        schedule,
        ..
    } = results;
    let clients = legend(&[("plain", "plain client"), ("stack", "with the layers")]);
    figure(
        &mut page,
        "Operations that succeeded",
        &clients,
        &plots::success(results),
    );
    let percentiles = legend(&[
        ("plain", "plain client, 99th percentile"),
        ("plain median", "median"),
        ("stack", "with the layers, 99th percentile"),
        ("stack median", "median"),
    ]);
    figure(
        &mut page,
        "How long operations took, the failed ones included",
        &percentiles,
        &plots::latencies(results),
    );
    let regions: Vec<_> = REGION_CLASSES.into_iter().zip(REGIONS).collect();
    let regions = legend(&regions);
    let name = "Where the requests of the client with the layers went";
    let drawn = plots::traffic(name, &stack.timeline, &schedule.frame());
    figure(&mut page, name, &regions, &drawn);
    let name = "Where the plain client's requests went (gaps: it reached no region)";
    let drawn = plots::traffic(name, &plain.timeline, &schedule.frame());
    figure(&mut page, name, &regions, &drawn);
    phases(&mut page, results);
    details(&mut page, results);
    page::end(page)
}

fn head(page: &mut String, results: &Results) {
    let Results {
        options,
        plain,
        stack,
        ..
    } = results;
    let (writers, consequence) = match options.account {
        AccountKind::Single => (
            "one region that accepts writes",
            " As long as the only one that accepts writes fails, so do writes, whatever a client does; \
             reads need not.",
        ),
        AccountKind::Multi => ("three regions that accept writes", ""),
    };
    put(
        page,
        format_args!(
            "<h1>One regional outage, two clients</h1>\n\
             <p>Both get the same {} operations per second (1 in 10 a write) on an account with {writers}, \
             and both prefer {HUB}. That region fails in one way after the other; the rest stay well.\
             {consequence} An operation that takes longer than {} s has failed.</p>\n<div class=\"cards\">\n",
            options.rate,
            DEADLINE.as_secs(),
        ),
    );
    card(
        page,
        "plain",
        "Plain HTTP client, pinned to the region",
        plain,
    );
    card(
        page,
        "stack",
        "The same with the layers of tower-cosmos",
        stack,
    );
    page.push_str("</div>\n");
}

fn card(page: &mut String, class: &str, name: &str, client: &ClientResults) {
    let tally = &client.total.tally;
    put(
        page,
        format_args!(
            "<section class=\"card {class}\"><h2>{name}</h2><p class=\"big\">{}</p>\
             <p>{} of {} operations failed<br>median {}, 99th percentile {}, longest {}</p></section>\n",
            percent(tally.success_rate()),
            count(tally.failed()),
            count(tally.operations),
            latency(tally.latencies.quantile_ms(0.5)),
            latency(tally.latencies.quantile_ms(0.99)),
            latency(tally.latencies.max_ms()),
        ),
    );
}

fn phases(page: &mut String, results: &Results) {
    page.push_str(
        "<h2>By phase</h2>\n<table>\n<thead>\n<tr><th colspan=\"2\"></th>\
         <th colspan=\"2\" class=\"plain\">plain client</th>\
         <th colspan=\"2\" class=\"stack\">with the layers</th>\
         <th colspan=\"3\" class=\"stack\">its requests, as the servers counted them</th></tr>\n\
         <tr><th>seconds</th><th class=\"text\">the preferred region</th>\
         <th>good</th><th>p99</th><th>good</th><th>p99</th>",
    );
    for region in REGIONS {
        put(page, format_args!("<th>{region}</th>"));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    let spans = results.schedule.spans();
    let both = results.plain.phases.iter().zip(&results.stack.phases);
    for ((phase, span), (plain, stack)) in spans.zip(both) {
        put(
            page,
            format_args!(
                "<tr><td>{} – {}</td><td class=\"text\">{}</td>{}{}",
                seconds(span.start),
                seconds(span.end),
                phase.description(),
                cells(plain),
                cells(stack)
            ),
        );
        for requests in stack.requests {
            put(page, format_args!("<td>{}</td>", count(requests)));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n");
}

fn cells(phase: &PhaseResults) -> String {
    let good = percent(phase.tally.success_rate());
    let high = latency(phase.tally.latencies.quantile_ms(0.99));
    format!("<td>{good}</td><td>{high}</td>")
}

fn details(page: &mut String, results: &Results) {
    let Results { plain, stack, .. } = results;
    page.push_str("<div class=\"columns\">\n");
    list(page, "Why the layers tried again", retries(stack));
    list(
        page,
        "Why the plain client's operations failed",
        &plain.total.tally.failures,
    );
    if stack.total.tally.failed() > 0 {
        let failures = &stack.total.tally.failures;
        list(
            page,
            "Why operations failed in spite of the layers",
            failures,
        );
    }
    page.push_str("</div>\n");
    if !stack.examples.is_empty() {
        page.push_str("<details><summary>Some of these operations, with every attempt</summary>\n");
        for example in &stack.examples {
            put(page, format_args!("<pre>{}</pre>\n", escaped(example)));
        }
        page.push_str("</details>\n");
    }
    let moved = match results.options.account {
        AccountKind::Single => "writes follow it",
        AccountKind::Multi => "every region still accepts writes",
    };
    put(
        page,
        format_args!(
            "<h2>How it was measured</h2>\n<ul>\n\
             <li>Operations begin at fixed times (to a millisecond), whatever became of those before; \
             latency counts from then on.</li>\n\
             <li>Success and latency are shown at the time at which operations were due, requests at \
             the time at which a server read them. The servers count.</li>\n\
             <li>Each client has an embedded account of its own, in the same process, under the same \
             schedule.</li>\n\
             <li>The layers avoid a region for {mark} s after it failed, then let one request try it. The \
             default is 60 s, longer than these phases.</li>\n\
             <li>A trial that meets a region that never answers takes 6 s to find out: these are the \
             longest operations, and the reason why the return to the region takes longest then.</li>\n\
             <li>When the hub moves, it moves to {NEXT_HUB}; {moved}.</li>\n</ul>\n",
            mark = AVOIDED.as_secs(),
        ),
    );
}
