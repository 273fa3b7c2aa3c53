//! Faults at random, on schedules that a seed stands for.
//!
//! The seed decides the schedule, the latency of each message and what callers do. The client has no
//! jitter here, its ids come from the thread's generator, which is seeded, and its dates from
//! simulated time. Not decided by the seed is what has no effect on a run: in which shard of a table a
//! hash puts an entry, and h2's clock for streams that were reset a while ago, which is the system's.

use cosmos_client::Protocol;
use cosmos_tests::s;

use crate::faults::schedule;
use crate::run::{BOTH, Plan, run};

/// How many seeds run by default.
const SEEDS: u64 = 3;

fn plan(seed: u64, protocol: Protocol, multi_write: bool) -> Plan {
    let mut plan = Plan::new(protocol, multi_write, schedule(seed, s(6)));
    plan.seed = seed;
    plan
}

/// Runs some seeds: with `NETWORK_SEED` set that one alone, with `NETWORK_RUNS` so many.
fn run_seeds(protocol: Protocol) {
    let number = |name| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().expect("a number"))
    };
    let seeds = match number("NETWORK_SEED") {
        Some(seed) => seed..=seed,
        None => 1..=number("NETWORK_RUNS").unwrap_or(SEEDS),
    };
    for seed in seeds {
        for multi_write in [false, true] {
            eprintln!("NETWORK_SEED={seed} {protocol:?} multi-write: {multi_write}");
            run(&plan(seed, protocol, multi_write));
        }
    }
}

#[test]
fn any_schedule_over_http1() {
    run_seeds(Protocol::Http1);
}

#[test]
fn any_schedule_over_http2() {
    run_seeds(Protocol::Http2);
}

#[test]
fn a_seed_stands_for_one_run() {
    for protocol in BOTH {
        let plan = plan(7, protocol, true);
        let [first, second] = [(), ()].map(|()| run(&plan));
        assert_eq!(first.done.len(), second.done.len());
        for (one, other) in first.done.iter().zip(&second.done) {
            assert_eq!(one, other);
        }
    }
}
