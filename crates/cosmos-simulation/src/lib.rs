//! Deterministic simulation: random accounts, layers, callers and faults, in virtual time.
//!
//! A number makes a [`Plan`]; [`run`] plays it against scripted regions and checks on the wire what
//! must hold in every run: the ten safety rules, that an operation succeeds which a healthy region
//! could have answered, that each further try is the one that was asked for, and that what was kept
//! of partitions and regions goes again. A plan that
//! breaks a rule is made smaller by [`shrink`].

// A simulation that cannot be set up has nothing to go on with.
#![allow(clippy::missing_panics_doc)]

mod broken;
mod check;
pub mod plan;
mod play;
mod settle;
mod shrink;
mod stack;
mod tally;
mod world;

pub use broken::{Broken, Rule};
pub use plan::Plan;
pub use shrink::shrink;
pub use tally::Tally;

use play::Seen;

/// Plays a plan, and says what it was made of.
///
/// # Errors
/// The rule that it broke.
pub fn run(plan: &Plan) -> Result<Tally, Broken> {
    play::play(plan, &mut Seen::default())
}

/// Plays a plan and tells what was seen, for people.
#[must_use]
pub fn explain(plan: &Plan) -> String {
    let mut seen = Seen::default();
    let result = play::play(plan, &mut seen);
    let result = match result {
        Ok(_) => "no rule was broken".to_owned(),
        Err(broken) => broken.to_string(),
    };
    format!("{result}\n{plan:#?}\n{}", seen.report())
}
