//! Counted instructions against a baseline that is kept in the repository.
//!
//! Counts depend on the processor (which instructions libraries choose), so a baseline names the
//! one that it is for; on another the figures are printed and nothing is held against them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cpu_model;

/// How many operations each benchmark of `instructions` counts.
pub const OPERATIONS_COUNTED: u32 = 100;

/// By how much a count may grow before the check fails.
const TOLERATED: f64 = 0.03;

/// Where counts begin in the name of a benchmark's folder.
const BENCHMARK: &str = "point_reads.";

/// Instructions per operation, and the processor that they were counted for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instructions {
    cpu: String,
    per_operation: BTreeMap<String, u64>,
}

/// What the check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within what is tolerated.
    Passed,
    /// The baseline is for another processor.
    NotComparable(String),
    /// What has grown too much, or has no figure in the baseline.
    Grown(Vec<String>),
}

impl Instructions {
    /// What the last run of the benchmark `instructions` counted.
    ///
    /// # Errors
    /// If there was no such run.
    pub fn counted() -> io::Result<Self> {
        let mut per_operation = BTreeMap::new();
        let folder = results();
        let entries = fs::read_dir(&folder).map_err(|error| {
            let folder = folder.display();
            let hint = "run `cargo bench -p cosmos-bench --bench instructions` first";
            io::Error::new(
                error.kind(),
                format!("nothing counted in {folder} ({error}): {hint}"),
            )
        })?;
        for entry in entries {
            let folder = entry?;
            let name = folder.file_name().to_string_lossy().into_owned();
            if let Some(name) = name.strip_prefix(BENCHMARK) {
                let total = total(&folder.path())?;
                // As `profile --path` calls it.
                let path = name.replace('_', "-");
                per_operation.insert(path, total / u64::from(OPERATIONS_COUNTED));
            }
        }
        Ok(Self {
            cpu: cpu_model(),
            per_operation,
        })
    }

    /// The baseline of the repository.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn baseline() -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(baseline())?)?)
    }

    /// Makes these figures the baseline.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn bless(&self) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        fs::write(baseline(), text + "\n")
    }

    /// Writes the figures beside the baseline's.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&self, out: &mut impl Write, baseline: &Self) -> io::Result<()> {
        writeln!(out, "instructions per operation, {}", self.cpu)?;
        for (name, count) in &self.per_operation {
            let known = baseline.per_operation.get(name);
            let known = known.map_or("none".to_owned(), u64::to_string);
            writeln!(out, "{name:<20} {count:>9}   baseline {known:>9}")?;
        }
        Ok(())
    }

    /// Holds the figures against a baseline.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn check(&self, baseline: &Self) -> Verdict {
        if self.cpu != baseline.cpu {
            return Verdict::NotComparable(baseline.cpu.clone());
        }
        let grown = self.per_operation.iter().filter(|(name, count)| {
            let known = baseline.per_operation.get(*name);
            known.is_none_or(|known| **count as f64 > *known as f64 * (1.0 + TOLERATED))
        });
        let grown: Vec<_> = grown.map(|(name, _)| name.clone()).collect();
        if grown.is_empty() {
            Verdict::Passed
        } else {
            Verdict::Grown(grown)
        }
    }
}

/// The sum that callgrind wrote into a benchmark's folder.
fn total(folder: &Path) -> io::Result<u64> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("callgrind.") || !name.ends_with(".out") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let sum = text.lines().find_map(|line| line.strip_prefix("totals: "));
        let sum = sum.and_then(|sum| sum.split(' ').next()?.parse().ok());
        return sum.ok_or_else(|| io::Error::other(format!("{} has no totals", path.display())));
    }
    let missing = format!("{} has no result of callgrind", folder.display());
    Err(io::Error::new(io::ErrorKind::NotFound, missing))
}

fn baseline() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.json")
}

/// Where the benchmark leaves its results.
fn results() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let workspace = package.ancestors().nth(2).unwrap_or(package);
        workspace.join("target")
    });
    target.join("gungraun/cosmos-bench/instructions/operations")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(cpu: &str, count: u64) -> Instructions {
        Instructions {
            cpu: cpu.to_owned(),
            per_operation: [("healthy".to_owned(), count)].into(),
        }
    }

    #[test]
    fn a_count_may_grow_by_three_percent() {
        let baseline = counts("a", 1_000);
        assert_eq!(counts("a", 900).check(&baseline), Verdict::Passed);
        assert_eq!(counts("a", 1_030).check(&baseline), Verdict::Passed);
        let grown = Verdict::Grown(vec!["healthy".to_owned()]);
        assert_eq!(counts("a", 1_031).check(&baseline), grown);
    }

    #[test]
    fn what_has_no_baseline_fails() {
        let mut baseline = counts("a", 1_000);
        baseline.per_operation.clear();
        let grown = Verdict::Grown(vec!["healthy".to_owned()]);
        assert_eq!(counts("a", 1).check(&baseline), grown);
    }

    #[test]
    fn another_processor_is_not_compared() {
        let verdict = counts("b", 2_000).check(&counts("a", 1_000));
        assert_eq!(verdict, Verdict::NotComparable("a".to_owned()));
    }
}
