use cosmos_core::health::BreakerOptions;
use cosmos_core::{FailureKind, headers};
use cosmos_testbed::scripted::Step;
use cosmos_tests::{breaker, ms, read, s, send};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::{asked, lab_with, multi, of, trip, without};

/// "Late results from before a trip change nothing": not if the circuit has closed meanwhile.
#[tokio::test(start_paused = true)]
async fn late_failures_of_before_a_trip_do_not_trip_what_a_last_resort_has_closed() {
    let (lab, circuits) = lab_with(multi(), |layers| layers);
    lab.regions
        .script("A", vec![Step::status(503, 0).after(s(5)); 15]);
    let mut slow = JoinSet::new();
    for _ in 0..15 {
        let stack = lab.stack.clone();
        slow.spawn(async move { send(&stack, of("0", read())).await.status() });
    }
    sleep(ms(100)).await;
    trip(&lab, "0").await;
    assert_eq!(circuits.counters().trips, 1);
    assert_eq!(asked(&lab, without(&["B", "C"], "0", read())).await, "A");
    assert_eq!(circuits.counters().closed, 1);
    while slow.join_next().await.is_some() {}
    assert_eq!(circuits.counters().trips, 1, "{:?}", circuits.list());
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

/// The same with a probe, where an operator has set a short wait.
#[tokio::test(start_paused = true)]
async fn late_failures_of_before_a_trip_do_not_trip_what_a_probe_has_closed() {
    let (lab, circuits) = lab_with(multi(), |layers| {
        let settings = breaker(BreakerOptions::new().first_wait(s(1)));
        layers.circuit_breaker(|layer| layer.settings(settings))
    });
    lab.regions
        .script("A", vec![Step::status(503, 0).after(s(5)); 15]);
    let mut slow = JoinSet::new();
    for _ in 0..15 {
        let stack = lab.stack.clone();
        slow.spawn(async move { send(&stack, of("0", read())).await.status() });
    }
    sleep(ms(100)).await;
    trip(&lab, "0").await;
    sleep(s(1)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    while slow.join_next().await.is_some() {}
    assert_eq!(circuits.counters().trips, 1, "{:?}", circuits.list());
}

/// "An attempt and its reconnect are one verdict": also if there are two reconnects.
#[tokio::test(start_paused = true)]
async fn a_second_reconnect_that_succeeds_takes_back_the_trip_too() {
    for reconnects in [1, 2] {
        let (lab, circuits) = lab_with(multi(), |layers| {
            layers.reconnect(|layer| layer.max_reconnects(reconnects))
        });
        lab.regions.script("A", vec![Step::status(503, 0); 9]);
        for _ in 0..9 {
            let _ = lab.send(of("0", read())).await;
        }
        let broken = Step::fail(FailureKind::Reset);
        lab.regions.script("A", vec![broken; reconnects as usize]);
        lab.regions.clear_wire();
        let seen = lab.send(of("0", read())).await;
        assert!(seen.status().is_success());
        assert_eq!(lab.wire().count("B"), 0, "{}", lab.wire());
        assert_eq!(circuits.counters().open, 0, "after {reconnects} reconnects");
    }
}

/// "It, alone": an answer that names another range does not keep a partition's circuit closed for
/// ever.
#[tokio::test(start_paused = true)]
async fn a_region_that_names_another_range_in_its_failures_is_left_as_well() {
    let (lab, circuits) = lab_with(multi(), |layers| {
        layers.partition(|layer| layer.enabled(true))
    });
    lab.regions
        .set_container(super::LINK, cosmos_testbed::scripted::Container::new("rid"));
    let failing = Step::status(503, 0).header(headers::PARTITION_KEY_RANGE_ID, "7");
    lab.regions.script("A", [failing.forever()]);
    for _ in 0..30 {
        let _ = lab.send(read()).await;
    }
    assert_eq!(asked(&lab, read()).await, "B", "{:?}", circuits.list());
}

/// "Success brings it back": also if the region takes longer than a lease, which its attempts may.
#[tokio::test(start_paused = true)]
async fn a_slow_probe_that_succeeds_closes_the_circuit() {
    let (lab, circuits) = lab_with(multi(), |layers| {
        layers.attempt(|layer| layer.data(s(30)).idle(s(30)))
    });
    trip(&lab, "0").await;
    sleep(s(61)).await;
    lab.regions
        .script("A", [Step::status(200, 0).after(s(8)).forever()]);
    for _ in 0..5 {
        let _ = lab.send(of("0", read())).await;
    }
    assert_eq!(
        circuits.counters().open,
        0,
        "{:?} {}",
        circuits.counters(),
        lab.wire()
    );
}

/// A region that leaves while its circuit is probed, and comes back.
#[tokio::test(start_paused = true)]
async fn a_region_that_leaves_during_its_probe_leaves_no_lease() {
    let (lab, circuits) = lab_with(multi(), |layers| layers);
    trip(&lab, "0").await;
    sleep(s(61)).await;
    lab.regions.script("A", [Step::status(200, 0).after(s(2))]);
    let stack = lab.stack.clone();
    let probe = tokio::spawn(async move { send(&stack, of("0", read())).await.status() });
    sleep(ms(100)).await;
    lab.regions
        .set_document(cosmos_testbed::scripted::Document::multi_write(["B", "C"]));
    lab.account.refresh().await;
    assert_eq!(asked(&lab, of("0", read())).await, "B");
    assert!(probe.await.unwrap().is_success());
    lab.regions.set_document(multi());
    sleep(s(6)).await;
    lab.account.refresh().await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    assert_eq!(circuits.counters().open, 0);
}

/// Time jumps by a year.
#[tokio::test(start_paused = true)]
async fn after_a_year_one_probes() {
    let (lab, circuits) = lab_with(multi(), |layers| layers);
    trip(&lab, "0").await;
    tokio::time::advance(s(365 * 24 * 3600)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    assert_eq!(circuits.counters().open, 0);
}

/// A leaf that panics with a probe.
#[tokio::test(start_paused = true)]
async fn a_leaf_that_panics_with_a_probe_frees_the_lease() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use tower::{Layer, ServiceExt};

    let regions = cosmos_testbed::scripted::ScriptedAccount::new(multi());
    let account = cosmos_tests::account(&regions, |account| account);
    let panics = Arc::new(AtomicBool::new(false));
    let (leaf, flag) = (regions.clone(), panics.clone());
    let leaf = tower::service_fn(move |request: cosmos_tests::Req| {
        assert!(!flag.load(Ordering::Relaxed), "in the call");
        leaf.clone().oneshot(request)
    });
    let layers = cosmos_tests::recommended(&account);
    let circuits = layers.circuits();
    let stack = cosmos_tests::boxed(layers.layer(leaf));
    regions.script("A", vec![Step::status(503, 0); 10]);
    for _ in 0..10 {
        let _ = send(&stack, of("0", read())).await;
    }
    sleep(s(61)).await;
    panics.store(true, Ordering::Relaxed);
    let broken = stack.clone();
    let result = tokio::spawn(async move { send(&broken, of("0", read())).await.status() }).await;
    assert!(result.is_err());
    panics.store(false, Ordering::Relaxed);
    regions.clear_wire();
    let _ = send(&stack, of("0", read())).await;
    assert_eq!(regions.wire().regions(), "A", "{:?}", circuits.list());
    assert_eq!(circuits.counters().open, 0);
}

/// Many threads, one partition that is due.
#[test]
fn of_many_threads_one_probes() {
    use cosmos_core::health::{Circuits, Event, Role, Signal};
    use cosmos_core::{Access, Partition, RangeId, Region};
    let settings = breaker(BreakerOptions::new().reads_tolerated(1).first_wait(ms(1)));
    let region = Region::named("A").unwrap();
    for round in 0..200_u64 {
        let circuits = Circuits::new(settings);
        let range = RangeId::new("0");
        let partition = Partition {
            container: "dbs/d/colls/c",
            range: Some(&range),
        };
        let event = Event {
            region,
            access: Access::Read,
            sequence: round + 1,
            newest: round + 1,
            role: Role::Ordinary,
            signal: Signal::Failure,
            replaces: None,
            settles: None,
        };
        let now = tokio::time::Instant::now().into_std();
        circuits.record(partition, &event, now);
        let later = now + s(1);
        let granted: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4_u64)
                .map(|n| {
                    let circuits = &circuits;
                    scope.spawn(move || {
                        (0..50_u64)
                            .filter(|m| {
                                circuits
                                    .take_probe(partition, region, 1000 + n * 100 + m, later)
                                    .is_some()
                            })
                            .count()
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(granted, 1);
    }
}
