//! `cosmos-bench compare`: what the layers cost an operation, beside what others take for it.

use clap::{Parser, Subcommand};
use cosmos_bench::{Allocations, Path, Settings, compare, profile};

#[derive(Debug, Parser)]
#[command(about = "Measures what the layers cost an operation.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Time and allocations of a point read: each layer, the stack, the peers, failures, threads.
    Compare {
        /// Print one JSON object instead of tables.
        #[arg(long)]
        json: bool,
        /// How many rounds to take the median of.
        #[arg(long, default_value_t = 25)]
        rounds: usize,
    },
    /// Point reads through the recommended stack and nothing else, for a profiler.
    Profile {
        /// Which path they take.
        #[arg(long, default_value = "healthy")]
        path: Path,
        /// How many.
        #[arg(long, default_value_t = 10_000)]
        operations: u32,
    },
}

fn main() {
    match Arguments::parse().command {
        Command::Compare { json, rounds } => {
            compare(&Settings { rounds, count }).print(json);
        }
        Command::Profile { path, operations } => profile(path, operations),
    }
}

/// The crate's allocator counts per thread, so that threads share nothing for being counted.
fn count(work: &mut dyn FnMut()) -> Allocations {
    let info = allocation_counter::measure(work);
    Allocations {
        count: info.count_total,
        bytes: info.bytes_total,
    }
}
