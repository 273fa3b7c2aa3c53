//! What an operation's layers share: its attempts, its budgets, its deadline, its rules.
#![allow(missing_docs, clippy::unwrap_used)]

mod budgets;
mod entering;
mod gate;
mod journal;
mod operation;
mod reconnects;
mod settling;
mod time;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cosmos_core::{
    Action, Attempt, AttemptId, AttemptObserver, Begin, Operation, Outcome, Reason, Region,
    Resource, Route, Status,
};
use parking_lot::Mutex;

const READ: Operation = Operation::new(Action::Read, Resource::Item);
const WRITE: Operation = Operation::new(Action::Create, Resource::Item);
const SPROC: Operation = Operation::new(Action::Execute, Resource::StoredProcedure);

#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn region(name: &str) -> Region {
    Region::named(name).unwrap()
}

fn to(name: &str) -> Begin {
    Begin {
        reason: Reason::Failover,
        ..Begin::new(region(name))
    }
}

fn answered(code: u16, substatus: u32) -> Outcome {
    Outcome::Answered(Status::new(code, substatus))
}

fn outcomes(route: &Route) -> Vec<Outcome> {
    route.with_attempts(|attempts| attempts.iter().map(|attempt| attempt.outcome).collect())
}

/// Begins an attempt in East and ends it at once.
fn made(route: &Route, now: Instant, outcome: Outcome) -> AttemptId {
    let id = route.begin(now, to("East US")).unwrap();
    route.end(id, now, outcome);
    id
}

/// An account that writes down what it hears.
#[derive(Debug, Default)]
struct Heard(Mutex<Vec<(Operation, Attempt, Instant)>>);

impl Heard {
    fn by(route: &Route) -> Arc<Self> {
        let heard = Arc::new(Self::default());
        let observer: Arc<dyn AttemptObserver> = heard.clone();
        route.observe(|| observer);
        heard
    }

    fn outcomes(&self) -> Vec<Outcome> {
        self.0
            .lock()
            .iter()
            .map(|(_, attempt, _)| attempt.outcome)
            .collect()
    }
}

impl AttemptObserver for Heard {
    fn ended(&self, operation: Operation, attempt: &Attempt, _: bool, now: Instant) {
        self.0.lock().push((operation, *attempt, now));
    }

    fn lists(&self, region: Region) -> bool {
        region.name() == "eastus"
    }
}
