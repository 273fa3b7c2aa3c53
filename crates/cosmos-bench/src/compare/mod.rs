//! The comparison: what the layers cost, beside what others take for the same work.
//!
//! Each section is a table of its own, measured in one go with the rows of its kind interleaved.

mod availability;
mod failures;
mod goals;
mod healthy;
mod layers;
mod loopback;
mod parts;
mod profile;
mod threads;

pub use availability::{Fault, Peer, suffer};
use clap::ValueEnum;
use cosmos_core::BoxError;
pub use profile::{Path, Profiled};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{Allocator, Machine, Report, Section, operation};

/// How to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many rounds to take the median of.
    pub rounds: usize,
    /// The program's allocator.
    pub allocator: Allocator,
    /// Which sections; none is all.
    pub chosen: Vec<Chosen>,
}

/// What can be chosen to be measured.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Chosen {
    /// A healthy point read: the stack, the bare leaf, the peers.
    Healthy,
    /// Each layer, alone and in its place.
    Layers,
    /// Parts that layers use.
    Parts,
    /// The failure path.
    Failures,
    /// Two threads.
    Threads,
    /// Real sockets: the stack and the bare hyper client under it. Two minutes.
    Loopback,
    /// Failed and slow operations under faults: the stack and the peers. Three to four minutes.
    Availability,
}

impl Settings {
    fn wants(&self, section: Chosen) -> bool {
        self.chosen.is_empty() || self.chosen.contains(&section)
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Comparison {
    machine: Machine,
    sections: Vec<Section>,
    goals: Report,
    left_out: Option<&'static str>,
}

/// Measures what was chosen.
///
/// # Errors
/// If a section cannot be measured.
pub fn compare(settings: &Settings) -> Result<Comparison, BoxError> {
    let runtime = operation::runtime();
    let mut goals = Report::default();
    let sections = sections(&runtime, settings, &mut goals)?;
    Ok(Comparison {
        machine: Machine::this(),
        sections,
        goals,
        left_out: crate::peers::LEFT_OUT,
    })
}

/// The sections in their order. Further ones have their line here.
fn sections(
    runtime: &Runtime,
    settings: &Settings,
    goals: &mut Report,
) -> Result<Vec<Section>, BoxError> {
    let mut sections = Vec::new();
    for section in Chosen::value_variants() {
        if settings.wants(*section) {
            match section {
                Chosen::Healthy => sections.push(healthy::section(runtime, settings, goals)),
                Chosen::Layers => sections.extend([
                    layers::alone(runtime, settings),
                    layers::in_place(runtime, settings, goals),
                ]),
                Chosen::Parts => sections.push(parts::section(settings)),
                Chosen::Failures => sections.push(failures::section(runtime, settings, goals)),
                Chosen::Threads => sections.push(threads::section(settings, goals)),
                Chosen::Loopback => sections.push(loopback::section(goals)?),
                Chosen::Availability => sections.push(availability::section(goals)?),
            }
        }
    }
    Ok(sections)
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
