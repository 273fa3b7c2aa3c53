//! The specifications, row by row: what must be seen on the wire.
//!
//! `rows.txt` holds the retry specification's tables as data, each cell with what the regions do
//! and what they must then see, as literals written by hand. Every row runs through the full stack
//! on the scripted account with paused time, and prints one line. `sequences.txt` holds what needs
//! several operations: partitions that fail and move. `environment.txt` holds the breaker's
//! environment variables. `docs/conformance.md` is made from the same data:
//! `COSMOS_BLESS=1 cargo test --test conformance` writes it anew.

mod document;
mod environment;
mod regions;
mod row;
mod run;
mod sequence;
mod table;

use document::Tables;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let tables = Tables::read();
    let mut trials = Vec::new();
    for row in tables.rows() {
        let name = row.name();
        let check = move || run::paused(run::check(&row)).map_err(Failed::from);
        trials.push(Trial::test(name, check));
    }
    for sequence in tables.sequences() {
        let name = sequence.name();
        let check = move || run::paused(sequence.check()).map_err(Failed::from);
        trials.push(Trial::test(name, check));
    }
    for line in tables.environment() {
        let name = line.name();
        let check = move || line.check().map_err(Failed::from);
        trials.push(Trial::test(name, check));
    }
    let count = trials.len();
    trials.push(Trial::test("there are at least 700 rows", move || {
        if count >= 700 {
            Ok(())
        } else {
            Err(format!("only {count}").into())
        }
    }));
    trials.push(Trial::test(
        "docs/conformance.md is up to date",
        move || document::check(&tables).map_err(Failed::from),
    ));
    libtest_mimic::run(&arguments, trials).exit();
}
