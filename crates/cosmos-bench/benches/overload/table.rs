//! The results as a table, or as one JSON object.

use std::time::Duration;

use serde_json::{Value, json};

use crate::run::{RATE, SCENARIOS, Scenario};
use crate::schedule::{HEALED, PHASES, REGIONS};
use crate::tally::Tally;

/// A scenario without the guard, and with it.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) scenario: Scenario,
    pub(crate) without: Tally,
    pub(crate) with: Tally,
}

pub(crate) fn print(results: &[Compared]) {
    println!("{RATE} operations a second; requests and operations per second\n");
    for (index, result) in results.iter().enumerate() {
        println!("{}. {}\n", index + 1, SCENARIOS[index].name);
        println!(
            "| phase | guard | at {} | at {} | at {} | first attempts | retries | requests per operation \
             | retries admitted | operations failed |",
            REGIONS[0], REGIONS[1], REGIONS[2]
        );
        println!("|---|---|---|---|---|---|---|---|---|---|");
        for (phase, _) in PHASES {
            for (guard, tally) in result.both() {
                let counts = tally.phases.get(&phase).copied().unwrap_or_default();
                let each = |count: u64| float(count) / phase.seconds();
                let asked = counts.all_retries() + counts.refused;
                let admitted = match asked {
                    0 => "-".to_owned(),
                    asked => format!(
                        "{:.1} %",
                        100.0 * float(counts.all_retries()) / float(asked)
                    ),
                };
                println!(
                    "| {} | {guard} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | {admitted} | {:.1} % |",
                    phase.name(),
                    each(counts.at(0)),
                    each(counts.at(1)),
                    each(counts.at(2)),
                    each(counts.all_first()),
                    each(counts.all_retries()),
                    float(counts.sent()) / float(counts.operations.max(1)),
                    100.0 * float(counts.failed) / float(counts.operations.max(1)),
                );
            }
        }
        println!("\n| after | guard | last failure | last retries |\n|---|---|---|---|");
        for healed in HEALED {
            for (guard, tally) in result.both() {
                let [failing, storming] = tally.back_to_normal(healed).map(shown);
                println!("| {} | {guard} | {failing} | {storming} |", healed.name());
            }
        }
        println!();
    }
}

pub(crate) fn json(results: &[Compared]) -> Value {
    let of = |tally: &Tally| {
        let phases = PHASES.map(|(phase, _)| {
            let counts = tally.phases.get(&phase).copied().unwrap_or_default();
            json!({
                "phase": phase.name(),
                "seconds": phase.seconds(),
                "operations": counts.operations,
                "failed": counts.failed,
                "first_attempts": counts.first,
                "retries": counts.retries,
                "retries_refused": counts.refused,
            })
        });
        let healed = HEALED.map(|phase| {
            let after = tally.back_to_normal(phase);
            let [failing, storming] = after.map(|after| after.map(|it| it.as_secs_f64()));
            json!({
                "phase": phase.name(),
                "last_failure_s": failing,
                "last_retries_s": storming,
            })
        });
        json!({ "phases": phases, "back_to_normal": healed })
    };
    let scenarios = results.iter().map(|result| {
        json!({
            "scenario": result.scenario.name,
            "guard_off": of(&result.without),
            "guard_on": of(&result.with),
        })
    });
    json!({ "rate": RATE, "regions": REGIONS, "scenarios": scenarios.collect::<Vec<_>>() })
}

impl Compared {
    fn both(&self) -> [(&'static str, &Tally); 2] {
        [("off", &self.without), ("on", &self.with)]
    }
}

fn shown(after: Option<Duration>) -> String {
    match after {
        None => "not before the end".to_owned(),
        Some(Duration::ZERO) => "at once".to_owned(),
        Some(after) => format!("{:.1} s", after.as_secs_f64()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn float(count: u64) -> f64 {
    count as f64
}
