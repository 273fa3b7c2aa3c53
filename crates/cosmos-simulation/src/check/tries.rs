//! What each further try of an operation is: what it may follow, where it goes, and when.

use std::time::Duration;

use cosmos_core::{Access, Attempt, Outcome, Reason, Region, Sent, Status, headers};
use cosmos_testbed::scripted::WireEntry;
use cosmos_tests::rules::{Check, require};
use tokio::time::Instant;

use super::availability::is_never_at_fault;
use crate::plan::{Kind, Plan, What};
use crate::play::Done;
use crate::world::Hint;

/// Every attempt but the first, with the one before it.
fn pairs(attempts: &[Attempt]) -> impl Iterator<Item = (&Attempt, &Attempt)> {
    let pairs = attempts.windows(2).map(|pair| (&pair[0], &pair[1]));
    // What a foreign layer sends again is none of ours.
    pairs.filter(|(_, next)| next.reason != Reason::Foreign)
}

/// What the service or its caller does not want repeated is not.
pub(super) fn follow(done: &Done, attempts: &[Attempt]) -> Check {
    let operation = &done.operation;
    let is_write = operation.kind.access() == Access::Write;
    for (before, next) in pairs(attempts) {
        let timed_out = before.outcome == Outcome::Answered(Status::CLIENT_OPERATION_TIMEOUT);
        require(!timed_out, || format!("{next} follows 408/20008"))?;
        let once = is_write && !operation.retry_writes && may_be_done(before.outcome);
        require(!once, || format!("{next} repeats a write"))?;
    }
    // Its failure could not be made up for elsewhere.
    let probe = attempts.iter().find(|attempt| attempt.probe);
    let probe = probe.filter(|_| operation.kind == Kind::Execute);
    require(probe.is_none(), || {
        "a stored procedure is a probe".to_owned()
    })?;
    Ok(())
}

fn may_be_done(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Failed(kind) => kind.sent() == Sent::Maybe,
        Outcome::Answered(status) => matches!(status.code(), 408 | 500..),
        _ => false,
    }
}

/// Who repeats an answer's request asks the region that gave it; who moves on leaves the region that
/// failed while another one is well and untried.
pub(super) fn go(plan: &Plan, done: &Done, attempts: &[Attempt]) -> Check {
    if !plan.stays() {
        return Ok(());
    }
    for (before, next) in pairs(attempts) {
        let again = matches!(
            next.reason,
            Reason::Throttle | Reason::RetryWith | Reason::Reconnect
        );
        require(!again || next.region == before.region, || {
            format!("{next} does not repeat {before}")
        })?;
    }
    session(plan, done, attempts)?;
    if !plan.layers.is_recommended || done.operation.kind.is_metadata() {
        return Ok(());
    }
    let untried = |attempts: &[Attempt]| {
        let tried = |region: Region| attempts.iter().any(|attempt| attempt.region == region);
        let well = is_never_at_fault(plan, done).into_iter();
        let mut well = well.filter_map(|name| Some((name, Region::named(name).ok()?)));
        well.find_map(|(name, region)| (!tried(region)).then_some(name))
    };
    for (count, next) in attempts.iter().enumerate().skip(1) {
        let before = &attempts[..count];
        let moves = matches!(next.reason, Reason::Failover | Reason::BackendFailover);
        let is_back = before.iter().any(|attempt| attempt.region == next.region);
        if moves
            && is_back
            && let Some(name) = untried(before)
        {
            return Err(format!("{next} although {name} is well and untried"));
        }
    }
    Ok(())
}

/// After 404/1002 a single-write account's hub is asked, and each region of the others once.
fn session(plan: &Plan, done: &Done, attempts: &[Attempt]) -> Check {
    let retries = || attempts.iter().filter(|it| it.reason == Reason::Session);
    let excluded = |name: &&str| done.operation.excluded.contains(name);
    if plan.regions.multi_write {
        let allowed = plan.regions.readable.iter().filter(|name| !excluded(name));
        let most = allowed.count();
        return require(retries().count() <= most, || {
            format!("more than {most} session retries")
        });
    }
    require(retries().count() <= 2, || {
        "more than 2 session retries".into()
    })?;
    let hub = plan.regions.hub();
    let mut elsewhere = retries().filter(|it| !it.region.name().eq_ignore_ascii_case(hub));
    match elsewhere.next() {
        Some(retry) if !excluded(&hub) => Err(format!("{retry} is not at the hub")),
        _ => Ok(()),
    }
}

/// What a throttled region asks for is waited for.
pub(super) fn wait(hints: &[Hint], attempts: &[Attempt], number: usize, start: Instant) -> Check {
    for (before, next) in pairs(attempts) {
        if next.reason != Reason::Throttle {
            continue;
        }
        let since = |attempt: &Attempt| {
            let start = start.into_std();
            attempt.began.saturating_duration_since(start)
        };
        let ended = since(before) + before.duration.unwrap_or_default();
        let asked: Vec<Duration> = hints
            .iter()
            .filter(|hint| hint.operation == number && hint.at == since(before))
            .map(|hint| hint.wait)
            .collect();
        // Several at the same instant, of foreign retries, cannot be told apart; one without a hint
        // asks for nothing.
        let throttled = attempts.iter().filter(|attempt| {
            let is_429 =
                matches!(attempt.outcome, Outcome::Answered(status) if status.code() == 429);
            is_429 && attempt.began == before.began
        });
        let wait = if throttled.count() > asked.len() {
            Duration::ZERO
        } else {
            asked.into_iter().min().unwrap_or_default()
        };
        require(since(next) >= ended + wait, || {
            format!("{next} did not wait for {wait:?}")
        })?;
    }
    Ok(())
}

/// Each request names the host that it went to, and says that it may write if all regions do.
pub(super) fn headers(plan: &Plan, done: &Done, wire: &[&WireEntry]) -> Check {
    let writes = done.operation.kind.access() == Access::Write;
    let tentative = plan.regions.multi_write && writes;
    for entry in wire {
        let host = match entry.region.as_str() {
            "global" => "scripted.test".to_owned(),
            region => format!("scripted-{}.test", region.to_lowercase()),
        };
        let named = entry.header("host");
        require(named == host, || format!("{host} is called {named}"))?;
        let says = entry.headers.contains_key(headers::ALLOW_TENTATIVE_WRITES);
        let known = plan.stays() && done.operation.kind != Kind::Foreign;
        require(!known || says == tentative, || {
            format!("tentative writes allowed: {says}")
        })?;
    }
    Ok(())
}

impl Plan {
    /// Whether the account's regions are the same all the time.
    fn stays(&self) -> bool {
        let mut changes = self.changes.iter();
        !changes.any(|change| matches!(change.what, What::Regions(_)))
    }
}
