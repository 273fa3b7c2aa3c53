//! After the faults: traffic returns, and nothing is left behind.

use std::time::Duration;

use cosmos_core::{Access, JournalSlot};
use cosmos_testbed::ScriptedAccount;
use cosmos_tests::{ms, s};
use tower::ServiceExt;
use tower_cosmos::circuit_breaker::Circuits;
use tower_cosmos::ppaf::WriteRegions;

use crate::broken::{Broken, Rule};
use crate::plan::{Kind, Operation, Over, PARTITIONS, Plan};
use crate::play::request;
use crate::stack::Client;

/// Longer than any state waits before it lets a request find out: a circuit that failed its probe
/// waits for 120 s, a mark for 60 s.
const LONGEST_WAIT: Duration = s(121);
/// Longer than anything is kept that nobody asks for: what is open goes ten minutes after it was due.
const IDLE: Duration = s(1200);

/// One read and one write of each partition, as named by the caller and as looked up.
pub(crate) fn operations() -> Vec<Operation> {
    let mut operations = Vec::new();
    for partition in 0..PARTITIONS {
        for kind in [Kind::ReadItem, Kind::UpsertItem] {
            for named in [true, false] {
                operations.push(Operation {
                    kind,
                    partition,
                    named,
                    excluded: Vec::new(),
                    strict: false,
                    timeout: None,
                    leaves: None,
                    retry_writes: true,
                    token: false,
                });
            }
        }
    }
    operations
}

/// Waits as long as the states ask for, and checks rules 8 to 10 and the memory.
pub(crate) async fn settle(
    plan: &Plan,
    client: Client,
    regions: &ScriptedAccount,
    number: usize,
) -> Result<(), Broken> {
    // What waits in tower's queue was readied before it.
    let queues = plan.layers.has(|layer| layer == Over::Queue);
    if !queues {
        permits(&client)?;
    }
    client.account.refresh().await;
    tokio::time::sleep(LONGEST_WAIT).await;
    // The account may have been read too late: it is read again once the interval allows it.
    client.account.refresh().await;
    if is_whole(plan) {
        returns(plan, &client, regions, number).await?;
        forgets(plan, &client, number).await?;
    }
    leaves_nothing(client, regions).await
}

/// Whether the layers are those that bring traffic back, each once.
fn is_whole(plan: &Plan) -> bool {
    let layers = &plan.layers;
    let once = |is: fn(Over) -> bool| layers.count(is) == 1;
    layers.is_recommended
        || !layers.has(Over::is_foreign)
            && !layers.has(|layer| layer == Over::Endpoint)
            && layers.limit_below.is_none()
            && !layers.has(|layer| matches!(layer, Over::Deadline(Some(_))))
            && once(|layer| layer == Over::Failover)
            && once(|layer| layer == Over::Ppaf)
            && once(|layer| matches!(layer, Over::CircuitBreaker { .. }))
}

/// Once all is well, the second request of each kind and partition goes to the preferred region.
async fn returns(
    plan: &Plan,
    client: &Client,
    regions: &ScriptedAccount,
    number: usize,
) -> Result<(), Broken> {
    for (index, operation) in operations().iter().enumerate() {
        let home = home(plan, operation.kind.access());
        for _ in 0..2 {
            regions.clear_wire();
            let request = request(operation, number + index, &JournalSlot::new());
            let _ = client.stack.clone().oneshot(request).await;
        }
        let wire = regions.wire();
        if wire.regions() != home {
            let what = format!("{operation:?} went to {} instead of {home}", wire.regions());
            return Err(Broken::new(Rule::Returns, what));
        }
    }
    Ok(())
}

/// The region that an operation belongs in.
fn home(plan: &Plan, access: Access) -> &'static str {
    let regions = plan.regions_at(Duration::MAX);
    let list = match access {
        Access::Read => &regions.readable,
        Access::Write => &regions.writable,
    };
    let preferred = plan.preferred.iter().find(|name| list.contains(name));
    match access {
        Access::Write if !regions.multi_write => regions.hub(),
        _ => preferred.copied().unwrap_or(list[0]),
    }
}

/// Tables that grew become empty again.
async fn forgets(plan: &Plan, client: &Client, number: usize) -> Result<(), Broken> {
    tokio::time::sleep(IDLE).await;
    let tracked = || -> usize {
        let counters = client.circuits.iter().map(Circuits::counters);
        counters.map(|counters| counters.tracked).sum()
    };
    // Nothing walks a table: each outcome looks at some entries.
    for _ in 0..1000 {
        if tracked() == 0 {
            break;
        }
        for (index, operation) in operations().iter().enumerate() {
            let request = request(operation, number + index, &JournalSlot::new());
            let _ = client.stack.clone().oneshot(request).await;
        }
    }
    // In an account of one region the breaker has nothing to do, and sweeps nothing either.
    let is_used = plan.regions_at(Duration::MAX).readable.len() > 1;
    let left = tracked();
    if is_used && left > 0 {
        let circuits = client.circuits.iter().map(Circuits::list);
        let what = format!(
            "{left} circuits are kept: {:?}",
            circuits.collect::<Vec<_>>()
        );
        return Err(Broken::new(Rule::Memory, what));
    }
    let remembered: usize = client.write_regions.iter().map(WriteRegions::len).sum();
    if remembered > 0 {
        let what = format!("{remembered} write regions are remembered");
        return Err(Broken::new(Rule::Memory, what));
    }
    Ok(())
}

fn permits(client: &Client) -> Result<(), Broken> {
    let Some((permits, most)) = &client.permits else {
        return Ok(());
    };
    let free = permits.available_permits();
    if free == *most {
        return Ok(());
    }
    let what = format!("{free} of {most} permits are free");
    Err(Broken::new(Rule::Ends, what))
}

async fn leaves_nothing(client: Client, regions: &ScriptedAccount) -> Result<(), Broken> {
    drop(client);
    tokio::time::sleep(ms(10)).await;
    if regions.open() != 0 {
        let what = format!("{} requests are left open", regions.open());
        return Err(Broken::new(Rule::Ends, what));
    }
    let metrics = tokio::runtime::Handle::current().metrics();
    let tasks = metrics.num_alive_tasks();
    if tasks != 0 {
        let what = format!("{tasks} tasks are left");
        return Err(Broken::new(Rule::Ends, what));
    }
    Ok(())
}
