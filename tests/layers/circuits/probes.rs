//! The way back: one probe, and what comes of it.

use cosmos_core::health::State;
use cosmos_core::{FailureKind, Region};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, boxed, create, execute, ms, read, recommended, s, send};
use tower::limit::ConcurrencyLimitLayer;
use tower::{Layer, Service, ServiceExt};

use super::{asked, circuit, fail, lab, of, trip, trip_by_writes, watched, without};

/// Whether a request's first attempt is a probe in A.
async fn probes(lab: &Lab, range: &str) -> bool {
    lab.regions.clear_wire();
    let seen = lab.send(of(range, read())).await;
    let first = seen.journal.unwrap().attempts()[0];
    assert_eq!(
        first.region,
        Region::named(&lab.wire().0[0].region).unwrap()
    );
    first.probe
}

#[tokio::test(start_paused = true)]
async fn after_a_minute_one_request_probes_and_its_success_brings_all_back() {
    let lab = lab();
    trip(&lab, "0").await;
    tokio::time::sleep(ms(59_999)).await;
    lab.send(of("0", read())).await;
    tokio::time::sleep(ms(1)).await;
    lab.regions
        .script("A", [Step::status(200, 0).after(ms(50))]);
    let probe = lab.send(of("0", read()));
    let (probe, other) = tokio::join!(probe, async {
        tokio::time::sleep(ms(10)).await;
        lab.send(of("0", read())).await
    });
    assert!(probe.journal.unwrap().attempts()[0].probe);
    assert!(!other.journal.unwrap().attempts()[0].probe);
    lab.send(of("0", read())).await;
    assert_eq!(lab.wire().regions(), "B A B A");
}

#[tokio::test(start_paused = true)]
async fn a_failed_probe_goes_on_elsewhere_and_the_next_goes_after_two_minutes() {
    let lab = lab();
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    for _ in 0..3 {
        lab.regions.script("A", [Step::status(503, 0)]);
        let seen = lab.send(of("0", read())).await;
        assert_eq!(seen.status().code(), 200, "the caller is not sacrificed");
        assert_eq!(lab.wire().regions(), "A B");
        lab.regions.clear_wire();
        for _ in 0..3 {
            assert_eq!(asked(&lab, of("0", read())).await, "B");
        }
        tokio::time::sleep(ms(119_999)).await;
        assert_eq!(asked(&lab, of("0", read())).await, "B");
        tokio::time::sleep(ms(1)).await;
        lab.regions.clear_wire();
    }
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_region_that_stays_down_for_an_hour_sees_probes_only() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    trip(&lab, "0").await;
    lab.regions.script("A", [Step::status(503, 0).forever()]);
    for _ in 0..3600 {
        assert_eq!(lab.send(of("0", read())).await.status().code(), 200);
        tokio::time::sleep(s(1)).await;
    }
    let wire = lab.wire();
    assert_eq!(wire.count("A"), 30, "one after 60 s, then each 120 s");
    assert_eq!(circuits.counters().probes, 30);
}

#[tokio::test(start_paused = true)]
async fn of_five_hundred_requests_at_once_exactly_one_probes() {
    let lab = lab();
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    lab.regions
        .script("A", [Step::status(200, 0).after(ms(50))]);
    let requests = (0..500).map(|_| lab.send(of("0", read())));
    let seen = futures::future::join_all(requests).await;
    assert!(seen.iter().all(|seen| seen.status().code() == 200));
    let wire = lab.wire();
    assert_eq!((wire.count("A"), wire.count("B")), (1, 499));
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_authority_closes_the_circuit() {
    for (code, substatus) in [(200, 0), (304, 0), (404, 0), (409, 0), (412, 0)] {
        let lab = lab();
        trip(&lab, "0").await;
        tokio::time::sleep(s(60)).await;
        lab.regions.script("A", [Step::status(code, substatus)]);
        assert!(probes(&lab, "0").await);
        assert!(!probes(&lab, "0").await, "{code}/{substatus}: closed");
        assert_eq!(lab.wire().regions(), "A");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_says_nothing_lets_the_next_request_probe_at_once() {
    for (code, substatus) in [
        (400, 0),
        (401, 0),
        (403, 0),
        (429, 3200),
        (449, 0),
        (410, 1002),
    ] {
        let lab = lab();
        trip(&lab, "0").await;
        tokio::time::sleep(s(60)).await;
        let neutral = Step::status(code, substatus).hint("1");
        lab.regions.script("A", [neutral, Step::status(400, 0)]);
        assert!(probes(&lab, "0").await);
        lab.regions.heal("A");
        assert!(probes(&lab, "0").await, "{code}/{substatus}");
        assert!(!probes(&lab, "0").await, "closed by the second");
        assert_eq!(lab.wire().regions(), "A");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_token_that_is_ahead_lets_the_next_request_probe() {
    let lab = lab();
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    lab.regions.script("A", [Step::status(404, 1002)]);
    assert!(probes(&lab, "0").await);
    assert_eq!(lab.wire().regions(), "A B");
    assert!(probes(&lab, "0").await);
    assert!(!probes(&lab, "0").await);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_hangs_ends_at_its_limit_and_its_operation_goes_on() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    lab.regions.script("A", [Step::hang()]);
    assert_eq!(lab.send(of("0", read())).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A B");
    let circuit = circuit(&circuits, "0", "A").unwrap();
    assert_eq!(circuit.state, State::Unhealthy);
    tokio::time::sleep(ms(119_999)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "B");
    tokio::time::sleep(ms(1)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_hangs_leaves_its_operation_time_for_another_region() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    lab.regions.script("A", [Step::hang()]);
    let options = cosmos_core::OperationOptions::new().partition_key_range("0");
    let request = cosmos_tests::with(read(), options.timeout(ms(300)));
    assert_eq!(lab.send(request).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A B");
    let circuit = circuit(&circuits, "0", "A").unwrap();
    assert_eq!(circuit.state, State::Unhealthy);
}

#[tokio::test(start_paused = true)]
async fn a_probe_with_a_late_head_and_a_slow_body_is_alone_until_it_ends() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    let slow = Step::status(200, 0).after(ms(5_500)).stalling();
    lab.regions.script("A", [slow]);
    let (probe, ()) = tokio::join!(lab.send(of("0", read())), async {
        // The lease is for 7 s, the body is given up after 10.5 s.
        for _ in 0..10 {
            tokio::time::sleep(s(1)).await;
            assert_eq!(lab.send(of("0", read())).await.status().code(), 200);
        }
    });
    assert_eq!(probe.status().code(), 200);
    assert_eq!(lab.wire().regions(), format!("A{}", " B".repeat(11)));
    assert_eq!(circuits.counters().probes, 1);
    let circuit = circuit(&circuits, "0", "A").unwrap();
    assert_eq!(circuit.state, State::Unhealthy);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_dropped_at_any_point_frees_its_lease() {
    let lab = lab();
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    // Before its first poll.
    let mut stack = lab.stack.clone();
    drop(stack.ready().await.unwrap().call(of("0", read())));
    // While it waits for an answer, and while it reads one.
    let stalling = Step::status(200, 0).body("{").stalling();
    for step in [Step::hang(), stalling] {
        lab.regions.script("A", [step]);
        let dropped = tokio::time::timeout(ms(10), lab.send(of("0", read()))).await;
        assert!(dropped.is_err());
        assert_eq!(lab.wire().regions(), "A");
        lab.regions.clear_wire();
    }
    assert!(probes(&lab, "0").await);
    assert!(!probes(&lab, "0").await);
    assert_eq!(lab.wire().regions(), "A");
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_was_waited_for_long_enough_and_dropped_has_failed() {
    let lab = lab();
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    lab.regions.script("A", [Step::hang()]);
    let dropped = tokio::time::timeout(s(1), lab.send(of("0", read()))).await;
    assert!(dropped.is_err());
    assert_eq!(asked(&lab, of("0", read())).await, "B");
    tokio::time::sleep(s(120)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_probe_is_not_repeated_over_another_connection() {
    for kind in [FailureKind::Reset, FailureKind::Refused] {
        let lab = lab();
        trip(&lab, "0").await;
        tokio::time::sleep(s(60)).await;
        lab.regions.script("A", [Step::fail(kind)]);
        assert_eq!(asked(&lab, of("0", read())).await, "A B", "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_waits_for_a_service_that_is_not_ready_and_holds_no_lease_meanwhile() {
    let lab = lab();
    let layers = recommended(&lab.account);
    let circuits = layers.circuits();
    let one_at_a_time = ConcurrencyLimitLayer::new(1).layer(lab.regions.clone());
    let stack = boxed(layers.layer(one_at_a_time));
    lab.regions.script("A", vec![Step::status(503, 0); 10]);
    for _ in 0..10 {
        assert_eq!(send(&stack, of("0", read())).await.status().code(), 200);
    }
    tokio::time::sleep(s(60)).await;
    lab.regions.clear_wire();
    lab.regions
        .script("A", [Step::status(200, 0).after(ms(50))]);
    let (_, probe, ()) = tokio::join!(
        send(&stack, of("1", read())),
        send(&stack, of("0", read())),
        async {
            tokio::time::sleep(ms(10)).await;
            assert_eq!(circuits.counters().probes, 0, "nobody is ready yet");
        }
    );
    assert!(probe.journal.unwrap().attempts()[0].probe);
    assert_eq!(lab.wire().regions(), "A A");
    assert_eq!(circuits.counters().open, 0);
}

#[tokio::test(start_paused = true)]
async fn a_write_probes_where_writes_are_overseen_but_a_stored_procedure_never() {
    let lab = lab();
    trip_by_writes(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    for _ in 0..3 {
        assert_eq!(asked(&lab, of("0", execute())).await, "B");
    }
    assert_eq!(asked(&lab, of("0", create())).await, "A");
    assert_eq!(asked(&lab, of("0", execute())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_is_due_in_an_excluded_region_is_not_probed() {
    let lab = lab();
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    for spelling in ["A", " a "] {
        assert_eq!(asked(&lab, without(spelling, "0", read())).await, "B");
    }
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn an_open_circuit_never_leads_into_an_excluded_region() {
    let lab = lab();
    trip(&lab, "0").await;
    assert_eq!(asked(&lab, without("B", "0", read())).await, "C");
    lab.regions.script("C", [Step::status(503, 0)]);
    lab.regions.script("A", [Step::status(503, 0).forever()]);
    let seen = asked(&lab, without("B", "0", read())).await;
    assert!(!seen.contains('B'), "{seen}");
}

#[tokio::test(start_paused = true)]
async fn every_partition_goes_back_by_itself() {
    let lab = lab();
    let ranges: Vec<String> = (0..50).map(|id| id.to_string()).collect();
    for range in &ranges {
        fail(&lab, 10, || of(range, read())).await;
        tokio::time::sleep(ms(100)).await;
    }
    tokio::time::sleep(s(60)).await;
    for range in &ranges {
        assert_eq!(asked(&lab, of(range, read())).await, "A", "{range}");
        assert!(!probes(&lab, range).await);
    }
}

#[tokio::test(start_paused = true)]
async fn probes_of_partitions_that_tripped_together_are_spread() {
    use cosmos_core::health::BreakerOptions;
    let settings = BreakerOptions::new().build().unwrap();
    let lab = super::set(settings);
    for range in 0..40 {
        fail(&lab, 10, || of(&range.to_string(), read())).await;
    }
    let mut due = Vec::new();
    tokio::time::sleep(s(60)).await;
    // The longest wait is a quarter more.
    for _ in 60..=75 {
        let mut count = 0;
        for range in 0..40 {
            count += usize::from(probes(&lab, &range.to_string()).await);
        }
        due.push(count);
        tokio::time::sleep(s(1)).await;
    }
    assert_eq!(due.iter().sum::<usize>(), 40, "{due:?}");
    assert!(due.iter().all(|count| *count < 40), "{due:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_probe_keeps_nobody_from_the_next_one() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    trip(&lab, "0").await;
    for kind in [
        FailureKind::Dns,
        FailureKind::Tls,
        FailureKind::ConnectTimeout,
    ] {
        tokio::time::sleep(s(120)).await;
        lab.regions.script("A", [Step::fail(kind)]);
        assert_eq!(asked(&lab, of("0", read())).await, "A B", "{kind}");
    }
    tokio::time::sleep(s(120)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    assert_eq!(circuits.counters().open, 0);
}
