//! Hosts that lose all but their disks.
//!
//! What a region had acknowledged and not replicated is nowhere else while it is down: a session that
//! wrote it is told so (404/1002), and reads it when the region is back.

use cosmos_tests::{ms, s};

use crate::faults::Fault;
use crate::report::Done;
use crate::run::{BOTH, EAST, Plan, run};

#[test]
fn a_region_that_crashes_costs_no_operation() {
    for protocol in BOTH {
        let crash = Fault::Crash(EAST).lasting(s(4));
        let report = run(&Plan::new(protocol, true, vec![crash]));
        report.served_or_behind("without east", |_| true);
    }
}

#[test]
fn a_hub_that_crashes_has_what_it_acknowledged() {
    for protocol in BOTH {
        let crash = Fault::Crash(EAST).lasting(s(4));
        let report = run(&Plan::new(protocol, false, vec![crash]));
        report.served_or_behind("reads", Done::is_read);
        report.some("failed writes", |done| !done.is_read() && !done.succeeded());
    }
}

#[test]
fn a_region_that_crashes_again_and_again_costs_no_operation() {
    for protocol in BOTH {
        let crashes = (0..5).map(|n| {
            let from = s(2) + ms(700) * n;
            Fault::Crash(EAST).between(from, from + ms(300))
        });
        let report = run(&Plan::new(protocol, true, crashes.collect()));
        report.served_or_behind("with east coming and going", |_| true);
    }
}
