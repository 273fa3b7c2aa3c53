//! One run: clients that offer an open load, on regions that fail and heal.

use std::sync::Arc;
use std::time::Duration;

use cosmos_core::retry_guard::RetryGuardOptions;
use cosmos_core::signing::MasterKey;
use cosmos_core::{JournalSlot, OperationOptions, requests};
use cosmos_testbed::bounded::{BoundedAccount, Capacity};
use cosmos_testbed::scripted::{Document, ScriptedAccount};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tower::util::BoxCloneSyncService;
use tower::{Layer, ServiceExt};
use tower_cosmos::{Account, KeyCredential, RecommendedLayer};

use crate::schedule::{PHASES, REGIONS};
use crate::tally::{Tally, length};

/// Operations a second, of all clients together.
pub(crate) const RATE: u32 = 2_000;

/// Clients with an account handle, and so with marks, circuits and a guard, of their own.
pub(crate) const CLIENTS: u32 = 30;

/// The container's partitions.
const PARTITIONS: u32 = 20;

const TIMEOUT: Duration = Duration::from_secs(5);

const WAITING: Duration = Duration::from_millis(100);

/// What is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) capacity: Option<Capacity>,
    /// Whether each region is the first preference of a third of the clients, or A that of all.
    pub(crate) spread: bool,
}

pub(crate) const SCENARIOS: [Scenario; 2] = [
    Scenario {
        name: "all prefer A; regions without bounds",
        capacity: None,
        spread: false,
    },
    Scenario {
        name: "a third prefers each; a region serves 1,000/s, a refusal costs 0.4 of an answer",
        capacity: Some(Capacity {
            per_second: 1_000,
            refusal: 0.4,
            backlog: WAITING,
        }),
        spread: true,
    },
];

type Stack = BoxCloneSyncService<
    http::Request<http_body_util::Full<bytes::Bytes>>,
    http::Response<http_body_util::Full<bytes::Bytes>>,
    cosmos_core::BoxError,
>;

/// Runs a scenario, the same way every time.
pub(crate) fn run(scenario: Scenario, guard: bool) -> Tally {
    // Everything on one thread, so that jitter comes from one generator.
    fastrand::seed(7);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(play(scenario, guard))
}

async fn play(scenario: Scenario, guard: bool) -> Tally {
    let tally = Arc::<Mutex<Tally>>::default();
    let seen = Arc::clone(&tally);
    let document = Document::multi_write(REGIONS);
    let regions = BoundedAccount::new(&document, move |arrival| seen.lock().arrived(&arrival));
    let regions = match scenario.capacity {
        Some(capacity) => regions.capacity(capacity),
        None => regions,
    };
    let start = Instant::now();
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let stack = stack(&regions, scenario, client, guard);
        clients.spawn(load(stack, client, start, Arc::clone(&tally)));
    }
    for (phase, span) in PHASES {
        sleep_until(start + Duration::from_secs(span.start)).await;
        phase.begin(&regions);
    }
    clients.join_all().await;
    let tally = tally.lock();
    tally.clone()
}

/// The recommended layers, as they come.
fn stack(regions: &BoundedAccount, scenario: Scenario, client: u32, guard: bool) -> Stack {
    let key = MasterKey::from_base64("c2VjcmV0").expect("a key");
    let credential = KeyCredential::new(key);
    let regions = regions.of_client(client);
    let mut preferred = REGIONS;
    if scenario.spread {
        preferred.rotate_left(client as usize % REGIONS.len());
    }
    let account = Account::builder(ScriptedAccount::ENDPOINT, credential.clone())
        .preferred_regions(preferred);
    let account = if guard {
        account.retry_guard(RetryGuardOptions::new())
    } else {
        account
    };
    let account = account.build(regions.clone()).expect("good settings");
    let layers = RecommendedLayer::new(account, credential)
        .timeout(TIMEOUT)
        // Operations name their partition.
        .partition(|layer| layer.enabled(false));
    BoxCloneSyncService::new(layers.layer(regions))
}

/// One client's share of the load: operations begin when they are due, whatever became of others.
async fn load(stack: Stack, client: u32, start: Instant, tally: Arc<Mutex<Tally>>) {
    let mut operations = JoinSet::new();
    let pace = Duration::from_secs(1) * CLIENTS / RATE;
    let mut due = start + Duration::from_secs(1) * client / RATE;
    let end = start + Duration::from_secs(length());
    let mut number = client;
    while due < end {
        sleep_until(due).await;
        let (stack, tally) = (stack.clone(), Arc::clone(&tally));
        let range = (number % PARTITIONS).to_string();
        operations.spawn(async move {
            let began = start.elapsed();
            let (failed, refused) = perform(stack, &range).await;
            tally.lock().ended(began, failed, refused);
        });
        while operations.try_join_next().is_some() {}
        due += pace;
        number += 1;
    }
    operations.join_all().await;
}

/// Whether a read failed, and whether the guard refused it a retry.
async fn perform(stack: Stack, range: &str) -> (bool, bool) {
    let slot = JournalSlot::new();
    let request = requests::read_item("d", "c", "1", &"p".into()).build();
    let mut request = request.expect("a good request");
    let options = OperationOptions::new()
        .partition_key_range(range)
        .journal_slot(&slot);
    request.extensions_mut().insert(options);
    let result = stack.oneshot(request).await;
    let failed = !result.is_ok_and(|response| response.status().is_success());
    let problem = slot.journal().and_then(|journal| journal.problem());
    let refused = problem.is_some_and(|problem| problem.starts_with("too many retries"));
    (failed, refused)
}
