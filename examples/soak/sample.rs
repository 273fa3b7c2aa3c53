//! What this process keeps, at a moment.

use std::time::Duration;

use cosmos_client::CosmosClient;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::worker::Counts;

/// Tasks of the runtime and sockets of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kept {
    pub(crate) tasks: usize,
    pub(crate) sockets: usize,
}

impl Kept {
    pub(crate) fn now() -> Self {
        Self {
            tasks: Handle::current().metrics().num_alive_tasks(),
            sockets: sockets(),
        }
    }

    /// Whether there is nothing that was not there before.
    pub(crate) fn is_within(self, before: Self) -> bool {
        self.tasks <= before.tasks && self.sockets <= before.sockets
    }
}

/// How many sockets this process has; 0 where the system does not tell.
fn sockets() -> usize {
    let files = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    links
        .filter(|link| link.to_string_lossy().starts_with("socket:"))
        .count()
}

/// Resident memory in KiB; 0 where the system does not tell.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// One line of the record.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) at: Duration,
    pub(crate) resident_kib: u64,
    pub(crate) kept: Kept,
    shards: usize,
    in_flight: usize,
    circuits: usize,
    open: usize,
    trips: u64,
    write_regions: usize,
    operations: u64,
    failed: u64,
}

impl Sample {
    pub(crate) fn take(at: Duration, client: &CosmosClient, counts: Counts) -> Self {
        let circuits = client.circuits().counters();
        let usage = client.leaf().usage();
        Self {
            at,
            resident_kib: resident(),
            kept: Kept::now(),
            shards: usage.len(),
            in_flight: usage.iter().map(|shard| shard.in_flight).sum(),
            circuits: circuits.tracked,
            open: circuits.open,
            trips: circuits.trips,
            write_regions: client.write_regions().len(),
            operations: counts.operations,
            failed: counts.failed,
        }
    }

    pub(crate) const HEAD: &str = "   time   resident  tasks  sockets  shards  in flight  circuits  open  \
                                   trips  moved  operations   failed";

    pub(crate) fn line(&self) -> String {
        format!(
            "{:>5} s {:>6}.{} MiB {:>6} {:>8} {:>7} {:>10} {:>9} {:>5} {:>6} {:>6} {:>11} {:>8}",
            self.at.as_secs(),
            self.resident_kib / 1024,
            self.resident_kib % 1024 * 10 / 1024,
            self.kept.tasks,
            self.kept.sockets,
            self.shards,
            self.in_flight,
            self.circuits,
            self.open,
            self.trips,
            self.write_regions,
            self.operations,
            self.failed,
        )
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "at_s": self.at.as_secs(),
            "resident_kib": self.resident_kib,
            "tasks": self.kept.tasks,
            "sockets": self.kept.sockets,
            "shards": self.shards,
            "in_flight": self.in_flight,
            "circuits": self.circuits,
            "circuits_open": self.open,
            "trips": self.trips,
            "write_regions": self.write_regions,
            "operations": self.operations,
            "failed": self.failed,
        })
    }
}
