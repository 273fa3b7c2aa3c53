//! The safety rules, checked on the wire against the journals.

use cosmos_core::{Attempt, Journal, Reason, headers};
use cosmos_testbed::ScriptedAccount;
use cosmos_testbed::scripted::WireEntry;
use cosmos_tests::rules::{self, Check, require};
use cosmos_tests::{KEY, ms};

use super::plan::{Kind, NAMES, Over, Plan, Regions};
use super::run::{Done, NUMBER};
use super::stack::Foreign;

pub(crate) fn operations(plan: &Plan, regions: &ScriptedAccount, done: &[Done]) -> Check {
    let wire = regions.wire();
    for (number, done) in done.iter().enumerate() {
        let mine: Vec<&WireEntry> = wire
            .0
            .iter()
            .filter(|entry| entry.header(NUMBER) == number.to_string())
            .collect();
        let problem = operation(plan, done, &mine);
        problem.map_err(|problem| format!("operation {number}: {problem}"))?;
    }
    Ok(())
}

fn operation(plan: &Plan, done: &Done, wire: &[&WireEntry]) -> Check {
    let text = format!("{:?} {:?}", done.result, done.journal);
    require(!text.contains(KEY), || "a secret shows".into())?;
    require(wire.iter().all(|entry| entry.at <= done.ended), || {
        "sent after its end".into()
    })?;
    let Some(journal) = &done.journal else {
        return require(wire.is_empty(), || "sent without a journal".into());
    };
    if done.plan.kind == Kind::Foreign {
        return require(wire.is_empty() && journal.attempts().is_empty(), || {
            "a foreign request reached a region".into()
        });
    }
    let attempts = journal.attempts();
    require(wire.len() <= attempts.len(), || {
        "more requests than attempts".into()
    })?;
    exclusions(plan, done, wire)?;
    rules::budgets(journal, &attempts, &NAMES)?;
    repeats(plan, &attempts)?;
    deadline(plan, done, journal, wire)?;
    if done.plan.kind == Kind::Execute {
        rules::procedure(&attempts)?;
    }
    rules::answer(done.result.as_ref(), &attempts)?;
    rules::replays(wire)
}

fn exclusions(plan: &Plan, done: &Done, wire: &[&WireEntry]) -> Check {
    if matches!(done.plan.kind, Kind::ReadMetadata | Kind::WriteMetadata) {
        return Ok(());
    }
    let changes = plan
        .changes
        .iter()
        .filter_map(|(_, change)| change.as_ref());
    let is_left = |regions: &Regions| {
        let candidates = match done.plan.kind {
            Kind::Read => &regions.readable,
            _ => &regions.writable,
        };
        candidates
            .iter()
            .any(|name| !done.plan.excluded.contains(name))
    };
    let is_excluded = |entry: &&&WireEntry| done.plan.excluded.contains(&entry.region.as_str());
    let seen = wire.iter().filter(is_excluded).count();
    let left: Vec<bool> = changes.chain([&plan.regions]).map(is_left).collect();
    if left.iter().all(|left| *left) {
        return require(seen == 0, || "an excluded region saw a request".into());
    }
    let most = usize::from(!done.plan.strict);
    require(seen <= most, || {
        format!("excluded regions saw {seen} requests")
    })?;
    require(seen == 0 || wire.len() == 1, || {
        "more than the one request although all was excluded".into()
    })
}

fn repeats(plan: &Plan, attempts: &[Attempt]) -> Check {
    let again = plan
        .over
        .iter()
        .any(|layer| matches!(layer, Over::Again(_)));
    let foreign = |attempt: &Attempt| attempt.reason == Reason::Foreign;
    require(again || !attempts.iter().any(foreign), || {
        "sent again without a reason".into()
    })
}

fn deadline(plan: &Plan, done: &Done, journal: &Journal, wire: &[&WireEntry]) -> Check {
    let start = done.end_instant - done.ended;
    rules::in_time(journal, &journal.attempts(), wire, start)?;
    // Outside of the deadline's layer foreign ones may wait longer, and what a deadline layer
    // inside adds is known only once it is reached.
    let outermost = matches!(plan.over[0], Over::Deadline(_));
    let foreign = plan.over.iter().any(|layer| layer.is_foreign()) || plan.limit_below.is_some();
    if let Some(timeout) = done.plan.timeout
        && (outermost || !foreign)
    {
        let limit = journal.began() + timeout + ms(10);
        require(done.end_instant.into_std() <= limit, || {
            "ended after its deadline".into()
        })?;
    }
    Ok(())
}

pub(crate) fn foreign(seen: &Foreign) -> Check {
    for map in &*seen.lock() {
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
