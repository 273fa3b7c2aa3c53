//! Where an attempt goes: each step of the order, exhaustion, and a naive second opinion.
#![allow(missing_docs, clippy::unwrap_used)]

mod alternatives;
mod case;
mod exhausted;
mod history;
mod invariants;
mod reference;
mod steps;

use std::time::Instant;

use cosmos_core::selection::{
    AllGood, Choice, History, Scope, Standing, Standings, View, choose, has_alternative,
};
use cosmos_core::{
    Access, Action, Attempt, Begin, Endpoint, FailureKind, Operation, Outcome, Reason, Region,
    RegionSet, Resource, Route, Status, Steering, Topology,
};

const READ: Operation = Operation::new(Action::Read, Resource::Item);
const WRITE: Operation = Operation::new(Action::Create, Resource::Item);
const SPROC: Operation = Operation::new(Action::Execute, Resource::StoredProcedure);
const METADATA_READ: Operation = Operation::new(Action::Read, Resource::Container);
const METADATA_WRITE: Operation = Operation::new(Action::Replace, Resource::Container);

const UNAVAILABLE: Outcome = Outcome::Answered(Status::new(503, 0));

fn region(name: &str) -> Region {
    Region::named(name).unwrap()
}

fn set(names: &[&str]) -> RegionSet {
    names.iter().map(|name| region(name)).collect()
}

fn topology(readable: &[&str], writable: &[&str], multi: bool, preferred: &[&str]) -> Topology {
    let list = |names: &[&str]| {
        let entries: Vec<String> = names
            .iter()
            .map(|name| {
                format!(r#"{{"name":"{name}","databaseAccountEndpoint":"https://{name}/"}}"#)
            })
            .collect();
        entries.join(",")
    };
    let document = format!(
        r#"{{"readableLocations":[{}],"writableLocations":[{}],
            "enableMultipleWriteLocations":{multi}}}"#,
        list(readable),
        list(writable)
    );
    let preferred: Vec<Region> = preferred.iter().map(|name| region(name)).collect();
    let global = Endpoint::parse("https://acct.documents.azure.com").unwrap();
    Topology::parse(document.as_bytes(), &global, &preferred).unwrap()
}

/// Attempts in these regions with these outcomes.
fn attempts(made: &[(Region, Outcome)]) -> Vec<Attempt> {
    #[allow(clippy::disallowed_methods)]
    let now = Instant::now();
    let route = Route::new(READ, None, now);
    for (region, outcome) in made {
        let begin = Begin {
            reason: Reason::Failover,
            ..Begin::new(*region)
        };
        let id = route.begin(now, begin).unwrap();
        if *outcome != Outcome::InFlight {
            route.end(id, now, *outcome);
        }
    }
    route.with_attempts(<[Attempt]>::to_vec)
}

/// How regions stand: `Good` unless named.
#[derive(Clone, Debug, Default)]
struct Stands(Vec<(Region, Access, Standing)>);

impl Stands {
    fn with(mut self, name: &str, access: Access, standing: Standing) -> Self {
        self.0.push((region(name), access, standing));
        self
    }

    fn reads(names: &[&str], standing: Standing) -> Self {
        names.iter().fold(Self::default(), |all, name| {
            all.with(name, Access::Read, standing)
        })
    }

    fn writes(names: &[&str], standing: Standing) -> Self {
        names.iter().fold(Self::default(), |all, name| {
            all.with(name, Access::Write, standing)
        })
    }
}

impl Standings for Stands {
    fn standing(&self, region: Region, access: Access) -> Standing {
        let found = self.0.iter().find(|(r, a, _)| (*r, *a) == (region, access));
        found.map_or(Standing::Good, |(_, _, standing)| *standing)
    }
}

/// One question to `choose`, everything good and nothing made yet unless said.
#[derive(Clone, Debug)]
struct Ask {
    topology: Topology,
    operation: Operation,
    scope: Scope,
    excluded: RegionSet,
    strict: bool,
    steering: Steering,
    made: Vec<(Region, Outcome)>,
    marks: Stands,
    circuits: Option<Stands>,
}

impl Ask {
    fn new(topology: &Topology, operation: Operation) -> Self {
        Self {
            topology: topology.clone(),
            operation,
            scope: Scope::Listed,
            excluded: RegionSet::EMPTY,
            strict: false,
            steering: Steering::default(),
            made: Vec::new(),
            marks: Stands::default(),
            circuits: None,
        }
    }

    fn exclude(mut self, names: &[&str]) -> Self {
        self.excluded = set(names);
        self
    }

    fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    fn pin(mut self, name: &str) -> Self {
        self.steering.pin = Some(region(name));
        self
    }

    fn first(mut self, name: &str) -> Self {
        self.steering.first_choice = Some(region(name));
        self
    }

    fn failed(self, name: &str) -> Self {
        self.made(name, UNAVAILABLE)
    }

    fn made(mut self, name: &str, outcome: Outcome) -> Self {
        self.made.push((region(name), outcome));
        self
    }

    fn made_globally(mut self, outcome: Outcome) -> Self {
        self.made.push((Region::GLOBAL, outcome));
        self
    }

    fn marks(mut self, marks: Stands) -> Self {
        self.marks = marks;
        self
    }

    fn circuits(mut self, circuits: Stands) -> Self {
        self.circuits = Some(circuits);
        self
    }

    fn choose(&self) -> Result<Choice, FailureKind> {
        self.about(choose)
    }

    fn alternative_to(&self, chosen: &str) -> bool {
        self.about(|view| has_alternative(view, region(chosen)))
    }

    fn about<T>(&self, question: impl FnOnce(&View<'_>) -> T) -> T {
        let history = History::of(&attempts(&self.made));
        let all_good = AllGood;
        question(&View {
            topology: &self.topology,
            operation: self.operation,
            scope: self.scope,
            excluded: self.excluded,
            strict: self.strict,
            steering: self.steering,
            history: &history,
            marks: if self.marks.0.is_empty() {
                &all_good
            } else {
                &self.marks
            },
            circuits: self
                .circuits
                .as_ref()
                .map(|circuits| circuits as &dyn Standings),
        })
    }

    /// The region's name, with what the attempt takes along: `?` a trial, `!` a probe, `=` sole.
    fn says(&self) -> String {
        match self.choose() {
            Ok(choice) => {
                let mut text = if choice.region == Region::GLOBAL {
                    "GLOBAL".to_owned()
                } else {
                    choice.region.name().to_owned()
                };
                for (flag, sign) in [(choice.trial, '?'), (choice.probe, '!'), (choice.sole, '=')] {
                    text.extend(flag.then_some(sign));
                }
                text
            }
            Err(kind) => format!("{kind:?}"),
        }
    }
}
