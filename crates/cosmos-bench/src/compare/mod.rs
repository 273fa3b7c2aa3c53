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

use std::io::Write;

pub use availability::{Fault, Peer, suffer};
use clap::ValueEnum;
use cosmos_core::BoxError;
pub use profile::{Path, Profiled};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::peers::LEFT_OUT;
use crate::section::LEGEND;
use crate::{Allocator, Machine, Report, Section, argument, operation};

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
    /// Real sockets: the stack and the bare hyper client under it.
    Loopback,
    /// Failed and slow operations under faults: the stack and the peers.
    Availability,
}

impl Chosen {
    /// How long it takes.
    const fn takes(self) -> &'static str {
        match self {
            Self::Loopback => "three minutes, whatever --rounds says",
            Self::Availability => "four minutes, whatever --rounds says",
            Self::Threads => "ten seconds with 25 rounds",
            _ => "a few seconds with 25 rounds",
        }
    }
}

impl Settings {
    fn wants(&self, section: Chosen) -> bool {
        self.chosen.is_empty() || self.chosen.contains(&section)
    }

    /// Whether there are tables of costs.
    fn has_costs(&self) -> bool {
        let costs = [
            Chosen::Healthy,
            Chosen::Layers,
            Chosen::Parts,
            Chosen::Failures,
        ];
        costs.into_iter().any(|section| self.wants(section))
    }

    /// Whether others are measured, too, if they are built.
    fn has_peers(&self) -> bool {
        self.wants(Chosen::Healthy) || self.wants(Chosen::Availability)
    }
}

/// Measures what was chosen, and writes tables, each once it is measured, or in the end one JSON
/// object. What is being measured is said on standard error.
///
/// # Errors
/// If a section cannot be measured, or nothing be written.
pub fn compare(settings: &Settings, json: bool, out: &mut impl Write) -> Result<(), BoxError> {
    let runtime = operation::runtime();
    let machine = Machine::this();
    let left_out = LEFT_OUT.filter(|_| settings.has_peers());
    let legend = settings.has_costs().then_some(LEGEND);
    let mut goals = Report::default();
    let mut sections = Vec::new();
    if !json {
        writeln!(out, "{machine}")?;
        if let Some(legend) = legend {
            writeln!(out, "{legend}")?;
        }
    }
    for chosen in Chosen::value_variants() {
        if !settings.wants(*chosen) {
            continue;
        }
        let name = argument::name(chosen);
        eprintln!("measuring {name}: {}", chosen.takes());
        for section in measure(*chosen, &runtime, settings, &mut goals)? {
            if json {
                sections.push(section.json());
            } else {
                section.write(out)?;
                out.flush()?;
            }
        }
    }
    if json {
        let found = json!({
            "machine": machine,
            "legend": legend,
            "sections": sections,
            "goals": goals,
            "left_out": left_out,
        });
        writeln!(out, "{found}")?;
        return Ok(());
    }
    if !goals.is_empty() {
        writeln!(out, "\nGoals")?;
        goals.write(out, false)?;
    }
    if let Some(left_out) = left_out {
        writeln!(out, "\nleft out: {left_out}")?;
    }
    Ok(())
}

/// The tables of a section. Further ones have their line here.
fn measure(
    chosen: Chosen,
    runtime: &Runtime,
    settings: &Settings,
    goals: &mut Report,
) -> Result<Vec<Section>, BoxError> {
    Ok(match chosen {
        Chosen::Healthy => vec![healthy::section(runtime, settings, goals)],
        Chosen::Layers => vec![
            layers::alone(runtime, settings),
            layers::in_place(runtime, settings, goals),
        ],
        Chosen::Parts => vec![parts::section(settings)],
        Chosen::Failures => vec![failures::section(runtime, settings, goals)],
        Chosen::Threads => vec![threads::section(settings, goals)],
        Chosen::Loopback => vec![loopback::section(goals)?],
        Chosen::Availability => vec![availability::section(goals)?],
    })
}
