//! Callers who do not wait, deadlines, and layers in between that give up.

use cosmos_core::policy::Jitter;
use cosmos_core::{OperationOptions, health::BreakerOptions};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, Stack, boxed, breaker, credential, execute, ms, read, s, send, with};
use tower::ServiceBuilder;
use tower::timeout::TimeoutLayer;
use tower_cosmos::circuit_breaker::Circuits;
use tower_cosmos::{
    AttemptTimeoutLayer, BufferLayer, CircuitBreakerLayer, EndpointLayer, RegionFailoverLayer,
    SigningLayer,
};

use super::{asked, circuit, lab, of, watched};

/// Reads of range 0 that a caller gives up, while A hangs.
async fn give_up(lab: &Lab, count: usize, after: std::time::Duration) {
    lab.regions.script("A", [Step::hang().forever()]);
    for number in 0..count {
        let dropped = tokio::time::timeout(after, lab.send(of("0", read()))).await;
        assert!(dropped.is_err(), "read {number}");
    }
    lab.regions.heal("A");
}

#[tokio::test(start_paused = true)]
async fn ten_reads_that_a_caller_waited_for_in_vain_send_the_next_elsewhere() {
    let lab = lab();
    give_up(&lab, 10, s(2)).await;
    assert_eq!(lab.wire().count("A"), 10);
    lab.regions.script("A", [Step::hang().forever()]);
    for _ in 0..3 {
        let seen = tokio::time::timeout(s(2), lab.send(of("0", read()))).await;
        assert_eq!(seen.unwrap().status().code(), 200);
    }
    assert_eq!(lab.wire().count("A"), 10);
}

#[tokio::test(start_paused = true)]
async fn a_second_of_waiting_counts_and_less_does_not() {
    for (after, expected) in [(ms(999), "A"), (ms(1000), "B")] {
        let lab = lab();
        give_up(&lab, 10, after).await;
        assert_eq!(asked(&lab, of("0", read())).await, expected, "{after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_impatient_callers_do_not_condemn_a_region() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    give_up(&lab, 100, ms(1)).await;
    assert_eq!(circuits.counters().tracked, 0);
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn half_of_a_short_deadline_counts() {
    for (after, expected) in [(ms(99), "A"), (ms(100), "B")] {
        let lab = lab();
        lab.regions.script("A", [Step::hang().forever()]);
        let options = OperationOptions::new().partition_key_range("0");
        let request = with(read(), options.timeout(ms(200)));
        for _ in 0..10 {
            let dropped = tokio::time::timeout(after, lab.send(request.clone())).await;
            assert!(dropped.is_err());
        }
        lab.regions.heal("A");
        assert_eq!(asked(&lab, of("0", read())).await, expected, "{after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_passes_in_a_region_that_hangs_counts_there() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B"]));
    for region in ["A", "B"] {
        lab.regions.script(region, [Step::hang().forever()]);
    }
    let options = OperationOptions::new().partition_key_range("0");
    let request = with(read(), options.timeout(ms(300)));
    let seen = lab.send(request).await;
    assert_eq!(seen.status().to_string(), "408/20008");
    assert_eq!(lab.wire().regions(), "A B");
    assert_eq!(circuit(&circuits, "0", "A").unwrap().reads.failure, 1);
    // It had a third of the deadline, and less than a second.
    assert_eq!(circuit(&circuits, "0", "B"), None);
}

#[tokio::test(start_paused = true)]
async fn stored_procedures_that_run_into_their_deadline_count() {
    let lab = lab();
    lab.regions.script("A", [Step::hang().forever()]);
    let options = OperationOptions::new().partition_key_range("0");
    let request = || with(execute(), options.clone().timeout(s(2)));
    for _ in 0..5 {
        let seen = lab.send(request()).await;
        assert_eq!(seen.status().to_string(), "408/20008");
    }
    assert_eq!(lab.send(request()).await.status().code(), 201);
    assert_eq!(lab.wire().regions(), "A A A A A B");
}

#[tokio::test(start_paused = true)]
async fn an_operation_whose_deadline_has_passed_before_it_was_sent_counts_nothing() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B"]));
    lab.account.refresh().await;
    let options = OperationOptions::new().partition_key_range("0");
    for _ in 0..20 {
        let request = with(read(), options.clone().timeout(ms(0)));
        let seen = lab.send(request).await;
        assert_eq!(seen.status().to_string(), "408/20008");
    }
    assert!(lab.wire().is_empty());
    assert_eq!(circuits.counters().tracked, 0);
}

/// A stack in which a timeout of tower's gives up attempts.
fn impatient(lab: &Lab, after: std::time::Duration) -> (Stack, Circuits) {
    let account = &lab.account;
    let layer = CircuitBreakerLayer::new(account.clone());
    let layer = layer.settings(breaker(BreakerOptions::new()));
    let circuits = layer.circuits();
    let service = ServiceBuilder::new()
        .layer(RegionFailoverLayer::new(account.clone()).jitter(Jitter::None))
        .layer(layer)
        .layer(TimeoutLayer::new(after))
        .layer(EndpointLayer::new(account.clone()))
        .layer(SigningLayer::new(credential()).clock(account.clock().clone()))
        .layer(BufferLayer::new())
        .layer(AttemptTimeoutLayer::new())
        .service(lab.regions.clone());
    (boxed(service), circuits)
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_a_foreign_layer_gives_up_counts_once() {
    for after in [ms(500), ms(1500)] {
        let lab = lab();
        lab.account.refresh().await;
        let (stack, circuits) = impatient(&lab, after);
        lab.regions.script("A", [Step::hang().forever()]);
        for number in 1..=10 {
            let seen = send(&stack, of("0", read())).await;
            assert_eq!(seen.status().code(), 200);
            assert_eq!(lab.wire().regions(), "A B");
            lab.regions.clear_wire();
            if number < 10 {
                let counts = circuit(&circuits, "0", "A").unwrap().reads;
                assert_eq!(counts.failure, number, "{after:?}");
            }
        }
        let seen = send(&stack, of("0", read())).await;
        assert_eq!(seen.status().code(), 200);
        assert_eq!(lab.wire().regions(), "B", "{after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_a_foreign_layer_gives_up_has_failed() {
    let lab = lab();
    lab.account.refresh().await;
    let (stack, circuits) = impatient(&lab, ms(500));
    lab.regions.script("A", [Step::hang().forever()]);
    for _ in 0..10 {
        let _ = send(&stack, of("0", read())).await;
    }
    tokio::time::sleep(s(60)).await;
    lab.regions.clear_wire();
    let _ = send(&stack, of("0", read())).await;
    let _ = send(&stack, of("0", read())).await;
    assert_eq!(lab.wire().regions(), "A B B");
    let state = circuit(&circuits, "0", "A").unwrap().state;
    assert_eq!(state, cosmos_core::health::State::Unhealthy);
}
