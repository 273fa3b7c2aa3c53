//! What is kept of the operations: bounded, however long the run and however high the rate.

mod recorder;
mod sampler;
mod tally;

pub(crate) use recorder::{Recorded, Recorder, Sample, Slice};
pub(crate) use sampler::{Sampler, Timeline};
pub(crate) use tally::{Latencies, Tally};

/// The share of operations that did not fail, from 0 to 1; `None` if there were none.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn success_rate(operations: u64, failed: u64) -> Option<f64> {
    let good = operations.saturating_sub(failed);
    (operations > 0).then(|| good as f64 / operations as f64)
}
