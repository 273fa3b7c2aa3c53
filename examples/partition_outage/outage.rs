//! Does to the account what the schedule says.

use std::error::Error;

use cosmos_testbed::embedded::{FaultRule, FaultedRequests};
use tokio::time::{Instant, sleep_until};

use crate::schedule::Schedule;
use crate::setup::{REGIONS, World};

/// Takes an account through all phases.
pub(crate) async fn run(
    world: &World,
    schedule: Schedule,
    start: Instant,
    aloud: bool,
) -> Result<(), Box<dyn Error>> {
    let faults = world.account.faults();
    for (phase, span) in schedule.spans() {
        sleep_until(start + span.start).await;
        faults.clear_all().await;
        if let Some(kind) = phase.fault() {
            let rule = FaultRule::at(REGIONS[0], kind)
                .range(&*world.sick)
                .requests(FaultedRequests::Data);
            faults.set(rule).await?;
        }
        if aloud {
            eprintln!("{:>5.1} s  {}", span.start.as_secs_f64(), phase.label());
        }
    }
    Ok(())
}
