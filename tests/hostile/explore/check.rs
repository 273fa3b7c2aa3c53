//! The safety rules, checked on the wire against the journals.

use cosmos_core::{
    Attempt, Budget, Journal, Outcome, Reason, Region, Sent, Status, TransportError, headers,
};
use cosmos_testbed::ScriptedAccount;
use cosmos_testbed::scripted::WireEntry;
use cosmos_tests::{KEY, ms, s};
use http::HeaderMap;

use super::plan::{Kind, NAMES, Over, Plan, Regions};
use super::run::{Done, NUMBER};
use super::stack::Foreign;

type Check = Result<(), String>;

fn require(holds: bool, rule: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(rule()) }
}

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
    budgets(plan, journal, &attempts)?;
    deadline(plan, done, journal, wire)?;
    if done.plan.kind == Kind::Execute {
        let before = attempts.iter().take(attempts.len().saturating_sub(1));
        for attempt in before {
            require(!may_have_run(attempt.outcome), || {
                "a stored procedure that may have run was sent again".into()
            })?;
        }
    }
    answer(done, &attempts)?;
    replays(wire)
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

fn budgets(plan: &Plan, journal: &Journal, attempts: &[Attempt]) -> Check {
    let with = |reason| attempts.iter().filter(|a| a.reason == reason).count();
    let spent = |budget| journal.spent(budget);
    require(
        with(Reason::Failover) <= 3 && spent(Budget::Failover) <= 3,
        || "more than 3 failovers".into(),
    )?;
    require(
        with(Reason::BackendFailover) <= 120 && spent(Budget::BackendFailover) <= 120,
        || "more than 120 backend failovers".into(),
    )?;
    let session = with(Reason::Session);
    require(session <= NAMES.len().max(2), || {
        format!("{session} session retries")
    })?;
    let collisions = with(Reason::RetryWith);
    require(collisions <= 35, || {
        format!("{collisions} retries after 449")
    })?;
    for name in NAMES {
        let region = Region::named(name).unwrap();
        let here = |reason| {
            let here = attempts.iter().filter(|a| a.region == region);
            here.filter(|a| a.reason == reason).count()
        };
        let (retries, slept) = journal.throttled(region);
        require(
            here(Reason::Throttle) <= 9 && retries <= 9 && slept <= s(30),
            || format!("too many throttle retries in {name}"),
        )?;
        require(here(Reason::Reconnect) <= 1, || {
            format!("too many reconnects in {name}")
        })?;
    }
    let again = plan
        .over
        .iter()
        .any(|layer| matches!(layer, Over::Again(_)));
    require(with(Reason::First) <= 1, || "begun twice".into())?;
    require(again || with(Reason::Foreign) == 0, || {
        "sent again without a reason".into()
    })?;
    for pair in attempts.windows(2) {
        let apart = pair[1].began.saturating_duration_since(pair[0].began);
        require(
            pair[1].reason != Reason::BackendFailover || apart >= s(1),
            || format!("backend failovers {apart:?} apart"),
        )?;
    }
    Ok(())
}

fn deadline(plan: &Plan, done: &Done, journal: &Journal, wire: &[&WireEntry]) -> Check {
    let Some(deadline) = journal.deadline() else {
        return Ok(());
    };
    for entry in wire {
        // Both since the regions began.
        let before_end = done.ended.saturating_sub(entry.at);
        let at = done.end_instant.checked_sub(before_end);
        require(at.is_some_and(|at| at.into_std() < deadline), || {
            "sent after the deadline".into()
        })?;
    }
    // One that began later was only refused, by a layer inside that set the deadline.
    let attempts = journal.attempts();
    for attempt in attempts.iter().filter(|attempt| attempt.began < deadline) {
        let ended = attempt.began + attempt.duration.unwrap_or_default();
        require(ended <= deadline + ms(10), || {
            "an attempt outlasts the deadline".into()
        })?;
    }
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

fn may_have_run(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Failed(kind) => kind.sent() == Sent::Maybe,
        Outcome::Answered(status) => {
            let sub = (status.code(), status.substatus());
            !matches!(status.code(), 410 | 429 | 449)
                && !matches!(sub, (403, 3 | 1008) | (404, 1002))
        }
        _ => true,
    }
}

fn answer(done: &Done, attempts: &[Attempt]) -> Check {
    match &done.result {
        Some(Ok(response)) => {
            let status = Status::of_response(response);
            let sent = attempts
                .iter()
                .any(|attempt| attempt.outcome == Outcome::Answered(status));
            require(sent || status == Status::CLIENT_OPERATION_TIMEOUT, || {
                format!("{status} came from nowhere")
            })
        }
        Some(Err(error)) => {
            let region = TransportError::find(&**error).and_then(TransportError::region);
            let tried = |region| attempts.iter().any(|attempt| attempt.region == region);
            require(region.is_none_or(tried), || {
                "an error of a region that was not asked".into()
            })
        }
        None => Ok(()),
    }
}

fn replays(wire: &[&WireEntry]) -> Check {
    let Some(first) = wire.first() else {
        return Ok(());
    };
    for entry in wire {
        let same = entry.method == first.method
            && entry.path == first.path
            && entry.body == first.body
            && fixed(&entry.headers) == fixed(&first.headers);
        require(same, || "a replay differs".into())?;
        for name in entry.headers.keys() {
            require(entry.headers.get_all(name).iter().count() == 1, || {
                format!("{name} grew")
            })?;
        }
        let signed = entry.headers.contains_key(headers::AUTHORIZATION);
        require(signed, || "sent without a signature".into())?;
    }
    Ok(())
}

/// The headers that no attempt may change.
fn fixed(map: &HeaderMap) -> HeaderMap {
    let mut map = map.clone();
    for name in [
        http::header::HOST,
        headers::AUTHORIZATION,
        headers::DATE,
        // Depends on the account's mode, which may change meanwhile.
        headers::ALLOW_TENTATIVE_WRITES,
        // On session retries only, where it is asked for.
        headers::HUB_REGION_PROCESSING_ONLY,
    ] {
        map.remove(name);
    }
    map
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
