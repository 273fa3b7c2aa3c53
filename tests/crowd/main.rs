//! A thousand clients lose a region together, and do not come back together.
//!
//! Each has an account handle and a stack of its own, with the jitter that clients have. All of them find
//! out within 50 ms, which is the worst that can happen: from then on only jitter tells them apart.

mod crowd;

use std::time::Duration;

use cosmos_core::policy::Jitter;
use cosmos_testbed::bounded::Health;
use cosmos_tests::s;

use crate::crowd::{CLIENTS, Crowd, fullest, print};

/// How many clients 100 ms may hold. Waits are lengthened by 0 to 25 %, evenly, so of clients that begin
/// to wait together, 100 ms see one in (wait / 4 / 100 ms); twice as many, and what chance adds to small
/// numbers, is still no herd.
fn bound(wait: Duration) -> usize {
    let tenths_of_the_spread = wait / 4 / 100;
    let tenths = usize::try_from(tenths_of_the_spread.as_millis()).expect("a short wait");
    2 * CLIENTS as usize / tenths + 12
}

/// At most one account read in this time.
const INTERVAL: Duration = s(5);

/// A mark, and the wait of an open circuit before its first probe.
const MARK: Duration = s(60);

#[test]
fn after_an_outage_a_thousand_clients_ask_for_the_account_and_come_back_one_after_the_other() {
    let crowd = Crowd::through(Health::Refuses, Jitter::Random, s(100), s(60));
    // Asked for when the region is marked, and once more when its trial fails.
    let reads = crowd.account_reads();
    print("account reads", &reads);
    assert!(reads.len() >= CLIENTS as usize);
    let fullest = fullest(&reads);
    assert!(
        fullest <= bound(INTERVAL),
        "{fullest} account reads at once"
    );
    // The mark's trial, one per client, while the region is still down.
    check("trials", &crowd.first_after_outage());
    // And the one that finds it well again: a new connection, and all traffic after it.
    check("returns", &crowd.first_after_healing());
}

#[test]
fn the_circuits_of_a_thousand_clients_are_probed_one_after_the_other() {
    let crowd = Crowd::through(Health::Answers(503), Jitter::Random, s(50), s(30));
    check("probes", &crowd.first_after_healing());
}

/// That there is something to spread, and that the bounds above would tell.
#[test]
fn without_jitter_they_come_together() {
    let crowd = Crowd::through(Health::Refuses, Jitter::None, s(65), s(0));
    let reads = crowd.account_reads();
    print("account reads without jitter", &reads);
    assert_eq!(fullest(&reads), CLIENTS as usize);
    let trials = crowd.first_after_outage();
    print("trials without jitter", &trials);
    // Told apart by nothing but when each of them has something to do.
    assert!(fullest(&trials) >= 100);
}

fn check(what: &str, moments: &[Duration]) {
    print(what, moments);
    assert_eq!(moments.len(), CLIENTS as usize, "{what}: one per client");
    let at_once = fullest(moments);
    assert!(at_once <= bound(MARK), "{at_once} {what} at once");
}
