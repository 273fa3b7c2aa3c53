//! `cosmos-bench compare`: what the layers cost an operation and spare it, beside what others do.
//!
//! `cosmos-bench instructions` holds counted instructions against a baseline, `cosmos-bench profile`
//! gives a profiler something to look at.

use std::error::Error;
use std::io::{self, Write};
use std::process::{self, ExitCode};

use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand};
use cosmos_bench::loopback::{self, Drive};
use cosmos_bench::{
    Allocations, Allocator, Chosen, Fault, Instructions, Path, Peer, Profiled, Settings, Verdict,
    WITHOUT_IMDS, compare,
};
use cosmos_core::BoxError;
use tokio::runtime::{Builder, Runtime};

#[derive(Debug, Parser)]
#[command(about = "Measures what the layers cost an operation.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Time and allocations of a point read: each layer, the stack, the peers, failures, threads;
    /// and what callers see while a region misbehaves. Seven minutes in all. Goals that are missed are
    /// said to be, and are no failure of the program.
    Compare {
        /// Print one JSON object instead of tables.
        #[arg(long)]
        json: bool,
        /// How many rounds to take the median of. Loopback and availability have their own number.
        #[arg(long, default_value_t = 25, value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
        rounds: usize,
        /// Only this section. May be repeated, or a list; without it all are measured.
        #[arg(long = "section", value_name = "SECTION", value_delimiter = ',')]
        sections: Vec<Chosen>,
    },
    /// One client through one fault: the process that the section `availability` starts for each.
    #[command(hide = true)]
    Suffer {
        #[arg(long)]
        fault: Fault,
        #[arg(long)]
        client: Peer,
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
        #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
        operations: u32,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Whoever has read enough of it has closed the pipe.
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Whether all is well.
fn run(command: Command) -> Result<bool, BoxError> {
    let (variable, _) = WITHOUT_IMDS;
    if cfg!(feature = "peers") && std::env::var_os(variable).is_none() {
        return again();
    }
    match command {
        Command::Compare {
            json,
            rounds,
            sections,
        } => {
            let settings = Settings {
                rounds,
                allocator: ALLOCATOR,
                chosen: sections,
            };
            compare(&settings, json, &mut io::stdout().lock())?;
        }
        Command::LoopbackServer => on_one_thread(loopback::serve())?,
        Command::LoopbackClient(drive) => on_one_thread(drive.run())?,
        Command::Suffer { fault, client } => {
            Runtime::new()?.block_on(cosmos_bench::suffer(fault, client))?;
        }
        Command::Instructions { bless } => return Ok(instructions(bless)?),
        Command::Profile { path, operations } => {
            (ALLOCATOR.uncounted)(&mut || Profiled::new(path).run(operations));
            eprintln!("{operations} operations");
        }
    }
    Ok(true)
}

/// This program once more, with the variable that keeps the Azure SDK on loopback.
fn again() -> Result<bool, BoxError> {
    let mut command = process::Command::new(std::env::current_exe()?);
    command
        .args(std::env::args_os().skip(1))
        .envs([WITHOUT_IMDS]);
    // In this one's place: whoever ends or profiles it means that.
    #[cfg(unix)]
    return Err(std::os::unix::process::CommandExt::exec(&mut command).into());
    #[cfg(not(unix))]
    Ok(command.status()?.success())
}

/// Without counting allocations, which takes time.
fn on_one_thread(work: impl Future<Output = Result<(), BoxError>>) -> Result<(), BoxError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut work = std::pin::pin!(work);
    let mut result = Ok(());
    (ALLOCATOR.uncounted)(&mut || result = runtime.block_on(work.as_mut()));
    result
}

/// Whether the counts are good.
fn instructions(bless: bool) -> io::Result<bool> {
    let counted = Instructions::counted()?;
    if bless {
        counted.bless()?;
    }
    let baseline = Instructions::baseline()?;
    let out = &mut io::stdout().lock();
    counted.write(out, &baseline)?;
    match counted.check(&baseline) {
        Verdict::Passed => Ok(true),
        Verdict::NotComparable(cpu) => {
            writeln!(out, "not compared: the baseline is for {cpu}")?;
            Ok(true)
        }
        Verdict::Grown(names) => {
            let names = names.join(", ");
            writeln!(out, "more than 3 % above the baseline: {names}")?;
            writeln!(
                out,
                "if that is meant: cosmos-bench instructions --bless, in the same commit"
            )?;
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
