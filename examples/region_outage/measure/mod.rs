//! What is kept of the operations: bounded, however long the run and however high the rate.

mod recorder;
mod sampler;
mod tally;

pub(crate) use recorder::{Recorded, Recorder, Sample, Slice};
pub(crate) use sampler::{Sampler, Timeline};
pub(crate) use tally::Tally;
