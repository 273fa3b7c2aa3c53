//! The safety rules as checks on the wire and on the journals: what every stack keeps to, in
//! whatever order its layers stand and whatever the regions do.

use cosmos_core::{
    Attempt, BoxError, Budget, Journal, Outcome, Reason, Region, Sent, Status, TransportError,
    headers,
};
use cosmos_testbed::scripted::WireEntry;
use http::{HeaderMap, HeaderName};
use tokio::time::Instant;

use crate::{Res, ms, s};

/// `Err` says which rule was broken.
pub type Check = Result<(), String>;

/// Fails with a rule that does not hold.
///
/// # Errors
/// The rule.
pub fn require(holds: bool, rule: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(rule()) }
}

/// Each kind of retry stays within its own budget, in each of these regions where that counts;
/// the waits between backend failovers are kept.
///
/// # Errors
/// The budget that was exceeded.
pub fn budgets(journal: &Journal, attempts: &[Attempt], names: &[&str]) -> Check {
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
    require(session <= names.len().max(2), || {
        format!("{session} session retries")
    })?;
    let collisions = with(Reason::RetryWith);
    require(collisions <= 35, || {
        format!("{collisions} retries after 449")
    })?;
    for name in names {
        let region = Region::named(name).map_err(|error| error.to_string())?;
        // A region that has left the account cannot be asked again: the next one is.
        let here = |reason| {
            let again = |pair: &&[Attempt]| pair.iter().all(|a| a.region == region);
            let pairs = attempts.windows(2).filter(again);
            pairs.filter(|pair| pair[1].reason == reason).count()
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
    require(with(Reason::First) <= 1, || "begun twice".into())?;
    for pair in attempts.windows(2) {
        let apart = pair[1].began.saturating_duration_since(pair[0].began);
        require(
            pair[1].reason != Reason::BackendFailover || apart >= s(1),
            || format!("backend failovers {apart:?} apart"),
        )?;
    }
    Ok(())
}

/// Nothing is sent at the deadline or after it. `start` is when the wire's time began.
///
/// # Errors
/// What came late.
pub fn sent_in_time(journal: &Journal, wire: &[&WireEntry], start: Instant) -> Check {
    let Some(deadline) = journal.deadline() else {
        return Ok(());
    };
    for entry in wire {
        require((start + entry.at).into_std() < deadline, || {
            "sent after the deadline".into()
        })?;
    }
    Ok(())
}

/// No attempt outlasts the deadline.
///
/// # Errors
/// That one does.
pub fn attempts_end_in_time(journal: &Journal, attempts: &[Attempt]) -> Check {
    let Some(deadline) = journal.deadline() else {
        return Ok(());
    };
    // One that began later was only refused, by a layer inside that set the deadline.
    for attempt in attempts.iter().filter(|attempt| attempt.began < deadline) {
        let ended = attempt.began + attempt.duration.unwrap_or_default();
        require(ended <= deadline + ms(10), || {
            "an attempt outlasts the deadline".into()
        })?;
    }
    Ok(())
}

/// A stored procedure that may have run is not sent again.
///
/// # Errors
/// It was.
pub fn procedure(attempts: &[Attempt]) -> Check {
    let before = attempts.iter().take(attempts.len().saturating_sub(1));
    for attempt in before {
        require(!may_have_run(attempt.outcome), || {
            "a stored procedure that may have run was sent again".into()
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

/// What the caller gets came from a region that was asked, or is the deadline's own answer.
///
/// # Errors
/// Where it did not come from.
pub fn answer(result: Option<&Result<Res, BoxError>>, attempts: &[Attempt]) -> Check {
    match result {
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

/// All requests of an operation are the same but for authority, date, signature and what follows
/// the account's mode; no header grows; each is signed.
///
/// # Errors
/// What differs.
pub fn replays(wire: &[&WireEntry]) -> Check {
    let Some(first) = wire.first() else {
        return Ok(());
    };
    for entry in wire {
        let same = entry.method == first.method
            && entry.path == first.path
            && entry.body == first.body
            && contains(&entry.headers, &first.headers)
            && contains(&first.headers, &entry.headers);
        require(same, || "a replay differs".into())?;
        require(entry.headers.len() == entry.headers.keys_len(), || {
            format!("a header grew: {:?}", entry.headers)
        })?;
        let signed = entry.headers.contains_key(headers::AUTHORIZATION);
        require(signed, || "sent without a signature".into())?;
    }
    Ok(())
}

/// [`replays`] for each operation of a caller's request: a retry outside of our layers begins
/// another one, and they are told apart by their activity id.
///
/// # Errors
/// What differs.
pub fn replays_each(wire: &[&WireEntry]) -> Check {
    let activity = |entry: &&WireEntry| entry.headers.get(headers::ACTIVITY_ID).cloned();
    let operations = wire.chunk_by(|a, b| activity(a) == activity(b));
    operations.into_iter().try_for_each(replays)
}

/// Whether a request has all headers of another that no attempt may change.
fn contains(map: &HeaderMap, other: &HeaderMap) -> bool {
    other
        .iter()
        .all(|(name, value)| may_change(name) || map.get(name) == Some(value))
}

fn may_change(name: &HeaderName) -> bool {
    [
        http::header::HOST,
        headers::AUTHORIZATION,
        headers::DATE,
        // Depends on the account's mode, which may change meanwhile.
        headers::ALLOW_TENTATIVE_WRITES,
        // On session retries only, where it is asked for.
        headers::HUB_REGION_PROCESSING_ONLY,
    ]
    .contains(name)
}

/// No region sees two probes of a partition at once. The attempts are those of all operations of
/// one partition.
///
/// # Errors
/// Where it did.
pub fn probes(attempts: &[Attempt]) -> Check {
    let mut probes: Vec<&Attempt> = attempts.iter().filter(|attempt| attempt.probe).collect();
    probes.sort_by_key(|attempt| (attempt.region.name(), attempt.sequence));
    for pair in probes.windows(2) {
        let ended = pair[0].began + pair[0].duration.unwrap_or_default();
        require(
            pair[0].region != pair[1].region || ended <= pair[1].began,
            || format!("two probes at once in {}", pair[0].region.name()),
        )?;
    }
    Ok(())
}
