//! `cosmos-bench compare`: what the layers cost an operation, beside what others take for it.
//!
//! `cosmos-bench instructions` holds counted instructions against a baseline, `cosmos-bench profile`
//! gives a profiler something to look at.

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use cosmos_bench::loopback::{self, BoxError, Drive};
use cosmos_bench::{
    Allocations, Allocator, Instructions, Path, Profiled, Settings, Verdict, compare,
};
use tokio::runtime::Builder;

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
    /// Holds what the benchmark `instructions` counted last against the baseline.
    Instructions {
        /// Make the figures the baseline instead.
        #[arg(long)]
        bless: bool,
    },
    /// The server of the comparison over loopback: started by `compare`.
    #[command(hide = true)]
    LoopbackServer,
    /// One of its clients.
    #[command(hide = true)]
    LoopbackClient(Drive),
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

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Compare { json, rounds } => {
            compare(&Settings {
                rounds,
                allocator: ALLOCATOR,
            })
            .print(json);
        }
        Command::Instructions { bless } => match instructions(bless) {
            Ok(true) => {}
            Ok(false) => return ExitCode::FAILURE,
            Err(error) => return ended(Err(error.into())),
        },
        Command::LoopbackServer => return ended(run(loopback::serve())),
        Command::LoopbackClient(drive) => return ended(run(drive.run())),
        Command::Profile { path, operations } => Profiled::new(path).run(operations),
    }
    ExitCode::SUCCESS
}

/// Runs on this thread.
fn run(work: impl Future<Output = Result<(), BoxError>>) -> Result<(), BoxError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(work)
}

fn ended(result: Result<(), BoxError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the counts are good.
fn instructions(bless: bool) -> io::Result<bool> {
    let counted = Instructions::counted()?;
    if bless {
        counted.bless()?;
    }
    let baseline = Instructions::baseline()?;
    counted.print(&baseline);
    match counted.check(&baseline) {
        Verdict::Passed => Ok(true),
        Verdict::NotComparable(cpu) => {
            println!("not compared: the baseline is for {cpu}");
            Ok(true)
        }
        Verdict::Grown(names) => {
            println!("more than 3 % above the baseline: {}", names.join(", "));
            println!("if that is meant: cosmos-bench instructions --bless, in the same commit");
            Ok(false)
        }
    }
}

/// It counts per thread, so that threads share nothing for being counted.
const ALLOCATOR: Allocator = Allocator {
    counted: |work| {
        let info = allocation_counter::measure(work);
        Allocations {
            count: info.count_total,
            bytes: info.bytes_total,
        }
    },
    uncounted: |work| allocation_counter::opt_out(work),
};
