//! Sums of operations: how many, how they ended, how long they took, what their attempts were.

use std::collections::BTreeMap;

use cosmos_core::{Journal, Outcome, Reason, Region, Sent};
use cosmos_examples::latencies::{Latencies, success_rate};

use super::Sample;
use crate::setup::{PerRegion, REGIONS};

/// Sums over some of the operations of one client.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) operations: u64,
    pub(crate) reads_failed: u64,
    pub(crate) writes_failed: u64,
    /// Of all operations, the failed ones included.
    pub(crate) latencies: Latencies,
    /// Attempts that a region answered, by the journals.
    pub(crate) answered: PerRegion,
    /// Attempts that a region may have seen, by the journals.
    pub(crate) ambiguous: PerRegion,
    /// Attempts after the first, by their reason and what they followed.
    pub(crate) retries: BTreeMap<(Reason, String), u64>,
    /// Failed operations by why.
    pub(crate) failures: BTreeMap<String, u64>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            operations: 0,
            reads_failed: 0,
            writes_failed: 0,
            latencies: Latencies::fine(),
            answered: PerRegion::default(),
            ambiguous: PerRegion::default(),
            retries: BTreeMap::new(),
            failures: BTreeMap::new(),
        }
    }

    /// Failed operations of either sort.
    pub(crate) fn failed(&self) -> u64 {
        self.reads_failed + self.writes_failed
    }

    /// The share of operations that did not fail, from 0 to 1; `None` if there were none.
    pub(crate) fn success_rate(&self) -> Option<f64> {
        success_rate(self.operations, self.failed())
    }

    pub(super) fn add(&mut self, sample: &Sample) {
        self.operations += 1;
        self.latencies.record(sample.latency);
        if let Some(failure) = sample.failure() {
            *self.failures.entry(failure.to_owned()).or_default() += 1;
            if sample.write {
                self.writes_failed += 1;
            } else {
                self.reads_failed += 1;
            }
        }
        if let Some(journal) = &sample.answer.journal {
            self.add_attempts(journal);
        }
    }

    fn add_attempts(&mut self, journal: &Journal) {
        let mut last = None;
        for attempt in journal.attempts() {
            if let Some(index) = index_of(attempt.region) {
                match attempt.outcome {
                    Outcome::Answered(_) => self.answered[index] += 1,
                    // What was surely not sent is no request of a region's.
                    Outcome::Failed(kind) if kind.sent() == Sent::No => {}
                    _ => self.ambiguous[index] += 1,
                }
            }
            if let Some(last) = last.replace(attempt.outcome) {
                let retry = (attempt.reason, name(last));
                *self.retries.entry(retry).or_default() += 1;
            }
        }
    }

    /// Adds the sums of other operations of the same client.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.operations += other.operations;
        self.reads_failed += other.reads_failed;
        self.writes_failed += other.writes_failed;
        self.latencies.merge(&other.latencies);
        for region in 0..REGIONS.len() {
            self.answered[region] += other.answered[region];
            self.ambiguous[region] += other.ambiguous[region];
        }
        for (retry, count) in &other.retries {
            *self.retries.entry(retry.clone()).or_default() += count;
        }
        for (failure, count) in &other.failures {
            *self.failures.entry(failure.clone()).or_default() += count;
        }
    }
}

fn index_of(region: Region) -> Option<usize> {
    REGIONS
        .iter()
        .position(|name| Region::named(name).is_ok_and(|named| named == region))
}

/// What became of an attempt, in a word.
fn name(outcome: Outcome) -> String {
    match outcome {
        Outcome::InFlight => "in flight".to_owned(),
        Outcome::Answered(status) => status.to_string(),
        Outcome::Failed(kind) => kind.to_string(),
        Outcome::Abandoned => "abandoned".to_owned(),
        // Outcomes may come to be that this program does not know.
        _ => "other".to_owned(),
    }
}
