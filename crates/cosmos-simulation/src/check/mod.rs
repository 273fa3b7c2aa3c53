//! The rules, checked on the wire against the journals once all operations have ended.

mod availability;
mod exclusions;
mod tries;

use std::collections::HashMap;

use cosmos_core::health::State;
use cosmos_core::{Access, Attempt, Journal, Reason, Status, headers};
use cosmos_testbed::scripted::WireEntry;
use cosmos_tests::rules::{self, Check, require};
use cosmos_tests::{KEY, ms, s};
use tokio::time::Instant;
use tower_cosmos::circuit_breaker::Circuits;

use crate::broken::{Broken, Of as _, Rule};
use crate::plan::{Does, Fault, Kind, NAMES, Of, Over, Plan};
use crate::play::{Done, Seen};
use crate::stack::Client;
use crate::tally::Tally;
use crate::world::{ANSWER, NUMBER};

/// Checks every operation, and all of them together.
pub(crate) fn operations(plan: &Plan, client: &Client, seen: &Seen) -> Result<Tally, Broken> {
    let mut by_number: HashMap<usize, Vec<&WireEntry>> = HashMap::new();
    for entry in &seen.wire.0 {
        if let Ok(number) = entry.header(NUMBER.as_str()).parse() {
            by_number.entry(number).or_default().push(entry);
        }
    }
    let start = seen.start.expect("set when a run begins");
    let mut tally = Tally::default();
    for (number, done) in seen.done.iter().enumerate() {
        let wire = by_number.remove(&number).unwrap_or_default();
        let one = One {
            plan,
            seen,
            number,
            done,
            wire: &wire,
            start,
        };
        let promised = one.check().map_err(|broken| {
            Broken::new(broken.rule, format!("operation {number}: {}", broken.what))
        })?;
        tally.add(done, &wire, promised);
    }
    probes(plan, &seen.done).of(Rule::Probes)?;
    refreshes(plan, seen).of(Rule::Refreshes)?;
    rests(client).of(Rule::Returns)?;
    foreign(client).of(Rule::Secrets)?;
    Ok(tally)
}

/// One operation, and what the wire saw of it.
struct One<'a> {
    plan: &'a Plan,
    seen: &'a Seen,
    number: usize,
    done: &'a Done,
    wire: &'a [&'a WireEntry],
    start: Instant,
}

impl One<'_> {
    /// Returns whether the operation was promised an answer.
    fn check(&self) -> Result<bool, Broken> {
        let Self { done, wire, .. } = *self;
        let text = format!("{:?} {:?}", done.result, done.journal);
        require(!text.contains(KEY), || "a secret shows".into()).of(Rule::Secrets)?;
        require(!done.leaves_lease, || "a lease is left".into()).of(Rule::Probes)?;
        require(wire.iter().all(|entry| entry.at <= done.ended), || {
            "sent after its end".into()
        })
        .of(Rule::Deadline)?;
        let Some(journal) = &done.journal else {
            let unsent = require(wire.is_empty(), || "sent without a journal".into());
            return unsent.of(Rule::Journal).map(|()| false);
        };
        let attempts = journal.attempts();
        if done.operation.kind == Kind::Foreign {
            let unsent = wire.is_empty() && attempts.is_empty();
            let unsent = require(unsent, || "a foreign request reached a region".into());
            return unsent.of(Rule::Secrets).map(|()| false);
        }
        exclusions::check(self.plan, done, wire).of(Rule::Exclusions)?;
        rules::budgets(journal, &attempts, &NAMES).of(Rule::Budgets)?;
        self.count().of(Rule::Budgets)?;
        self.reasons(&attempts).of(Rule::Budgets)?;
        tries::follow(done, &attempts).of(Rule::Budgets)?;
        tries::go(self.plan, done, &attempts).of(Rule::Tries)?;
        tries::wait(&self.seen.hints, &attempts, self.number, self.start).of(Rule::Tries)?;
        tries::headers(self.plan, done, wire).of(Rule::Tries)?;
        self.deadline(journal, &attempts).of(Rule::Deadline)?;
        if done.operation.kind == Kind::Execute {
            rules::procedure(&attempts).of(Rule::Procedures)?;
        }
        self.token().of(Rule::SessionToken)?;
        rules::answer(done.result.as_ref(), &attempts).of(Rule::Responses)?;
        self.response().of(Rule::Responses)?;
        rules::replays(wire).of(Rule::Replays)?;
        self.journal(&attempts).of(Rule::Journal)?;
        availability::check(self.plan, self.seen, done)
            .map_err(|what| Broken::new(Rule::Availability, what))
    }

    /// All budgets together.
    fn count(&self) -> Check {
        let most = 1 + 3 + 120 + NAMES.len() + 10 * NAMES.len() + 35;
        let times = self.plan.layers.over.iter().map(|layer| match layer {
            Over::Again(times) => 1 + times,
            _ => 1,
        });
        let most = most * times.product::<usize>();
        require(self.wire.len() <= most, || {
            format!("{} requests, {most} at most", self.wire.len())
        })
    }

    fn reasons(&self, attempts: &[Attempt]) -> Check {
        let again = self
            .plan
            .layers
            .has(|layer| matches!(layer, Over::Again(_)));
        let foreign = |attempt: &Attempt| attempt.reason == Reason::Foreign;
        require(again || !attempts.iter().any(foreign), || {
            "sent again without a reason".into()
        })
    }

    fn deadline(&self, journal: &Journal, attempts: &[Attempt]) -> Check {
        rules::sent_in_time(journal, self.wire, self.start)?;
        let layers = &self.plan.layers;
        let outermost = matches!(layers.over[0], Over::Deadline(_));
        // An attempt that waits in a queue of tower's knows no deadline but that of a layer outside.
        if outermost || !layers.has(|layer| layer == Over::Queue) {
            rules::attempts_end_in_time(journal, attempts)?;
        }
        // Outside of the deadline's layer foreign ones may wait longer, and what a deadline layer
        // inside adds is known only once it is reached.
        let foreign = layers.has(Over::is_foreign) || layers.limit_below.is_some();
        if let Some(timeout) = self.done.operation.timeout
            && (outermost || !foreign)
        {
            let limit = journal.began() + timeout + ms(10);
            let ended = (self.start + self.done.ended).into_std();
            require(ended <= limit, || "ended after its deadline".into())?;
        }
        Ok(())
    }

    fn token(&self) -> Check {
        let tokens = self
            .wire
            .iter()
            .map(|entry| entry.headers.get(headers::SESSION_TOKEN));
        let mut tokens = tokens.collect::<Vec<_>>();
        tokens.dedup();
        require(tokens.len() <= 1, || {
            format!("the token became another: {tokens:?}")
        })?;
        if self.done.operation.token
            && let Some(token) = tokens.first()
        {
            let same = token.is_some_and(|token| token == "0:1#7");
            return require(same, || format!("the caller's token became {token:?}"));
        }
        Ok(())
    }

    /// A response is one that a region sent for this operation, or the deadline's own.
    fn response(&self) -> Check {
        let Some(Ok(response)) = &self.done.result else {
            return Ok(());
        };
        let answer = response.headers().get(ANSWER);
        let answer = answer.and_then(|answer| answer.to_str().ok());
        if let Some((number, _)) = answer.and_then(|answer| answer.split_once('-')) {
            return require(number == self.number.to_string(), || {
                format!("got the answer of operation {number}")
            });
        }
        let status = Status::of_response(response);
        require(status == Status::CLIENT_OPERATION_TIMEOUT, || {
            format!("{status} came from nowhere")
        })
    }

    /// What a stack of ours did is what the wire saw.
    fn journal(&self, attempts: &[Attempt]) -> Check {
        let Self { wire, .. } = *self;
        require(wire.len() <= attempts.len(), || {
            "more requests than attempts".into()
        })?;
        if !self.plan.layers.is_recommended {
            return Ok(());
        }
        require(wire.len() == attempts.len(), || {
            "fewer requests than attempts".into()
        })?;
        for (entry, attempt) in wire.iter().zip(attempts) {
            let same = attempt.region.name().eq_ignore_ascii_case(&entry.region)
                && attempt.began == (self.start + entry.at).into_std();
            require(same, || {
                format!("{attempt} is not what {} saw", entry.region)
            })?;
        }
        Ok(())
    }
}

/// One probe of a partition in a region at a time, and one trial of an endpoint's side.
fn probes(plan: &Plan, done: &[Done]) -> Check {
    let mut of_partition: HashMap<(usize, bool), Vec<Attempt>> = HashMap::new();
    let mut trials: HashMap<Access, Vec<Attempt>> = HashMap::new();
    for done in done {
        let Some(journal) = &done.journal else {
            continue;
        };
        let operation = &done.operation;
        let attempts = journal.attempts();
        let trial = attempts.iter().filter(|attempt| attempt.trial);
        // As if they were probes, for the same rule.
        let trial = trial.map(|attempt| {
            let mut attempt = *attempt;
            attempt.probe = true;
            attempt
        });
        trials
            .entry(operation.kind.access())
            .or_default()
            .extend(trial);
        of_partition
            .entry((operation.partition, operation.named))
            .or_default()
            .extend(attempts);
    }
    trials
        .values()
        .try_for_each(|attempts| rules::probes(attempts))?;
    let breakers = plan
        .layers
        .count(|layer| matches!(layer, Over::CircuitBreaker { .. }));
    // Two breakers know nothing of each other.
    if breakers == 1 {
        of_partition
            .values()
            .try_for_each(|attempts| rules::probes(attempts))?;
    }
    Ok(())
}

/// A refresh, which begins at the global endpoint, begins no sooner than an interval after the last.
fn refreshes(plan: &Plan, seen: &Seen) -> Check {
    // A client that does not know the account yet asks the same endpoint again, and so does one that
    // is throttled there.
    let throttles = |fault: &Fault| {
        let reads = matches!(fault.of, Of::AccountReads | Of::Everything);
        reads && matches!(fault.does, Does::Answer(429, ..))
    };
    if !plan.known || plan.faults.iter().any(throttles) {
        return Ok(());
    }
    let reads = seen.account_reads.0.iter();
    let begun: Vec<_> = reads.filter(|entry| entry.region == "global").collect();
    begun.windows(2).try_for_each(|pair| {
        let apart = pair[1].at.saturating_sub(pair[0].at);
        require(apart >= s(5), || format!("refreshes {apart:?} apart"))
    })
}

/// An open circuit rests no longer than its state says.
fn rests(client: &Client) -> Check {
    let now = Instant::now().into_std();
    for circuit in client.circuits.iter().flat_map(Circuits::list) {
        let (Some(since), Some(due)) = (circuit.since, circuit.due) else {
            continue;
        };
        let wait = match circuit.state {
            State::UnhealthyTentative => s(60),
            State::Unhealthy => s(120),
            _ => continue,
        };
        require(due <= now.max(since + wait), || {
            format!("{circuit:?} rests for too long")
        })?;
    }
    Ok(())
}

fn foreign(client: &Client) -> Check {
    for map in &*client.foreign.lock() {
        let ours = map.keys().any(|name| {
            *name == headers::AUTHORIZATION
                || *name == headers::DATE
                || *name == headers::VERSION
                || *name == headers::ACTIVITY_ID
        });
        require(!ours, || format!("a foreign host saw {map:?}"))?;
    }
    Ok(())
}
