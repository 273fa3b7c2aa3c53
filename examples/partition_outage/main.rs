//! One partition of a container gets sick in the preferred region, all others stay well.
//!
//! ```text
//! cargo run --release --example partition_outage
//! cargo run --release --example partition_outage -- --seconds 20 --json
//! ```
//!
//! Nothing else is needed: an embedded account of three regions, on loopback ports, has a container
//! that is split into four partitions. One of them answers 503 in the preferred region, is well again,
//! hangs, is well again. Its circuit opens: it alone is served by the next region, until a probe finds
//! that it is back. A report with plots is written to `target/partition_outage/report.html`.
//!
//! Circuits wait 1 s for their first probe here instead of a minute, and an attempt may take 2 s
//! instead of 6 s: a phase takes a few seconds, and what is to be seen is how the partition comes back.

mod circuits;
mod json;
mod options;
mod outage;
mod recorder;
mod report;
mod results;
mod schedule;
mod setup;
mod table;
mod wire;
mod workload;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use cosmos_client::{CosmosClient, Leaf, Protocol};
use cosmos_core::health::BreakerOptions;
use cosmos_core::signing::MasterKey;
use cosmos_examples::load::{self, DEADLINE};
use cosmos_testbed::EmbeddedAccount;
use tokio::time::Instant;
use tower_cosmos::KeyCredential;

use crate::options::Options;
use crate::recorder::Recorder;
use crate::results::Results;
use crate::schedule::Schedule;
use crate::setup::{REGIONS, World};
use crate::workload::Operation;

/// How long a circuit waits before a probe.
const WAIT: Duration = Duration::from_secs(1);

/// How long an attempt may take.
const ATTEMPT: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let results = run(&options).await?;
    report::write(&results, &options.report)?;
    if options.json {
        println!("{}", json::object(&results));
    } else {
        println!(
            "\n{}\n  {}",
            table::Table(&results),
            options.report.display()
        );
    }
    Ok(())
}

/// A client with all layers, over HTTP/2.
fn client(account: &EmbeddedAccount) -> Result<CosmosClient, Box<dyn Error>> {
    let credential = KeyCredential::new(MasterKey::from_base64(account.key())?);
    let breaker = BreakerOptions::new()
        .first_wait(WAIT)
        .next_wait(WAIT)
        .lease_limit(ATTEMPT + Duration::from_secs(1));
    let client = CosmosClient::builder(account.endpoint(), credential)
        .preferred_regions(REGIONS)
        .timeout(DEADLINE)
        .circuit_breaker(breaker)
        .layers(|layers| layers.attempt(|layer| layer.data(ATTEMPT)))
        // There is no TLS on loopback to settle on HTTP/2 by.
        .leaf(Leaf::builder().protocol(Protocol::Http2))
        .build()?;
    Ok(client)
}

/// Takes one client through the outage.
async fn run(options: &Options) -> Result<Results, Box<dyn Error>> {
    let schedule = Schedule::new(options.duration());
    let world = World::start().await?;
    let client = client(&world.account)?;
    if !options.json {
        introduce(options, &world);
    }
    let recorder = Arc::new(Recorder::new(schedule.frame()));
    let start = Instant::now() + Duration::from_millis(100);
    let watched = circuits::watch(client.circuits(), start);
    let wire = wire::watch(&world, &schedule.frame(), start);
    let load = load::offer(options.operations(), options.rate, start, |due| {
        let (client, recorder) = (client.clone(), Arc::clone(&recorder));
        let operation = Operation::new(due.number, &world);
        tokio::spawn(async move {
            let (latency, answer) = due.perform(&client, operation.request()).await;
            recorder.record(due.at, latency, operation.is_sick(), &answer);
        });
    });
    let ((), suffered) = tokio::join!(load, outage::run(&world, schedule, start, !options.json));
    suffered?;
    world.check()?;
    let requests = wire.end().await;
    Ok(Results {
        options: options.clone(),
        schedule,
        world,
        recorded: recorder.recorded(),
        requests,
        // They are told before the answer that makes them is given.
        changes: watched.end(),
        counters: client.circuits().counters(),
    })
}

fn introduce(options: &Options, world: &World) {
    println!(
        "{} operations per second for {} s, 1 in 10 a write, over {} partitions.\n\
         Range {} gets sick in {}, which is preferred. Circuits wait {} s, an attempt takes at most {} s \
         here.\n",
        options.rate,
        options.duration().as_secs(),
        world.ranges.len(),
        world.sick,
        REGIONS[0],
        WAIT.as_secs(),
        ATTEMPT.as_secs(),
    );
}
