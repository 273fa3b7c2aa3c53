//! One fault, one client: what a child process measures.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use cosmos_core::BoxError;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::clients::{Client, Peer};
use super::fault::Fault;
use super::load::{Load, Operation, Sample, perform};
use super::scene::Scene;
use super::wire::{SLICE, Wire};

/// How long the fault lasts.
pub(super) const FAULT: Duration = Duration::from_secs(10);
/// How long the load runs before it.
const SETTLE: Duration = Duration::from_secs(2);
/// How long a client may take to come back. Marks and circuits wait for 60 to 75 s.
pub(super) const COMING_BACK: Duration = Duration::from_secs(80);
/// How long account and client may take to be ready.
const SETUP: Duration = Duration::from_secs(30);

/// What tells the parent that the fault is over.
pub(super) const FAULT_OVER: &str = "fault over";

/// What a client's operations came to. Those that overlap the fault count, but for `failed_later`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) operations: u64,
    pub(super) failed: u64,
    pub(super) slowest_ms: f64,
    pub(super) p99_ms: f64,
    /// Requests of every sort that endpoints read during the fault, for each operation begun in it.
    pub(super) requests_each: f64,
    pub(super) move_ms: Option<f64>,
    pub(super) back_s: Option<f64>,
    /// Operations that failed although they began after the fault.
    pub(super) failed_later: u64,
    /// Failures by why, later ones included.
    pub(super) failures: BTreeMap<String, u64>,
    /// The slowest operation, or a failed one, with its journal if the client keeps one.
    pub(super) example: String,
}

/// Measures, and prints first that the fault is over, then what was found, a line each.
///
/// # Errors
/// If the client cannot even use a healthy account.
pub async fn run(fault: Fault, peer: Peer) -> Result<(), BoxError> {
    let setup = async {
        let scene = Scene::start().await?;
        let client = peer.connect(&scene).await?;
        warm_up(&*client).await?;
        Ok::<_, BoxError>((scene, client))
    };
    let setup = timeout(SETUP, setup).await;
    let (scene, client) = setup.map_err(|_| "not ready in time")??;

    let load = Load::start(&client);
    sleep(SETTLE).await;
    let mut wire = Wire::new(fault, &scene);
    let began = Instant::now();
    let set = scene.account.faults().set(fault.rule(&scene.sick)).await?;
    follow_until(&mut wire, &scene, began + FAULT).await;
    scene.account.faults().clear(set).await;
    let ended = Instant::now();
    wire.follow(&scene);
    let (requests, moved) = (wire.requests(), wire.moved(began, ended));
    load.calm();
    say(FAULT_OVER)?;

    let back = loop {
        let back = wire.back(ended);
        if back.is_some() || ended.elapsed() > COMING_BACK {
            break back;
        }
        follow_until(&mut wire, &scene, Instant::now() + SLICE).await;
    };
    let samples = load.stop().await?;
    if let Some(violation) = scene.account.violations().first() {
        return Err(format!("turned away: {}", violation.detail).into());
    }
    let mut measured = summed(&samples, began, ended, requests)?;
    measured.move_ms = moved.map(millis);
    measured.back_s = back.map(|back| back.as_secs_f64());
    say(&serde_json::to_string(&measured)?)
}

/// Everything cached, and proof that the client can do what it will be asked for.
async fn warm_up(client: &dyn Client) -> Result<(), BoxError> {
    for number in 0..40 {
        let sample = perform(client, Operation::new(number)).await;
        if let Some(failure) = sample.answer.failure {
            return Err(format!("fails on a healthy account: {failure}").into());
        }
    }
    Ok(())
}

async fn follow_until(wire: &mut Wire, scene: &Scene, until: Instant) {
    while Instant::now() < until {
        sleep_until(until.min(Instant::now() + SLICE)).await;
        wire.follow(scene);
    }
}

/// All but where the operations went.
fn summed(
    samples: &[Sample],
    began: Instant,
    ended: Instant,
    requests: u64,
) -> Result<Measured, BoxError> {
    let over = |sample: &&Sample| sample.began + sample.took < began;
    if let Some(early) = samples.iter().filter(over).find(|sample| sample.failed()) {
        let why = early.answer.failure.as_deref().unwrap_or_default();
        return Err(format!("failed before the fault: {why}").into());
    }
    let met: Vec<_> = samples
        .iter()
        .filter(|sample| !over(sample) && sample.began < ended)
        .collect();
    let later = samples.iter().filter(|sample| sample.began >= ended);
    let mut took: Vec<_> = met.iter().map(|sample| sample.took).collect();
    took.sort_unstable();
    let at = |share: usize| took.get((took.len() * share).div_ceil(100).saturating_sub(1));
    let during = met.iter().filter(|sample| sample.began >= began).count();
    let mut failures = BTreeMap::new();
    for failure in samples
        .iter()
        .filter_map(|sample| sample.answer.failure.clone())
    {
        *failures.entry(failure).or_default() += 1;
    }
    let example = met
        .iter()
        .max_by_key(|sample| (sample.failed(), sample.took));
    Ok(Measured {
        operations: count(met.len()),
        failed: count(met.iter().filter(|sample| sample.failed()).count()),
        slowest_ms: at(100).copied().map(millis).ok_or("no operation")?,
        p99_ms: at(99).copied().map(millis).ok_or("no operation")?,
        requests_each: float(requests) / float(count(during)).max(1.0),
        move_ms: None,
        back_s: None,
        failed_later: count(later.filter(|sample| sample.failed()).count()),
        failures,
        example: example
            .map(|sample| told(sample, began))
            .unwrap_or_default(),
    })
}

/// An operation in words.
fn told(sample: &Sample, began: Instant) -> String {
    let kind = if sample.write { "write" } else { "read" };
    let offset = sample.began.saturating_duration_since(began).as_secs_f64();
    let took = sample.took.as_secs_f64();
    let ended = sample.answer.failure.as_deref().unwrap_or("good");
    let head = format!("a {kind}, begun {offset:.3} s into the fault, took {took:.3} s: {ended}");
    match &sample.answer.journal {
        Some(journal) => format!("{head}\n{journal}"),
        None => head,
    }
}

/// One line for the parent, at once.
fn say(line: &str) -> Result<(), BoxError> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()?;
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn count(count: usize) -> u64 {
    count as u64
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn float(count: u64) -> f64 {
    count as f64
}
