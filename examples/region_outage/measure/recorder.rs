//! Sorts operations by phase and by time.

use std::time::Duration;

use cosmos_examples::client::Answer;
use cosmos_examples::frame::Frame;
use cosmos_examples::latencies::{Latencies, success_rate};
use cosmos_examples::load::DEADLINE;
use parking_lot::Mutex;

use super::Tally;
use crate::schedule::{PHASES, Schedule};

/// How many failed operations are kept with their journals, in each phase.
const EXAMPLES: usize = 3;

/// One operation that has ended.
#[derive(Debug)]
pub(crate) struct Sample {
    /// When it was due, counted from the start.
    pub(crate) due: Duration,
    /// From when it was due until it ended.
    pub(crate) latency: Duration,
    /// Whether it writes.
    pub(crate) write: bool,
    /// How it ended.
    pub(crate) answer: Answer,
}

impl Sample {
    /// Why the operation failed, if it did: an error, a status that is not 2xx, or too late.
    pub(super) fn failure(&self) -> Option<&str> {
        let late = self.latency > DEADLINE;
        let failure = self.answer.failure.as_deref();
        failure.or_else(|| late.then_some("too late"))
    }
}

/// What one client's operations came to.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// By the phase in which they were due.
    pub(crate) phases: Vec<Tally>,
    /// By when they were due, in equal slices of the run.
    pub(crate) slices: Vec<Slice>,
    /// A few failed operations with all that was tried.
    pub(crate) examples: Vec<String>,
    /// Failed writes that were due while two regions were listed as writable.
    pub(crate) writes_failed_in_failover: u64,
    /// When the last write that failed was due.
    pub(crate) last_failed_write: Option<Duration>,
}

/// The operations of a short time.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(crate) operations: u64,
    pub(crate) failed: u64,
    pub(crate) latencies: Latencies,
}

impl Slice {
    /// The share of operations that did not fail, from 0 to 1; `None` if there were none.
    pub(crate) fn success_rate(&self) -> Option<f64> {
        success_rate(self.operations, self.failed)
    }
}

/// Takes the results of one client's operations, from any number of tasks.
#[derive(Debug)]
pub(crate) struct Recorder {
    schedule: Schedule,
    frame: Frame,
    recorded: Mutex<Recorded>,
}

impl Recorder {
    pub(crate) fn new(schedule: Schedule) -> Self {
        let slice = Slice {
            operations: 0,
            failed: 0,
            latencies: Latencies::coarse(),
        };
        let frame = schedule.frame();
        Self {
            schedule,
            recorded: Mutex::new(Recorded {
                phases: vec![Tally::new(); PHASES.len()],
                slices: vec![slice; frame.slices()],
                examples: Vec::new(),
                writes_failed_in_failover: 0,
                last_failed_write: None,
            }),
            frame,
        }
    }

    /// Adds an operation.
    pub(crate) fn record(&self, sample: &Sample) {
        let phase = self.schedule.phase_at(sample.due);
        let slice = self.frame.slice_at(sample.due);
        let mut recorded = self.recorded.lock();
        recorded.phases[phase].add(sample);
        let failed = sample.failure().is_some();
        if let Some(slice) = recorded.slices.get_mut(slice) {
            slice.operations += 1;
            slice.failed += u64::from(failed);
            slice.latencies.record(sample.latency);
        }
        if failed {
            self.note_failure(&mut recorded, sample, phase);
        }
    }

    fn note_failure(&self, recorded: &mut Recorded, sample: &Sample, phase: usize) {
        if recorded.phases[phase].failed() <= EXAMPLES as u64 {
            recorded
                .examples
                .push(describe(sample, PHASES[phase].0.name()));
        }
        if sample.write {
            let steps = self.schedule.failover();
            if (steps.announced..steps.completed).contains(&sample.due) {
                recorded.writes_failed_in_failover += 1;
            }
            recorded.last_failed_write = recorded.last_failed_write.max(Some(sample.due));
        }
    }

    /// What was recorded so far.
    pub(crate) fn recorded(&self) -> Recorded {
        self.recorded.lock().clone()
    }

    /// The success rate of the operations that were due in the last few slices before `now`.
    pub(crate) fn recent_success_rate(&self, now: Duration) -> Option<f64> {
        let recorded = self.recorded.lock();
        let last = self.frame.slice_at(now).min(recorded.slices.len());
        let recent = &recorded.slices[last.saturating_sub(4)..last];
        let operations: u64 = recent.iter().map(|slice| slice.operations).sum();
        let failed: u64 = recent.iter().map(|slice| slice.failed).sum();
        success_rate(operations, failed)
    }
}

fn describe(sample: &Sample, phase: &str) -> String {
    let kind = if sample.write { "write" } else { "read" };
    let due = sample.due.as_secs_f64();
    let latency = sample.latency.as_secs_f64();
    let failure = sample.failure().unwrap_or("nothing");
    let head =
        format!("{phase}: a {kind}, due at {due:.3} s, failed after {latency:.3} s: {failure}");
    match &sample.answer.journal {
        Some(journal) => format!("{head}\n{journal}"),
        None => head,
    }
}
