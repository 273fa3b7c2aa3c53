//! Who cannot reach whom.

use cosmos_tests::s;

use crate::faults::{APP, Fault};
use crate::region::GLOBAL;
use crate::report::Done;
use crate::run::{BOTH, EAST, NORTH, Plan, WEST, run};
use crate::traffic::DEADLINE;

#[test]
fn callers_without_their_region_are_served_by_another_one() {
    for protocol in BOTH {
        let cut = Fault::Partition(APP, EAST).lasting(s(4));
        let report = run(&Plan::new(protocol, true, vec![cut]));
        report.served("cut off from east", |_| true);
        report.moved_to(WEST);
    }
}

#[test]
fn callers_without_the_hub_read_elsewhere_and_write_nothing_that_is_lost() {
    for protocol in BOTH {
        let cut = Fault::Partition(APP, EAST).lasting(s(4));
        let report = run(&Plan::new(protocol, false, vec![cut]));
        report.served("reads", Done::is_read);
        report.moved_to(WEST);
        report.some("failed writes", |done| !done.is_read() && !done.succeeded());
    }
}

#[test]
fn callers_without_any_region_are_told_so_in_time() {
    for protocol in BOTH {
        let hosts = [EAST, WEST, NORTH, GLOBAL];
        let cut = hosts.map(|host| Fault::Partition(APP, host).lasting(s(4)));
        let report = run(&Plan::new(protocol, true, cut.to_vec()));
        let in_time = |done: &Done| done.status == Some((408, 20008)) && done.took >= DEADLINE;
        report.some("reads", |done| done.is_read() && in_time(done));
        report.some("writes", |done| !done.is_read() && in_time(done));
    }
}

/// The second of the two lags behind: a session that wrote reads from the hub.
#[test]
fn a_region_without_the_hub_costs_no_session_its_own_writes() {
    for protocol in BOTH {
        let cut = Fault::Partition(EAST, WEST).lasting(s(4));
        let plan = Plan::new(protocol, false, vec![cut]);
        let report = run(&plan.prefer([WEST, EAST, NORTH]));
        report.served("west does not hear of east", |_| true);
        report.moved_to(EAST);
    }
}

#[test]
fn regions_without_each_other_and_callers_without_the_global_endpoint_are_not_noticed() {
    for protocol in BOTH {
        let apart = Fault::Partition(EAST, WEST).lasting(s(3));
        let cut = Fault::Partition(APP, GLOBAL).lasting(s(3));
        let report = run(&Plan::new(protocol, true, vec![apart, cut]));
        report.served("as if nothing were", |_| true);
        report.stayed("as if nothing were");
    }
}
