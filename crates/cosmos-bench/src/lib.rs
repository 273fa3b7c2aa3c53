//! What the benchmarks share: medians of interleaved rounds, and figures beside their goals.
//!
//! One run of a benchmark on a busy machine says little. Here every case is run in every round, one
//! after the other, so that what slows the machine for a while slows all of them, and the median
//! of the rounds is reported.
//!
//! [`compare`] measures what the layers cost an operation, beside what others take for the same;
//! `docs/performance.md` has its tables.

mod argument;
mod compare;
mod cost;
mod documents;
mod instant;
mod instructions;
pub mod loopback;
mod measure;
pub mod operation;
mod peers;
mod plain;
mod report;
mod section;

pub use compare::{Chosen, Fault, Path, Peer, Profiled, Settings, compare, suffer};
pub use cost::{Allocations, Allocator, Cost, Subject, costs};
pub use instant::{Failure, Failures, InstantLeaf, InstantMetadata, Req};
pub use instructions::{Instructions, OPERATIONS_COUNTED, Verdict};
pub use measure::{Case, interleaved, nanos_each, nanos_each_on_two_threads, slowest_nanos};
pub use peers::WITHOUT_IMDS;
pub use report::{Figure, Goal, Report};
pub use section::{Machine, Section, cpu_model};

/// What every benchmark understands.
#[derive(Clone, Debug, clap::Parser)]
pub struct Arguments {
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// How many rounds to take the median of.
    #[arg(long, default_value_t = 25)]
    pub rounds: usize,
    // Cargo passes it to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}
