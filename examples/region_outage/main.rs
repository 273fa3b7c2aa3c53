//! One load through one regional outage, for two clients side by side: a plain HTTP client that is
//! pinned to its preferred region, and the layers of tower-cosmos around the same sort of client.
//!
//! ```text
//! cargo run --release --example region_outage
//! cargo run --release --example region_outage -- --account single --seconds 30
//! cargo run --release --example region_outage -- --json
//! ```
//!
//! Nothing else is needed: each client gets an embedded account of three regions, on loopback ports.
//! The preferred region gets slow, answers 503, refuses connections, hangs; then the hub moves; then
//! all is well again. A report with plots is written to `target/region_outage/report.html`.
//!
//! Endpoint marks wait 2 s here instead of a minute: a phase takes a few seconds, and what is to be
//! seen is that the stack comes back.

mod client;
mod json;
mod load;
mod measure;
mod options;
mod outage;
mod plain;
mod results;
mod schedule;
mod setup;
mod stack;
mod workload;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use tokio::time::Instant;

use crate::load::Subject;
use crate::measure::{Recorder, Sampler};
use crate::options::{AccountKind, Options};
use crate::plain::Plain;
use crate::results::{ClientResults, Results};
use crate::schedule::Schedule;
use crate::stack::Stack;

/// How long a region is avoided after it was marked. The default is a minute, longer than the phases
/// of this program.
const MARK_DURATION: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    // While the region hangs, the plain client has a connection for every operation under way, and
    // each takes three descriptors in this process: the client's one, and the server's two.
    rlimit::increase_nofile_limit(u64::MAX)?;
    let results = run(&options).await?;
    println!("{}", json::object(&results, ""));
    Ok(())
}

async fn run(options: &Options) -> Result<Results, Box<dyn Error>> {
    let schedule = Schedule::new(options.duration());
    let for_plain = Arc::new(setup::start(options.account).await?);
    let for_stack = Arc::new(setup::start(options.account).await?);
    let plain = Subject {
        client: Plain::new(&for_plain, options.account == AccountKind::Multi)?,
        recorder: Arc::new(Recorder::new(schedule)),
    };
    let stack = Subject {
        client: Stack::new(&for_stack)?,
        recorder: Arc::new(Recorder::new(schedule)),
    };
    let plain_sampler = Sampler::new(Arc::clone(&for_plain), schedule);
    let stack_sampler = Sampler::new(Arc::clone(&for_stack), schedule);

    let start = Instant::now() + Duration::from_millis(100);
    let ((), (), (), plain_counts, stack_counts) = tokio::join!(
        load::offer(options, start, plain.clone(), stack.clone()),
        plain_sampler.clone().run(start),
        stack_sampler.clone().run(start),
        outage::run(&for_plain, options.account, schedule, start),
        outage::run(&for_stack, options.account, schedule, start),
    );
    // Now that every operation has ended, so have the counts.
    let mut plain_counts = plain_counts.map_err(|error| error as Box<dyn Error>)?;
    plain_counts.push(setup::data_requests(&for_plain));
    let mut stack_counts = stack_counts.map_err(|error| error as Box<dyn Error>)?;
    stack_counts.push(setup::data_requests(&for_stack));
    Ok(Results {
        options: options.clone(),
        schedule,
        plain: ClientResults::new(
            schedule,
            plain.recorder.recorded(),
            &plain_counts,
            plain_sampler.timeline(),
            false,
        ),
        stack: ClientResults::new(
            schedule,
            stack.recorder.recorded(),
            &stack_counts,
            stack_sampler.timeline(),
            true,
        ),
    })
}
