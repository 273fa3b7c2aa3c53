//! The checks check: each of ten faults, one for each safety rule, is found.
//!
//! The faults are compiled in with `RUSTFLAGS="--cfg cosmos_faults"` only. One test plants them one
//! after another: a fault is planted for the whole process.
#![cfg(cosmos_faults)]

use cosmos_core::seeded::{Fault, plant};
use cosmos_simulation::{Plan, Rule, run, shrink};

/// How many schedules a fault may hide in.
const RUNS: u64 = 2000;

/// The rules that a fault breaks. Some break others, too, and are found by what comes first.
fn breaks(fault: Fault) -> &'static [Rule] {
    match fault {
        Fault::IgnoredExclusion => &[Rule::Exclusions],
        Fault::BudgetOutsideJournal => &[Rule::Budgets],
        Fault::SendAfterDeadline => &[Rule::Deadline],
        Fault::ProcedureTwice => &[Rule::Procedures],
        Fault::DroppedToken => &[Rule::SessionToken],
        Fault::MadeUpResponse => &[Rule::Responses],
        Fault::GrowingHeader => &[Rule::Replays],
        Fault::LeakedLease => &[Rule::Probes],
        // What holds the last permit is waited for without end.
        Fault::LeakedPermit => &[Rule::Ends],
        Fault::NeverProbes => &[Rule::Returns],
    }
}

#[test]
fn each_seeded_fault_is_found() {
    for fault in Fault::ALL {
        plant(Some(fault));
        let found = (0..RUNS).find_map(|number| {
            let plan = Plan::of(number);
            Some((number, run(&plan).err()?, plan))
        });
        let (number, broken, plan) =
            found.unwrap_or_else(|| panic!("{fault:?} hides in {RUNS} schedules"));
        assert!(breaks(fault).contains(&broken.rule), "{fault:?}: {broken}");
        let (smaller, broken) = shrink(&plan, &broken);
        let operations = |plan: &Plan| plan.bursts.iter().map(|burst| burst.count).sum::<usize>();
        println!(
            "{fault:?}: schedule {number}, {} operations and {} faults, of which {} and {} do: {broken}",
            operations(&plan),
            plan.faults.len(),
            operations(&smaller),
            smaller.faults.len(),
        );
        // Without the fault, the smaller plan is a good one, too.
        plant(None);
        assert_eq!(run(&smaller).err(), None, "{fault:?}");
    }
}
