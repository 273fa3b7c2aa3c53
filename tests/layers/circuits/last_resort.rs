//! No region is left: the breaker steers and never refuses.

use cosmos_core::OperationOptions;
use cosmos_core::health::{BreakerOptions, State};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, breaker, create, read, s, with};
use tower_cosmos::circuit_breaker::Circuits;

use super::{asked, circuit, lab, of, set, watched};

const REGIONS: [&str; 3] = ["A", "B", "C"];

/// Reads until every circuit of range 0 is open.
async fn open_all(lab: &Lab) {
    for region in REGIONS {
        lab.regions.script(region, [Step::status(503, 0).forever()]);
    }
    for _ in 0..12 {
        assert_eq!(lab.send(of("0", read())).await.status().code(), 503);
    }
}

fn states(circuits: &Circuits) -> Vec<Option<State>> {
    REGIONS
        .iter()
        .map(|region| circuit(circuits, "0", region).map(|circuit| circuit.state))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn with_every_region_open_every_call_reaches_one_and_gets_its_answer() {
    let (lab, circuits) = watched(Document::multi_write(REGIONS));
    open_all(&lab).await;
    assert_eq!(circuits.counters().open, 3);
    for _ in 0..10 {
        let seen = lab.send(of("0", read())).await;
        assert_eq!(seen.status().code(), 503);
        let attempts = seen.journal.unwrap().attempts();
        assert!(attempts.iter().all(|attempt| attempt.last_resort));
    }
    assert_eq!(asked(&lab, of("0", read())).await, "A B C A");
    assert_eq!(states(&circuits), [Some(State::UnhealthyTentative); 3]);
}

#[tokio::test(start_paused = true)]
async fn a_last_resort_that_succeeds_closes_its_circuit_at_once() {
    let (lab, circuits) = watched(Document::multi_write(REGIONS));
    open_all(&lab).await;
    lab.regions.heal("B");
    assert_eq!(asked(&lab, of("0", read())).await, "A B");
    let open = Some(State::UnhealthyTentative);
    let closed = Some(State::Healthy);
    assert_eq!(states(&circuits), [open, closed, open]);
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn the_very_next_attempt_after_the_trip_can_close_it() {
    let lab = set(breaker(BreakerOptions::new().reads_tolerated(4)));
    let only_a = || {
        let options = OperationOptions::new().partition_key_range("0");
        with(read(), options.exclude_regions(["B", "C"]).unwrap())
    };
    lab.regions.script("A", vec![Step::status(503, 0); 4]);
    assert_eq!(asked(&lab, only_a()).await, "A A A A");
    assert_eq!(asked(&lab, only_a()).await, "A");
    assert_eq!(asked(&lab, of("0", read())).await, "A", "closed");
}

#[tokio::test(start_paused = true)]
async fn a_last_resort_that_fails_starts_no_wait_anew() {
    let (lab, circuits) = watched(Document::multi_write(REGIONS));
    open_all(&lab).await;
    let due = circuit(&circuits, "0", "A").unwrap().due;
    tokio::time::sleep(s(30)).await;
    assert_eq!(lab.send(of("0", read())).await.status().code(), 503);
    assert_eq!(circuit(&circuits, "0", "A").unwrap().due, due);
    tokio::time::sleep(s(30)).await;
    lab.regions.heal("A");
    let seen = lab.send(of("0", read())).await;
    assert!(seen.journal.unwrap().attempts()[0].probe);
}

#[tokio::test(start_paused = true)]
async fn a_probe_under_way_is_void_once_a_last_resort_has_closed_the_circuit() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B"]));
    for region in ["A", "B"] {
        lab.regions.script(region, [Step::status(503, 0).forever()]);
    }
    for _ in 0..8 {
        let _ = lab.send(of("0", read())).await;
    }
    assert_eq!(circuits.counters().open, 2);
    tokio::time::sleep(s(60)).await;
    for region in ["A", "B"] {
        lab.regions.heal(region);
    }
    let slow = Step::status(503, 0).after(cosmos_tests::ms(50));
    lab.regions.script("A", [slow.clone()]);
    lab.regions.script("B", [slow]);
    lab.regions.clear_wire();
    let (first, second, third) = tokio::join!(
        lab.send(of("0", read())),
        lab.send(of("0", read())),
        lab.send(of("0", read())),
    );
    for seen in [&first, &second, &third] {
        assert_eq!(seen.status().code(), 200);
    }
    // The third found both probed, went to the hub, and closed it: the probe's failure is late.
    let closed = circuit(&circuits, "0", "A").unwrap().state;
    assert_eq!(closed, State::Healthy);
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn writes_reach_a_region_too_when_all_are_open() {
    let lab = lab();
    for region in REGIONS {
        lab.regions.script(region, [Step::status(503, 0).forever()]);
    }
    for _ in 0..20 {
        let seen = lab.send(of("0", create())).await;
        assert_eq!(seen.status().code(), 503);
    }
    assert_eq!(lab.wire().len(), 80, "four attempts each, as ever");
    assert_eq!(asked(&lab, of("1", create())).await, "A B C A");
}

#[tokio::test(start_paused = true)]
async fn once_faults_end_traffic_is_back_in_the_preferred_region_within_its_wait() {
    let lab = lab();
    open_all(&lab).await;
    for region in REGIONS {
        lab.regions.heal(region);
    }
    // The first success closes the hub's circuit.
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    tokio::time::sleep(s(60)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}
