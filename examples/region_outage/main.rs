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
//! Endpoint marks and circuits wait 2 s here instead of a minute or two: a phase takes a few seconds, and what is to be
//! seen is that the stack comes back.

mod json;
mod load;
mod measure;
mod options;
mod outage;
mod plain;
mod progress;
mod report;
mod results;
mod schedule;
mod setup;
mod side;
mod stack;
mod table;
mod workload;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use clap::Parser;
use cosmos_examples::load::DEADLINE;
use tokio::time::Instant;

use crate::options::{AccountKind, Options};
use crate::plain::Plain;
use crate::results::Results;
use crate::schedule::Schedule;
use crate::setup::HUB;
use crate::side::Side;

/// How long a region is avoided that cannot be reached, or in which a partition is sick. The default is
/// a minute, longer than the phases of this program.
const AVOIDED: Duration = Duration::from_secs(2);

/// Where the report goes, below the directory that the program was started in.
const REPORT: &str = "target/region_outage/report.html";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    make_room_for_connections(&options);
    if !options.json {
        introduce(&options);
    }
    let results = run(&options).await?;
    report::write(&results, Path::new(REPORT))?;
    if options.json {
        println!("{}", json::object(&results, REPORT));
    } else {
        println!("\n{}\n  {REPORT}", table::Tables(&results));
    }
    Ok(())
}

/// While the region hangs, the plain client has a connection for every operation under way, and each
/// takes three descriptors of this process: the client's one and the server's two.
fn make_room_for_connections(options: &Options) {
    let needed = 3 * u64::from(options.rate) * DEADLINE.as_secs() + 1000;
    let limit = rlimit::increase_nofile_limit(u64::MAX);
    if !limit.is_ok_and(|limit| limit >= needed) {
        eprintln!("only few files may be open: expect the plain client to fail more than it would");
    }
}

fn introduce(options: &Options) {
    println!(
        "{} operations per second for {} s, 1 in 10 a write, to each of two clients:\n\
         \x20 plain   a hyper client that is pinned to {HUB}\n\
         \x20 stack   the recommended layers around a hyper client; it prefers {HUB}\n\
         Each has an account of three regions ({} write) to itself.\n\
         A region that fails is avoided for {} s here, so that its return can be seen; the default is 60 s.\n",
        options.rate,
        options.duration().as_secs(),
        match options.account {
            AccountKind::Single => "one can",
            AccountKind::Multi => "all can",
        },
        AVOIDED.as_secs(),
    );
}

/// Runs both clients through the outage, each against an account of its own.
async fn run(options: &Options) -> Result<Results, Box<dyn Error>> {
    let schedule = Schedule::new(options.duration());
    let for_plain = Side::start("plain", options, schedule).await?;
    let for_stack = Side::start("stack", options, schedule).await?;
    let plain = Plain::new(&for_plain.account, options.account == AccountKind::Multi)?;
    let stack = stack::client(&for_stack.account)?;

    let start = Instant::now() + Duration::from_millis(100);
    let watched = [for_plain.watched(), for_stack.watched()];
    let progress = tokio::spawn(progress::show(schedule, start, watched));
    let subjects = (for_plain.subject(plain), for_stack.subject(stack));
    let ((), plain_counts, stack_counts) = tokio::join!(
        load::offer(options, start, subjects.0, subjects.1),
        for_plain.suffer(start),
        for_stack.suffer(start),
    );
    progress.abort();
    for_plain.check()?;
    for_stack.check()?;
    Ok(Results {
        options: options.clone(),
        schedule,
        plain: for_plain.results(plain_counts?, false),
        stack: for_stack.results(stack_counts?, true),
    })
}
