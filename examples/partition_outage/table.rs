//! The results as text.

use std::fmt::{self, Display, Formatter};

use cosmos_examples::text::{count, latency, seconds};

use crate::recorder::Side;
use crate::results::Results;
use crate::setup::REGIONS;

/// Prints the results as tables.
#[derive(Debug)]
pub(crate) struct Table<'a>(pub(crate) &'a Results);

impl Display for Table<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let results = self.0;
        let recorded = &results.recorded;
        row(f, &["", "sick partition", "the others", ""])?;
        rule(f)?;
        sides(f, "operations", results, |side| count(side.operations))?;
        sides(f, "failed", results, |side| count(side.failed))?;
        for (name, quantile) in [("latency, median", 0.5), ("latency, 99th percentile", 0.99)] {
            sides(f, name, results, |side| {
                latency(side.latencies.quantile_ms(quantile))
            })?;
        }
        sides(f, "latency, longest", results, |side| {
            latency(side.latencies.max_ms())
        })?;
        for (failure, number) in &recorded.failures {
            row(f, &[&format!("  {failure}"), &count(*number), "", ""])?;
        }
        rule(f)?;
        row(
            f,
            &["circuit opened", &count(results.counters.trips), "", ""],
        )?;
        row(f, &["probes", &count(results.counters.probes), "", ""])?;
        for after in results.recoveries() {
            let after =
                after.map_or_else(|| "not".to_owned(), |after| format!("{} s", seconds(after)));
            row(f, &["back after", &after, "", ""])?;
        }
        let while_open = count(results.sick_while_open());
        row(
            f,
            &[
                "requests to the sick region while open",
                &while_open,
                "",
                "",
            ],
        )?;
        row(
            f,
            &[
                "requests of others that moved",
                "",
                &count(results.healthy_moved()),
                "",
            ],
        )?;
        rule(f)?;
        let head = [
            "requests that the servers counted",
            REGIONS[0],
            REGIONS[1],
            REGIONS[2],
        ];
        row(f, &head)?;
        for (index, range) in results.world.ranges.iter().enumerate() {
            let [first, second, third] = results.requests.of_range(index).map(count);
            let sick = if index == 0 { ", sick" } else { "" };
            row(
                f,
                &[&format!("  range {range}{sick}"), &first, &second, &third],
            )?;
        }
        Ok(())
    }
}

fn sides(
    f: &mut Formatter<'_>,
    name: &str,
    results: &Results,
    show: impl Fn(&Side) -> String,
) -> fmt::Result {
    let recorded = &results.recorded;
    row(
        f,
        &[name, &show(&recorded.sick), &show(&recorded.healthy), ""],
    )
}

fn row(f: &mut Formatter<'_>, [name, first, second, third]: &[&str; 4]) -> fmt::Result {
    let line = format!("  {name:<40} {first:>14} {second:>14} {third:>14}");
    writeln!(f, "{}", line.trim_end())
}

fn rule(f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(f, "  {}", "─".repeat(85))
}
