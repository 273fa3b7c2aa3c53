//! The simulation as a test: fewer schedules than `.ci/run` plays, and what makes it trustworthy.

use cosmos_simulation::{Plan, Tally, explain, run};

/// Where the numbers of this test begin: not where the binary's do.
const FIRST: u64 = 1 << 32;

#[test]
fn random_schedules_keep_the_rules() {
    let mut all = Tally::default();
    for number in FIRST..FIRST + 1500 {
        match run(&Plan::of(number)) {
            Ok(tally) => all += tally,
            Err(broken) => panic!("schedule {number}: {broken}"),
        }
    }
    println!("{all}");
    // They were about something.
    let counts = [all.left, all.trips, all.probes, all.rescued];
    assert!(counts.iter().all(|count| *count > 0), "{all:?}");
}

#[test]
fn a_number_tells_all_that_happens() {
    for number in FIRST..FIRST + 100 {
        let plan = Plan::of(number);
        let (first, second) = (explain(&plan), explain(&plan));
        let differs = first.lines().zip(second.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "schedule {number}");
    }
}
