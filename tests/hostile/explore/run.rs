//! One run of a plan.

use std::fmt::Write as _;
use std::time::Duration;

use cosmos_core::{Journal, JournalSlot, OperationOptions, requests};
use cosmos_testbed::scripted::{Container, Document, ScriptedAccount};
use cosmos_tests::{
    Req, Stack, account, boxed, create, execute, ms, read, recommended, s, write_metadata,
};
use fastrand::Rng;
use tokio::time::Instant;
use tower::{Layer, ServiceExt};
use tower_cosmos::Account;

use super::check;
use super::plan::{Kind, NAMES, Operation, Plan};
use super::stack::{Foreign, build};

/// The header that tells operations apart on the wire.
pub(crate) const NUMBER: &str = "x-test-operation";

/// What became of an operation.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) plan: Operation,
    /// `None`: its caller left.
    pub(crate) result: Option<Result<cosmos_tests::Res, cosmos_core::BoxError>>,
    pub(crate) journal: Option<Journal>,
    /// Since the regions began.
    pub(crate) ended: Duration,
    pub(crate) end_instant: Instant,
}

fn request(plan: &Operation, number: usize, slot: &JournalSlot) -> Req {
    let mut request = match plan.kind {
        Kind::Read | Kind::Foreign => read(),
        Kind::Create => create(),
        Kind::Execute => execute(),
        // Not of the container whose reads are kept apart.
        Kind::ReadMetadata => requests::read_container("d", "other").build().unwrap(),
        Kind::WriteMetadata => write_metadata(),
    };
    if plan.kind == Kind::Foreign {
        *request.uri_mut() = "https://foreign.test/dbs/d/colls/c/docs/1".parse().unwrap();
    }
    request.headers_mut().insert(NUMBER, number.into());
    let mut options = OperationOptions::new()
        .exclude_regions(&plan.excluded)
        .unwrap()
        .strict_exclusions(plan.strict)
        .retry_writes(plan.retry_writes)
        .journal_slot(slot);
    if let Some(timeout) = plan.timeout {
        options = options.timeout(timeout);
    }
    if let Some(range) = plan.range {
        options = options.partition_key_range(range);
    }
    request.extensions_mut().insert(options);
    request
}

async fn perform(stack: Stack, plan: Operation, number: usize, began: Instant) -> Done {
    tokio::time::sleep(plan.after).await;
    let slot = JournalSlot::new();
    let sending = stack.oneshot(request(&plan, number, &slot));
    let result = match plan.dropped_after {
        Some(after) => tokio::time::timeout(after, sending).await.ok(),
        None => Some(sending.await),
    };
    Done {
        plan,
        result,
        journal: slot.journal(),
        ended: began.elapsed(),
        end_instant: Instant::now(),
    }
}

/// Runs the plan of a seed.
///
/// # Errors
/// Which rule was broken, with the plan, the wire and the journals.
pub(crate) fn run(seed: u64) -> Result<(), String> {
    let plan = Plan::random(&mut Rng::with_seed(seed));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let regions = ScriptedAccount::new(plan.regions.document());
        let mut done = Vec::new();
        let outcome = play(&plan, &regions, &mut done).await;
        outcome.map_err(|problem| {
            let mut text = format!("seed {seed}: {problem}\n{plan:?}\n{}", regions.wire());
            for (number, done) in done.iter().enumerate() {
                let journal = done.journal.as_ref().map(ToString::to_string);
                let _ = writeln!(
                    text,
                    "\n{number}: {:?} ended at {:?}\n{}\n",
                    done.result,
                    done.ended,
                    journal.unwrap_or_default()
                );
            }
            text
        })
    })
}

async fn play(plan: &Plan, regions: &ScriptedAccount, done: &mut Vec<Done>) -> Result<(), String> {
    let began = Instant::now();
    let account = account(regions, |account| account.preferred_regions(NAMES));
    if plan.known {
        account.refresh().await;
    }
    for (region, script) in &plan.scripts {
        regions.script(region, script.iter().cloned());
    }
    for (region, script) in &plan.account_scripts {
        regions.script_account_reads(region, script.iter().cloned());
    }
    for (region, script) in &plan.container_scripts {
        regions.script_container_reads(region, script.iter().cloned());
    }
    regions.set_container("dbs/d/colls/c", Container::new("rid"));
    let changing = tokio::spawn(change(plan.clone(), regions.clone()));
    let foreign = Foreign::default();
    let stack = build(plan, &account, regions, &foreign);
    let calls: Vec<_> = plan
        .operations
        .iter()
        .enumerate()
        .map(|(number, operation)| {
            tokio::spawn(perform(stack.clone(), operation.clone(), number, began))
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        let ended = tokio::time::timeout(s(10_000), call).await;
        let ended = ended.map_err(|_| format!("operation {number} does not end"))?;
        done.push(ended.map_err(|error| format!("operation {number}: {error}"))?);
    }
    changing.await.map_err(|error| error.to_string())?;
    tokio::time::sleep(s(100)).await;
    check::operations(plan, regions, done)?;
    check::foreign(&foreign)?;
    drop(stack);
    comes_back(regions, &account).await?;
    leaves_nothing(regions, account).await
}

/// Changes the topology as planned, and heals everything in the end.
async fn change(plan: Plan, regions: ScriptedAccount) {
    for (after, change) in plan.changes {
        tokio::time::sleep(after).await;
        match change {
            Some(change) => regions.set_document(change.document()),
            None => regions.set_raw_document("<html>try later</html>"),
        }
    }
    tokio::time::sleep(plan.heals_after).await;
    for name in NAMES.into_iter().chain(["global"]) {
        regions.heal(name);
        regions.script_account_reads(name, []);
    }
}

/// Once all is well, traffic is back within the mark's duration plus one request.
async fn comes_back(regions: &ScriptedAccount, account: &Account) -> Result<(), String> {
    for name in NAMES.into_iter().chain(["global"]) {
        regions.heal(name);
    }
    regions.set_document(Document::multi_write(NAMES));
    let stack = boxed(recommended(account).layer(regions.clone()));
    tokio::time::sleep(s(61)).await;
    // The account's own reads may still fail, as scripted; those scripts end, or every region
    // serves the document.
    for _ in 0..20 {
        account.refresh().await;
    }
    if account
        .topology()
        .is_none_or(|known| known.regions() != all())
    {
        return Ok(());
    }
    tokio::time::sleep(s(61)).await;
    for request in [read, create] {
        let _ = stack.clone().oneshot(request()).await;
        regions.clear_wire();
        let _ = stack.clone().oneshot(request()).await;
        if regions.wire().regions() != "A" {
            return Err(format!("not back in A but in {}", regions.wire().regions()));
        }
    }
    Ok(())
}

fn all() -> cosmos_core::RegionSet {
    NAMES
        .into_iter()
        .map(|name| cosmos_core::Region::named(name).unwrap())
        .collect()
}

async fn leaves_nothing(regions: &ScriptedAccount, account: Account) -> Result<(), String> {
    drop(account);
    tokio::time::sleep(ms(10)).await;
    if regions.open() != 0 {
        return Err(format!("{} requests are left open", regions.open()));
    }
    let tasks = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    if tasks != 0 {
        return Err(format!("{tasks} tasks are left"));
    }
    Ok(())
}
