//! Does to an account what the schedule says.

use std::error::Error;
use std::time::Duration;

use cosmos_testbed::embedded::{EmbeddedAccount, FaultId, FaultKind, FaultRule};
use tokio::time::{Instant, sleep_until};

use crate::options::AccountKind;
use crate::schedule::{Phase, Schedule};
use crate::setup::{self, HUB, NEXT_HUB};

/// How much later a slow region answers.
const DELAY: Duration = Duration::from_millis(300);

/// The fault that a phase is about.
fn fault(phase: Phase) -> Option<FaultKind> {
    Some(match phase {
        Phase::Slow => FaultKind::Delay(DELAY),
        Phase::Unavailable => FaultKind::Status {
            status: 503,
            substatus: None,
            retry_after_ms: None,
        },
        Phase::Refusing => FaultKind::RefuseConnections,
        Phase::Hanging => FaultKind::Hang,
        Phase::Healthy | Phase::Failover | Phase::Healed => return None,
    })
}

/// Takes an account through all phases. Returns, for each, what its regions had read of data
/// requests when it began.
pub(crate) async fn run(
    account: &EmbeddedAccount,
    kind: AccountKind,
    schedule: Schedule,
    start: Instant,
) -> Result<Vec<setup::PerRegion>, Box<dyn Error>> {
    let faults = account.faults();
    let mut set: Option<FaultId> = None;
    let mut counts = Vec::new();
    for (phase, span) in schedule.spans() {
        sleep_until(start + span.start).await;
        counts.push(setup::data_requests(account));
        // The next fault is there before the last one goes: no phase begins with a gap.
        let next = match fault(phase) {
            Some(fault) => Some(faults.set(FaultRule::at(HUB, fault)).await?),
            None => None,
        };
        if let Some(last) = std::mem::replace(&mut set, next) {
            faults.clear(last).await;
        }
        if phase == Phase::Failover {
            fail_over(account, kind, schedule, start).await?;
        }
    }
    faults.clear_all().await;
    Ok(counts)
}

async fn fail_over(
    account: &EmbeddedAccount,
    kind: AccountKind,
    schedule: Schedule,
    start: Instant,
) -> Result<(), Box<dyn Error>> {
    let moves = account.moves();
    let steps = schedule.failover();
    if kind == AccountKind::Multi {
        // Every region goes on accepting writes; only the hub is another.
        sleep_until(start + steps.announced).await;
        moves.fail_over(NEXT_HUB)?;
        return Ok(());
    }
    sleep_until(start + steps.announced).await;
    moves.announce_failover(NEXT_HUB)?;
    sleep_until(start + steps.begun).await;
    moves.begin_failover(NEXT_HUB)?;
    sleep_until(start + steps.completed).await;
    moves.complete_failover();
    Ok(())
}
