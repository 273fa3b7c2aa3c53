//! What retries add to an outage, without the retry guard and with it.
//!
//! `cargo bench -p cosmos-bench --bench overload [-- --json]`
//!
//! 2,000 operations a second, on paused time and so the same on every machine: all is well, one region
//! answers everything with 503, all regions do, all are well again. `docs/overload.md` has the result.

mod run;
mod schedule;
mod table;
mod tally;

use clap::Parser;
use cosmos_bench::Arguments;

use crate::run::{SCENARIOS, run};
use crate::table::Compared;

fn main() {
    // Rounds would all be the same.
    let arguments = Arguments::parse();
    let results = SCENARIOS.map(|scenario| Compared {
        scenario,
        without: run(scenario, false),
        with: run(scenario, true),
    });
    if arguments.json {
        println!("{}", table::json(&results));
    } else {
        table::print(&results);
    }
}
