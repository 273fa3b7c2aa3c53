//! What became of the operations.

use std::collections::BTreeMap;
use std::time::Duration;

use cosmos_examples::client::Answer;
use cosmos_examples::frame::Frame;
use cosmos_examples::latencies::Latencies;
use cosmos_examples::load::DEADLINE;
use parking_lot::Mutex;

/// How many failed operations are kept with their journals.
const EXAMPLES: usize = 5;

/// The operations of the sick partition, or those of all others.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) operations: u64,
    pub(crate) failed: u64,
    pub(crate) latencies: Latencies,
    /// By when they were due, in equal slices of the run.
    pub(crate) slices: Vec<Latencies>,
}

/// What the operations came to.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) sick: Side,
    pub(crate) healthy: Side,
    /// Failed operations by why.
    pub(crate) failures: BTreeMap<String, u64>,
    /// A few failed operations with all that was tried.
    pub(crate) examples: Vec<String>,
}

/// Takes the results of operations, from any number of tasks.
#[derive(Debug)]
pub(crate) struct Recorder {
    frame: Frame,
    recorded: Mutex<Recorded>,
}

impl Recorder {
    pub(crate) fn new(frame: Frame) -> Self {
        let side = Side {
            operations: 0,
            failed: 0,
            latencies: Latencies::fine(),
            slices: vec![Latencies::coarse(); frame.slices()],
        };
        let recorded = Mutex::new(Recorded {
            sick: side.clone(),
            healthy: side,
            failures: BTreeMap::new(),
            examples: Vec::new(),
        });
        Self { frame, recorded }
    }

    /// Adds an operation.
    pub(crate) fn record(&self, due: Duration, latency: Duration, sick: bool, answer: &Answer) {
        let mut recorded = self.recorded.lock();
        let late = (latency > DEADLINE).then_some("too late");
        let failure = answer.failure.as_deref().or(late);
        if let Some(failure) = failure {
            *recorded.failures.entry(failure.to_owned()).or_default() += 1;
            if recorded.examples.len() < EXAMPLES {
                let journal = answer.journal.as_ref().map(ToString::to_string);
                let example = format!("{failure}\n{}", journal.unwrap_or_default());
                recorded.examples.push(example);
            }
        }
        let side = if sick {
            &mut recorded.sick
        } else {
            &mut recorded.healthy
        };
        side.operations += 1;
        side.failed += u64::from(failure.is_some());
        side.latencies.record(latency);
        if let Some(slice) = side.slices.get_mut(self.frame.slice_at(due)) {
            slice.record(latency);
        }
    }

    pub(crate) fn recorded(&self) -> Recorded {
        self.recorded.lock().clone()
    }
}
