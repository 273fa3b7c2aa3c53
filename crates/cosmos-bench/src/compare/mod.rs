//! The comparison: what the layers cost, beside what others take for the same work.
//!
//! Each section is a table of its own, measured in one go with the rows of its kind interleaved.

mod failures;
mod goals;
mod healthy;
mod layers;
mod loopback;
mod parts;
mod profile;
mod threads;

pub use profile::{Path, Profiled};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{Allocator, Machine, Report, Section, operation};

/// How to measure.
#[derive(Copy, Clone, Debug)]
pub struct Settings {
    /// How many rounds to take the median of.
    pub rounds: usize,
    /// The program's allocator.
    pub allocator: Allocator,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Comparison {
    machine: Machine,
    sections: Vec<Section>,
    goals: Report,
    left_out: Option<&'static str>,
}

/// Measures all of it.
#[must_use]
pub fn compare(settings: &Settings) -> Comparison {
    let runtime = operation::runtime();
    let mut goals = Report::default();
    let sections = sections(&runtime, settings, &mut goals);
    Comparison {
        machine: Machine::this(),
        sections,
        goals,
        left_out: crate::peers::LEFT_OUT,
    }
}

/// The sections in their order. Further ones have their line here.
fn sections(runtime: &Runtime, settings: &Settings, goals: &mut Report) -> Vec<Section> {
    vec![
        healthy::section(runtime, settings, goals),
        layers::alone(runtime, settings),
        layers::in_place(runtime, settings, goals),
        parts::section(settings),
        failures::section(runtime, settings, goals),
        threads::section(settings, goals),
        loopback::section(goals),
    ]
}

impl Comparison {
    /// Prints tables, or one JSON object.
    pub fn print(&self, as_json: bool) {
        if as_json {
            let sections: Vec<_> = self.sections.iter().map(Section::json).collect();
            let found = json!({
                "machine": self.machine,
                "sections": sections,
                "goals": self.goals,
                "left_out": self.left_out,
            });
            println!("{found}");
            return;
        }
        self.machine.print();
        self.sections.iter().for_each(Section::print);
        println!("\nGoals");
        self.goals.print(false);
        if let Some(left_out) = self.left_out {
            println!("\n{left_out}");
        }
    }
}
