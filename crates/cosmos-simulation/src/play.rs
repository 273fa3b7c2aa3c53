//! One run of a plan.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cosmos_core::health::State;
use cosmos_core::{BoxError, Journal, JournalSlot, OperationOptions, Region, headers};
use cosmos_testbed::ScriptedAccount;
use cosmos_testbed::scripted::Wire;
use cosmos_tests::{Req, Res, Stack, s};
use http::HeaderValue;
use tokio::time::Instant;
use tower::ServiceExt;
use tower_cosmos::circuit_breaker::Circuits;

use crate::broken::{Broken, Rule};
use crate::check;
use crate::plan::{NAMES, Operation, Over, Plan, What, container, range};
use crate::settle;
use crate::stack::Client;
use crate::tally::Tally;
use crate::world::{Hint, NUMBER, World};

/// Longer than any operation takes that is not kept waiting.
const PATIENCE: Duration = s(500);

/// What became of an operation.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) operation: Operation,
    /// `None`: its caller left.
    pub(crate) result: Option<Result<Res, BoxError>>,
    pub(crate) journal: Option<Journal>,
    /// Since the run began.
    pub(crate) began: Duration,
    pub(crate) ended: Duration,
    /// Whether it left a lease behind: nothing else was under way when it ended.
    pub(crate) leaves_lease: bool,
}

/// Everything that was seen of a run.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) wire: Wire,
    pub(crate) done: Vec<Done>,
    pub(crate) start: Option<Instant>,
    pub(crate) account_reads: Wire,
    pub(crate) hints: Vec<Hint>,
}

impl Seen {
    /// The wire and the journals, for people.
    pub(crate) fn report(&self) -> String {
        let mut text = String::new();
        for entry in &self.wire.0 {
            let number = entry.header(NUMBER.as_str());
            let _ = writeln!(
                text,
                "{:>12.3?} {:<8} {number:>3} {} {}",
                entry.at, entry.region, entry.method, entry.path
            );
        }
        for (number, done) in self.done.iter().enumerate() {
            let journal = done.journal.as_ref().map(ToString::to_string);
            let result = match &done.result {
                None => "left by its caller".to_owned(),
                Some(Ok(response)) => cosmos_core::Status::of_response(response).to_string(),
                Some(Err(error)) => error.to_string(),
            };
            let _ = writeln!(
                text,
                "\n{number}: {:?} from {:?} to {:?}: {result}\n{}",
                done.operation.kind,
                done.began,
                done.ended,
                journal.unwrap_or_default()
            );
        }
        text
    }
}

/// The operation's request, with the number that tells it apart on the wire.
pub(crate) fn request(operation: &Operation, number: usize, slot: &JournalSlot) -> Req {
    let mut request = operation.kind.request(operation.partition);
    request.headers_mut().insert(NUMBER, number.into());
    if operation.token {
        let token = HeaderValue::from_static("0:1#7");
        request.headers_mut().insert(headers::SESSION_TOKEN, token);
    }
    let mut options = OperationOptions::new()
        .exclude_regions(&operation.excluded)
        .expect("few regions")
        .strict_exclusions(operation.strict)
        .retry_writes(operation.retry_writes)
        .journal_slot(slot);
    if let Some(timeout) = operation.timeout {
        options = options.timeout(timeout);
    }
    if operation.named {
        options = options.partition_key_range(range(operation.partition));
    }
    request.extensions_mut().insert(options);
    request
}

/// How many operations are under way, and the circuits that they may probe.
#[derive(Clone)]
struct UnderWay {
    count: Arc<AtomicUsize>,
    circuits: Vec<Circuits>,
}

impl UnderWay {
    /// One operation less: whether some probe's lease is held although none is left to hold it.
    fn leaves_lease(&self) -> bool {
        let is_last = self.count.fetch_sub(1, Ordering::Relaxed) == 1;
        let mut circuits = self.circuits.iter().flat_map(Circuits::list);
        is_last && circuits.any(|circuit| circuit.state == State::HealthyTentative)
    }
}

async fn perform(
    stack: Stack,
    under_way: UnderWay,
    operation: Operation,
    number: usize,
    (start, at): (Instant, Duration),
) -> Done {
    tokio::time::sleep_until(start + at).await;
    under_way.count.fetch_add(1, Ordering::Relaxed);
    let slot = JournalSlot::new();
    let began = start.elapsed();
    let sending = stack.oneshot(request(&operation, number, &slot));
    let result = match operation.leaves {
        Some(after) => tokio::time::timeout(after, sending).await.ok(),
        None => Some(sending.await),
    };
    Done {
        operation,
        result,
        journal: slot.journal(),
        began,
        ended: start.elapsed(),
        leaves_lease: under_way.leaves_lease(),
    }
}

/// The operations of a plan, each with its time.
fn operations(plan: &Plan) -> Vec<(Duration, Operation)> {
    // A queue of tower's that waits for a permit keeps what it gets for a caller who has left, until
    // somebody else comes: whoever waits for a permit below it needs a deadline to end.
    let keeps_permits = plan.layers.has(|layer| layer == Over::Queue)
        && (plan.layers.limit_below.is_some()
            || plan.layers.has(|layer| matches!(layer, Over::Limit(_))));
    let each = |burst: &crate::plan::Burst| {
        let count = u32::try_from(burst.count).unwrap_or(u32::MAX);
        let (at, apart) = (burst.at, burst.apart);
        let mut operation = burst.operation.clone();
        if keeps_permits {
            operation.timeout = operation.timeout.or(Some(PATIENCE));
        }
        (0..count).map(move |index| (at + apart * index, operation.clone()))
    };
    plan.bursts.iter().flat_map(each).collect()
}

/// Runs a plan on a runtime of its own, in virtual time.
pub(crate) fn play(plan: &Plan, seen: &mut Seen) -> Result<Tally, Broken> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(run(plan, seen))
}

async fn run(plan: &Plan, seen: &mut Seen) -> Result<Tally, Broken> {
    // Regions are numbered as they become known in the process: alike in every run.
    for name in NAMES {
        Region::named(name).expect("few regions");
    }
    let start = Instant::now();
    seen.start = Some(start);
    let regions = ScriptedAccount::new(plan.regions.document());
    let operations = operations(plan);
    let mut known: Vec<Operation> = operations.iter().map(|(_, one)| one.clone()).collect();
    known.extend(settle::operations());
    let client = Client::new(plan, &regions);
    if plan.known {
        client.account.refresh().await;
    }
    let hints = World::rule(plan, known, &regions);
    let changing = tokio::spawn(change(plan.clone(), regions.clone(), start));
    let under_way = UnderWay {
        count: Arc::default(),
        circuits: client.circuits.clone(),
    };
    let calls: Vec<_> = operations
        .iter()
        .enumerate()
        .map(|(number, (at, operation))| {
            let stack = client.stack.clone();
            let under_way = under_way.clone();
            let operation = operation.clone();
            tokio::spawn(perform(stack, under_way, operation, number, (start, *at)))
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        let ended = tokio::time::timeout(s(10_000), call).await;
        let lost = |what: String| Broken::new(Rule::Ends, format!("operation {number} {what}"));
        let ended = ended.map_err(|_| lost("does not end".into()))?;
        seen.done
            .push(ended.map_err(|error| lost(error.to_string()))?);
    }
    let changed = changing.await;
    changed.map_err(|error| Broken::new(Rule::Ends, error.to_string()))?;
    tokio::time::sleep_until(start + plan.is_well_from()).await;
    // Longer than what is still under way may take, and than any wait between two attempts.
    tokio::time::sleep(s(100)).await;
    seen.wire = regions.wire();
    seen.account_reads = regions.account_reads();
    seen.hints.clone_from(&hints.lock());
    let mut tally = check::operations(plan, &client, seen)?;
    for circuits in &client.circuits {
        tally.trips += circuits.counters().trips;
        tally.probes += circuits.counters().probes;
    }
    settle::settle(plan, client, &regions, operations.len()).await?;
    Ok(tally)
}

/// Moves the account as planned.
async fn change(plan: Plan, regions: ScriptedAccount, start: Instant) {
    let mut changes_of_ranges = 0;
    for change in &plan.changes {
        tokio::time::sleep_until(start + change.at).await;
        match &change.what {
            What::Regions(changed) => regions.set_document(changed.document()),
            What::Garbled => regions.set_raw_document("<html>try later</html>"),
            What::Ranges => {
                changes_of_ranges += 1;
                regions.set_container("dbs/d/colls/c", container(changes_of_ranges));
            }
            What::Writes { .. } => {}
        }
    }
    // A document that is none lasts until the account moves again, or until all is well.
    tokio::time::sleep_until(start + plan.is_well_from()).await;
    regions.set_document(plan.regions_at(Duration::MAX).document());
}
