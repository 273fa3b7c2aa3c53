//! Messages that are lost in one direction, late, or held and then delivered.

use cosmos_tests::{ms, s};

use crate::faults::{APP, Fault};
use crate::run::{BOTH, EAST, NORTH, Plan, WEST, run};

#[test]
fn requests_that_are_lost_and_answers_that_are_lost_cost_no_operation() {
    for protocol in BOTH {
        for lost in [Fault::OneWay(APP, EAST), Fault::OneWay(EAST, APP)] {
            let report = run(&Plan::new(protocol, true, vec![lost.lasting(s(4))]));
            report.served("one way is lost", |_| true);
            report.moved_to(WEST);
        }
    }
}

/// Writes arrive whose callers have long been answered by another region.
#[test]
fn messages_that_arrive_in_the_end_undo_nothing() {
    for protocol in BOTH {
        let held = Fault::Hold(APP, EAST).lasting(s(4));
        let report = run(&Plan::new(protocol, true, vec![held]));
        report.served("held", |_| true);
        report.moved_to(WEST);
    }
}

#[test]
fn a_short_silence_moves_nobody() {
    for protocol in BOTH {
        let held = Fault::Hold(APP, EAST).lasting(ms(200));
        let report = run(&Plan::new(protocol, false, vec![held]));
        report.served("held for a moment", |_| true);
        report.stayed("held for a moment");
    }
}

#[test]
fn a_region_that_gets_slower_is_used_until_it_is_too_slow() {
    for protocol in BOTH {
        let ramp = [50, 100, 150, 200, 300, 500, 800];
        let steps = ramp.into_iter().zip(2..);
        let steps = steps.map(|(latency, from)| {
            Fault::Slow(APP, EAST, ms(latency)).between(s(from), s(from + 1))
        });
        let report = run(&Plan::new(protocol, true, steps.collect()));
        report.served("slower and slower", |_| true);
        report.moved_to(WEST);
        let still_used = report
            .during()
            .filter(|done| done.is_at(EAST) && done.took >= ms(300));
        assert!(still_used.count() > 5, "{}", report.story());
    }
}

#[test]
fn regions_that_hear_late_of_each_other_cost_no_session_its_own_writes() {
    for protocol in BOTH {
        let events = vec![
            Fault::Hold(EAST, WEST).lasting(s(2)),
            Fault::Slow(EAST, NORTH, ms(140)).lasting(s(4)),
        ];
        for first in [WEST, NORTH] {
            let plan = Plan::new(protocol, false, events.clone());
            let report = run(&plan.prefer([first, EAST, if first == WEST { NORTH } else { WEST }]));
            report.served("replicated late", |_| true);
        }
    }
}
