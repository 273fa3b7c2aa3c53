//! The clients, and what the region and the global endpoint saw of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cosmos_core::OperationOptions;
use cosmos_core::policy::Jitter;
use cosmos_testbed::BoundedAccount;
use cosmos_testbed::bounded::Health;
use cosmos_testbed::scripted::{Document, ScriptedAccount};
use cosmos_tests::{Stack, boxed, credential, ms, read, s, with};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tower::{Layer, ServiceExt};
use tower_cosmos::{Account, RecommendedLayer};

/// How many clients there are.
pub(crate) const CLIENTS: u32 = 1_000;

/// When the region fails: by then every client knows the account and has used the region.
const FAILS: Duration = s(10);

/// Within this time every client finds out.
const FOUND_OUT: Duration = ms(50);

/// How often each client does something.
const PACE: Duration = s(1);

/// A time from the beginning on.
type Moment = Duration;

#[derive(Debug, Default)]
struct Seen {
    // Of the preferred region, by client.
    region: BTreeMap<u32, Vec<Moment>>,
    account: Vec<Moment>,
}

/// What a thousand clients did.
#[derive(Debug)]
pub(crate) struct Crowd {
    seen: Seen,
    heals: Moment,
}

impl Crowd {
    /// Takes a thousand clients through an outage of the region that all of them prefer, and through
    /// a time after it.
    pub(crate) fn through(
        health: Health,
        jitter: Jitter,
        outage: Duration,
        after: Duration,
    ) -> Self {
        // All on one thread, so that jitter comes from one generator.
        fastrand::seed(11);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let heals = FAILS + outage;
        let seen = runtime.block_on(play(health, jitter, heals, heals + after));
        Self { seen, heals }
    }

    /// Reads of the account document since the outage began.
    pub(crate) fn account_reads(&self) -> Vec<Moment> {
        let reads = self.seen.account.iter().copied();
        reads
            .filter(|at| (FAILS..self.heals).contains(at))
            .collect()
    }

    /// When each client tried the region for the first time after it had found out.
    pub(crate) fn first_after_outage(&self) -> Vec<Moment> {
        self.first_from(FAILS + s(1))
    }

    /// When each client reached the region for the first time since it is well again.
    pub(crate) fn first_after_healing(&self) -> Vec<Moment> {
        self.first_from(self.heals)
    }

    fn first_from(&self, from: Moment) -> Vec<Moment> {
        let first = |moments: &Vec<Moment>| moments.iter().find(|at| **at >= from).copied();
        self.seen.region.values().filter_map(first).collect()
    }
}

/// For a reader of the test's output.
pub(crate) fn print(what: &str, moments: &[Moment]) {
    let mut moments = moments.to_vec();
    moments.sort();
    println!(
        "{what}: {} from {:?} to {:?} after the outage began, at most {} in 100 ms",
        moments.len(),
        moments.first().map(|at| at.saturating_sub(FAILS)),
        moments.last().map(|at| at.saturating_sub(FAILS)),
        fullest(&moments)
    );
}

/// The most of these moments that any tenth of a second holds, wherever it begins.
pub(crate) fn fullest(moments: &[Moment]) -> usize {
    let mut moments = moments.to_vec();
    moments.sort();
    let within = |from: &Moment| {
        let before = moments.partition_point(|at| at < from);
        moments.partition_point(|at| *at < *from + ms(100)) - before
    };
    moments.iter().map(within).max().unwrap_or(0)
}

async fn play(health: Health, jitter: Jitter, heals: Moment, ends: Moment) -> Seen {
    let seen = Arc::<Mutex<Seen>>::default();
    let seeing = Arc::clone(&seen);
    let document = Document::multi_write(["A", "B", "C"]);
    let regions = BoundedAccount::new(&document, move |arrival| {
        let mut seen = seeing.lock();
        if arrival.reads_account {
            seen.account.push(arrival.at);
        } else if arrival.region == "a" {
            seen.region
                .entry(arrival.client)
                .or_default()
                .push(arrival.at);
        }
    });
    let start = Instant::now();
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let stack = stack(&regions.of_client(client), jitter);
        clients.spawn(load(stack, client, start, ends));
    }
    sleep_until(start + FAILS).await;
    regions.set("A", health);
    sleep_until(start + heals).await;
    regions.set("A", Health::Well);
    clients.join_all().await;
    std::mem::take(&mut *seen.lock())
}

/// The recommended layers with everything as it comes, jitter included.
fn stack(regions: &BoundedAccount, jitter: Jitter) -> Stack {
    let account = Account::builder(ScriptedAccount::ENDPOINT, credential())
        .preferred_regions(["A", "B", "C"])
        .jitter(jitter)
        .build(regions.clone())
        .expect("good settings");
    let layers = RecommendedLayer::new(account, credential())
        .timeout(s(20))
        // Operations name their partition.
        .partition(|layer| layer.enabled(false));
    boxed(layers.layer(regions.clone()))
}

/// One client: a read a second, each client at a time of its own, and those that find out.
async fn load(stack: Stack, client: u32, start: Instant, ends: Moment) {
    let perform = |stack: Stack| async move {
        let request = with(read(), OperationOptions::new().partition_key_range("0"));
        // How it ends is not the question here.
        let _ = stack.oneshot(request).await;
    };
    let (mut at, found_out) = (
        PACE * client / CLIENTS,
        FAILS + FOUND_OUT * client / CLIENTS,
    );
    let mut operations = JoinSet::new();
    while at < ends {
        if (at..at + PACE).contains(&found_out) {
            // As many as open a circuit.
            sleep_until(start + found_out).await;
            for _ in 0..10 {
                operations.spawn(perform(stack.clone()));
            }
        }
        sleep_until(start + at).await;
        operations.spawn(perform(stack.clone()));
        while operations.try_join_next().is_some() {}
        at += PACE;
    }
    operations.join_all().await;
}
