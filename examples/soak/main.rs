//! One client, for as long as you like, on an account that misbehaves at random.
//!
//! ```text
//! cargo run --release --example soak -- --minutes 10
//! cargo run --release --example soak -- --seconds 30 --seed 7 --json
//! ```
//!
//! The account runs in a child process, so that the memory that is shown is the client's. Sixteen workers do
//! every kind of operation on a fixed set of items; each answer is held against what may be true of
//! its item. Spells of random faults (every kind that the account has) and moves (failovers, regions that
//! leave, splits and merges, lagging replicas) alternate with calm, in which nothing may fail.
//! In the end the client is dropped: its tasks and sockets have to go. Anything wrong is listed, and makes
//! the program fail.
//!
//! Marks, circuits, connections and limits live for seconds here instead of minutes, so that ten minutes
//! see each of them come and go many times.

mod control;
mod model;
mod moves;
mod operation;
mod options;
mod results;
mod sample;
mod serve;
mod weather;
mod worker;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use cosmos_client::{CosmosClient, Leaf, Protocol};
use cosmos_core::health::BreakerOptions;
use cosmos_core::signing::MasterKey;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use tower_cosmos::KeyCredential;

use crate::control::Control;
use crate::options::Options;
use crate::results::Results;
use crate::sample::{Kept, Sample};
use crate::serve::{Address, REGIONS};
use crate::weather::Weather;
use crate::worker::{Findings, WORKERS};

const MARK: Duration = Duration::from_secs(1);
const ATTEMPT: Duration = Duration::from_millis(1500);
const OPERATION: Duration = Duration::from_secs(5);

/// What is dropped is gone by then.
const GONE: Duration = Duration::from_secs(20);

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::parse();
    if options.serve_account {
        serve::run(options.seed()).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let results = run(&options).await?;
    if options.json {
        println!("{}", results.json());
    } else {
        results.print();
    }
    Ok(if results.problems().is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A client with all layers, over HTTP/2, that forgets within seconds.
fn client(address: &Address) -> Result<CosmosClient, Box<dyn Error>> {
    let credential = KeyCredential::new(MasterKey::from_base64(&address.key)?);
    let breaker = BreakerOptions::new()
        .window(Duration::from_secs(5))
        .first_wait(MARK)
        .next_wait(MARK)
        .lease_limit(ATTEMPT + MARK);
    let leaf = Leaf::builder()
        .protocol(Protocol::Http2)
        .max_age(Duration::from_secs(30))
        .idle_limit(Duration::from_secs(5));
    let client = CosmosClient::builder(&address.endpoint, credential)
        .preferred_regions(REGIONS)
        .timeout(OPERATION)
        .circuit_breaker(breaker)
        .account(|account| {
            account
                .mark_duration(MARK)
                .refresh_interval(MARK)
                .read_timeout(ATTEMPT)
        })
        .layers(|layers| {
            layers.attempt(|layer| layer.data(ATTEMPT).metadata(ATTEMPT).idle(ATTEMPT))
        })
        .leaf(leaf)
        .build()?;
    Ok(client)
}

async fn run(options: &Options) -> Result<Results, Box<dyn Error>> {
    let seed = options.seed();
    let (_served, address) = serve::start()?;
    let control = Control::new(&address.control);
    let before = Kept::now();
    let client = client(&address)?;
    let (findings, weather) = (Arc::<Findings>::default(), Arc::<Weather>::default());
    let start = Instant::now();
    let until = start + options.duration();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut workers = JoinSet::new();
    for number in 0..WORKERS {
        let (findings, weather) = (Arc::clone(&findings), Arc::clone(&weather));
        let random = random.fork();
        workers.spawn(worker::work(
            number,
            client.clone(),
            findings,
            weather,
            random,
            until,
        ));
    }
    let misbehaving = weather::run(&control, &weather, random, until);
    let watching = watch(options, &client, &findings, start);
    let (spells, samples) = tokio::join!(misbehaving, watching);
    while let Some(ended) = workers.join_next().await {
        ended?;
    }
    if client
        .leaf()
        .usage()
        .iter()
        .any(|shard| shard.in_flight > 0)
    {
        findings.note_wrong("a slot is taken after the last operation".to_owned());
    }
    drop(client);
    let after = once_gone(before).await;
    results::check_procedures(&control.get("/executions").await?, &findings);
    let violations = control.get("/violations").await?;
    for violation in violations.as_array().into_iter().flatten() {
        findings.note_wrong(format!("turned away: {violation}"));
    }
    let (wrong, examples) = findings.wrong();
    let kinds = findings.by_kind().into_iter();
    Ok(Results {
        seed,
        spells: spells?,
        samples,
        before,
        after,
        kinds: kinds
            .map(|(kind, counts)| (kind.name(), (counts.operations, counts.failed)))
            .collect(),
        wrong,
        examples,
    })
}

/// A sample every ten seconds, or every tenth of a short run.
async fn watch(
    options: &Options,
    client: &CosmosClient,
    findings: &Findings,
    start: Instant,
) -> Vec<Sample> {
    let interval = (options.duration() / 10).min(Duration::from_secs(10));
    let mut samples = Vec::new();
    let mut at = interval;
    if !options.json {
        println!("{}", Sample::HEAD);
    }
    while at <= options.duration() {
        sleep_until(start + at).await;
        let sample = Sample::take(at, client, findings.all());
        if !options.json {
            println!("{}", sample.line());
        }
        samples.push(sample);
        at += interval;
    }
    samples
}

/// What is left once everything that is going to go has gone.
async fn once_gone(before: Kept) -> Kept {
    let until = Instant::now() + GONE;
    loop {
        let kept = Kept::now();
        if kept.is_within(before) || Instant::now() >= until {
            return kept;
        }
        sleep(Duration::from_millis(20)).await;
    }
}
