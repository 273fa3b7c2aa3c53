//! The results as text.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use cosmos_examples::text::{count, latency, percent, seconds};

use crate::results::{ClientResults, PhaseResults, Results};
use crate::setup::REGIONS;

/// Prints the results as tables.
#[derive(Debug)]
pub(crate) struct Tables<'a>(pub(crate) &'a Results);

impl Display for Tables<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Results { plain, stack, .. } = self.0;
        row(f, "", "plain", "stack")?;
        rule(f)?;
        both(f, "operations", plain, stack, |of| {
            count(of.total.tally.operations)
        })?;
        both(f, "failed", plain, stack, |of| {
            count(of.total.tally.failed())
        })?;
        both(f, "  reads", plain, stack, |of| {
            count(of.total.tally.reads_failed)
        })?;
        both(f, "  writes", plain, stack, |of| {
            count(of.total.tally.writes_failed)
        })?;
        both(f, "success rate", plain, stack, |of| {
            percent(of.total.tally.success_rate())
        })?;
        both(f, "latency, median", plain, stack, |of| {
            quantile(&of.total, 0.5)
        })?;
        both(f, "latency, 99th percentile", plain, stack, |of| {
            quantile(&of.total, 0.99)
        })?;
        both(f, "latency, longest", plain, stack, |of| {
            latency(of.total.tally.latencies.max_ms())
        })?;
        rule(f)?;
        row(f, "requests that the servers counted", "", "")?;
        for (index, region) in REGIONS.iter().enumerate() {
            both(f, &format!("  {region}"), plain, stack, |of| {
                count(of.total.requests[index])
            })?;
        }
        rule(f)?;
        row(f, "retries", "", "")?;
        let reasons = retries(stack);
        for (reason, number) in reasons {
            row(f, &format!("  {reason}"), "-", &count(number))?;
        }
        writeln!(f)?;
        phases(f, self.0)
    }
}

/// Retries by their reason and what they followed, such as `failover after 503`.
pub(crate) fn retries(client: &ClientResults) -> BTreeMap<String, u64> {
    let retries = client.total.tally.retries.iter();
    retries
        .map(|((reason, followed), number)| {
            (format!("{} after {followed}", reason.name()), *number)
        })
        .collect()
}

/// One line a phase. Which requests are whose phase's is decided by when a server read them.
fn phases(f: &mut Formatter<'_>, results: &Results) -> fmt::Result {
    line(
        f,
        &["", "", "plain", "", "stack", "", "stack's requests", "", ""],
    )?;
    let [first, second, third] = REGIONS;
    let names = ["seconds", "phase", "good", "p99", "good", "p99"];
    line(f, &[names.as_slice(), &[first, second, third]].concat())?;
    writeln!(f, "  {}", "─".repeat(106))?;
    let spans = results.schedule.spans();
    let phases = results.plain.phases.iter().zip(&results.stack.phases);
    for ((phase, span), (plain, stack)) in spans.zip(phases) {
        let (from, to) = (seconds(span.start), seconds(span.end));
        let [first, second, third] = stack.requests.map(count);
        line(
            f,
            &[
                format!("{from} - {to}"),
                phase.name().to_owned(),
                percent(plain.tally.success_rate()),
                quantile(plain, 0.99),
                percent(stack.tally.success_rate()),
                quantile(stack, 0.99),
                first,
                second,
                third,
            ],
        )?;
    }
    Ok(())
}

/// A line of the phases' table.
fn line(f: &mut Formatter<'_>, cells: &[impl AsRef<str>]) -> fmt::Result {
    const WIDTHS: [usize; 9] = [11, 10, 10, 9, 11, 9, 17, 11, 13];
    let mut line = String::from(" ");
    for (column, (cell, width)) in cells.iter().zip(WIDTHS).enumerate() {
        let cell = cell.as_ref();
        // Words to the left, numbers to the right.
        let cell = match column {
            1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        };
        line.push(' ');
        line.push_str(&cell);
    }
    writeln!(f, "{}", line.trim_end())
}

fn both(
    f: &mut Formatter<'_>,
    name: &str,
    plain: &ClientResults,
    stack: &ClientResults,
    show: impl Fn(&ClientResults) -> String,
) -> fmt::Result {
    row(f, name, &show(plain), &show(stack))
}

fn row(f: &mut Formatter<'_>, name: &str, plain: &str, stack: &str) -> fmt::Result {
    let line = format!("  {name:<36} {plain:>14} {stack:>14}");
    writeln!(f, "{}", line.trim_end())
}

fn rule(f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(f, "  {}", "─".repeat(66))
}

fn quantile(phase: &PhaseResults, quantile: f64) -> String {
    latency(phase.tally.latencies.quantile_ms(quantile))
}
