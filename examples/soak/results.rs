//! What a run found, and whether anything was wrong.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde_json::{Value, json};

use crate::sample::{Kept, Sample};
use crate::worker::Findings;

/// How much more memory there may be in the end than after two minutes.
const MORE_KIB: u64 = 8 * 1024;
const WARM: Duration = Duration::from_secs(120);
/// Shorter runs are not judged by their memory.
const JUDGED_FROM: Duration = Duration::from_secs(180);

/// What the columns of the record are.
const LEGEND: &str = "\
failed: while the account misbehaved, or within 2 s after it, when many faults leave no region that
  could answer; a failure at any other time is wrong, and listed below as that.
  circuits: of a partition in a region, those that failed lately; open: those avoided; trips: how often one
  opened. moved: partitions whose write region is known to be another than the account's.
  shards: connections, those being replaced included.";

/// What a run found.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    pub(crate) seed: u64,
    pub(crate) spells: u64,
    pub(crate) samples: Vec<Sample>,
    pub(crate) before: Kept,
    pub(crate) after: Kept,
    pub(crate) kinds: BTreeMap<&'static str, (u64, u64)>,
    pub(crate) wrong: u64,
    pub(crate) examples: Vec<String>,
}

impl Results {
    /// Resident memory after two minutes and in the end.
    fn memory(&self) -> Option<(u64, u64)> {
        let last = self.samples.last().filter(|last| last.at >= JUDGED_FROM)?;
        let warm = self.samples.iter().find(|sample| sample.at >= WARM)?;
        Some((warm.resident_kib, last.resident_kib))
    }

    /// Everything that is wrong.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = self.examples.clone();
        let more = self.wrong - self.examples.len() as u64;
        if more > 0 {
            problems.push(format!("{more} more"));
        }
        if let Some((warm, last)) = self.memory()
            && last > warm + MORE_KIB
        {
            problems.push(format!("{last} KiB in the end, {warm} KiB after 2 minutes"));
        }
        if !self.after.is_within(self.before) {
            problems.push(format!("left {:?}, was {:?}", self.after, self.before));
        }
        problems
    }

    pub(crate) fn json(&self) -> Value {
        let memory = self.memory();
        json!({
            "seed": self.seed,
            "spells": self.spells,
            "samples": self.samples.iter().map(Sample::json).collect::<Vec<_>>(),
            "resident_kib_after_2_minutes": memory.map(|(warm, _)| warm),
            "resident_kib_in_the_end": memory.map(|(_, last)| last),
            "before": { "tasks": self.before.tasks, "sockets": self.before.sockets },
            "after": { "tasks": self.after.tasks, "sockets": self.after.sockets },
            "operations": self.kinds.iter().map(|(name, (operations, failed))| {
                ((*name).to_owned(), json!({ "operations": operations, "failed": failed }))
            }).collect::<serde_json::Map<_, _>>(),
            "wrong": self.wrong,
            "problems": self.problems(),
        })
    }

    pub(crate) fn print(&self) {
        println!("\n  {LEGEND}");
        println!("\n  {:<22} {:>10} {:>10}", "", "operations", "failed");
        for (name, (operations, failed)) in &self.kinds {
            println!("  {name:<22} {operations:>10} {failed:>10}");
        }
        println!(
            "\n  {} spells of faults; seed {}; tasks and sockets before {} and {}, after {} and {}",
            self.spells,
            self.seed,
            self.before.tasks,
            self.before.sockets,
            self.after.tasks,
            self.after.sockets,
        );
        if let Some((warm, last)) = self.memory() {
            println!("  resident: {warm} KiB after 2 minutes, {last} KiB in the end");
        }
        let problems = self.problems();
        let verdict = if problems.is_empty() {
            "nothing wrong"
        } else {
            "wrong:"
        };
        println!("  {verdict}");
        for problem in problems {
            println!("  * {problem}");
        }
    }
}

/// Holds the procedures that ran against those of which a caller was told.
pub(crate) fn check_procedures(executions: &Value, findings: &Findings) {
    let mut ran = HashMap::<u64, u32>::new();
    for execution in executions.as_array().into_iter().flatten() {
        if let Some(call) = execution["arguments"][0].as_u64() {
            *ran.entry(call).or_default() += 1;
        }
    }
    for (call, times) in &ran {
        if *times > 1 {
            findings.note_wrong(format!("stored procedure {call} ran {times} times"));
        }
    }
    for call in findings.procedures() {
        if !ran.contains_key(&call) {
            findings.note_wrong(format!("stored procedure {call} never ran"));
        }
    }
}
