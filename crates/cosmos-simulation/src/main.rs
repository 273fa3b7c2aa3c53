//! Runs schedules of the simulation, as many as are asked for.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use clap::Parser;
use cosmos_simulation::{Broken, Plan, Tally, explain, run, shrink};
use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;
use tokio::time::Instant;

/// Plays random schedules in virtual time and checks the rules that hold in all of them.
#[derive(Debug, Parser)]
struct Options {
    /// How many schedules to run.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// The number of the first one.
    #[arg(long, default_value_t = 0)]
    start: u64,
    /// On how many threads; by default one for each core.
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Goes on after a schedule that breaks a rule, and lists them all.
    #[arg(long)]
    all: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let threads = options
        .threads
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(2, NonZeroUsize::get);
    let began = Instant::now();
    let (tally, found) = hunt(&options, threads);
    if found.is_empty() {
        let took = began.elapsed();
        println!(
            "{} schedules, all rules kept, in {took:.0?}: {tally}.",
            options.runs
        );
        return ExitCode::SUCCESS;
    }
    for (number, broken) in &found {
        println!("{number}: {broken}");
    }
    let (number, broken) = &found[0];
    let (smaller, _) = shrink(&Plan::of(*number), broken);
    println!("\nSchedule {number}, made smaller:\n{}", explain(&smaller));
    ExitCode::FAILURE
}

/// What the schedules were made of, and those that break a rule, in order of their numbers.
fn hunt(options: &Options, threads: usize) -> (Tally, Vec<(u64, Broken)>) {
    let all = Mutex::new(Tally::default());
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let found = Mutex::new(Vec::new());
    let bar = ProgressBar::new(options.runs).with_style(
        ProgressStyle::with_template("{pos}/{len} schedules {wide_bar} {eta}")
            .expect("a good template"),
    );
    bar.enable_steady_tick(Duration::from_secs(1));
    let worker = || {
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= options.runs {
                return;
            }
            let number = options.start + index;
            match run(&Plan::of(number)) {
                Ok(tally) => *all.lock() += tally,
                Err(broken) => {
                    found.lock().push((number, broken));
                    stop.store(!options.all, Ordering::Relaxed);
                }
            }
            bar.inc(1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(worker);
        }
    });
    bar.finish_and_clear();
    let mut found = found.into_inner();
    found.sort_by_key(|(number, _)| *number);
    (all.into_inner(), found)
}
