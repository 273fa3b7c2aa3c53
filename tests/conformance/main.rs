//! The retry specification, row by row: what must be seen on the wire.
//!
//! `rows.txt` holds the specification's tables as data, each cell with what the regions do and
//! what they must then see, as literals written by hand. Every row runs through the full stack on
//! the scripted account with paused time, and prints one line. `docs/conformance.md` is made from
//! the same data: `COSMOS_BLESS=1 cargo test --test conformance` writes it anew.

mod document;
mod regions;
mod row;
mod run;
mod table;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let sections = table::read(include_str!("rows.txt"));
    let rows: Vec<row::Row> = sections.iter().flat_map(table::Section::rows).collect();
    let count = rows.len();
    let mut trials: Vec<Trial> = rows
        .into_iter()
        .map(|row| Trial::test(row.name(), move || run::run(&row).map_err(Failed::from)))
        .collect();
    trials.push(Trial::test("there are at least 200 rows", move || {
        if count >= 200 {
            Ok(())
        } else {
            Err(format!("only {count}").into())
        }
    }));
    trials.push(Trial::test(
        "docs/conformance.md is up to date",
        move || document::check(&sections).map_err(Failed::from),
    ));
    libtest_mimic::run(&arguments, trials).exit();
}
