//! Circuits and the marks of endpoints: what sets which, and both together.

use cosmos_core::FailureKind;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{create, ms, read, read_metadata, s};

use super::{asked, circuit, lab, of, single, times, trip, watched};

#[tokio::test(start_paused = true)]
async fn a_failure_marks_no_endpoint_while_a_breaker_counts_it() {
    let answers = [(503, 0), (500, 0), (408, 0), (410, 0), (429, 3092)];
    let steps = answers.map(|(code, substatus)| Step::status(code, substatus));
    let lost = Step::fail(FailureKind::AttemptTimeout);
    for step in steps.into_iter().chain([lost]) {
        let lab = lab();
        lab.regions.script("A", [step.clone()]);
        assert_eq!(asked(&lab, of("0", read())).await, "A B", "{step:?}");
        for range in ["0", "1"] {
            assert_eq!(asked(&lab, of(range, read())).await, "A", "{step:?}");
            assert_eq!(asked(&lab, of(range, create())).await, "A", "{step:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_hanging_request_condemns_no_region() {
    let lab = lab();
    lab.regions.script("A", [Step::hang()]);
    assert_eq!(asked(&lab, of("0", read())).await, "A B");
    for _ in 0..10 {
        assert_eq!(asked(&lab, of("0", read())).await, "A");
    }
}

#[tokio::test(start_paused = true)]
async fn five_forbidden_writes_send_a_partition_elsewhere_and_no_other() {
    let lab = lab();
    for _ in 0..5 {
        lab.regions.script("A", [Step::status(403, 3)]);
        assert_eq!(asked(&lab, of("0", create())).await, "A B");
        assert_eq!(asked(&lab, of("1", create())).await, "A");
    }
    assert_eq!(asked(&lab, of("0", create())).await, "B");
    assert_eq!(asked(&lab, of("1", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn an_account_that_is_not_found_counts_and_marks_nothing() {
    let lab = lab();
    for _ in 0..10 {
        lab.regions.script("A", [Step::status(403, 1008)]);
        assert_eq!(asked(&lab, of("0", read())).await, "A B");
        assert_eq!(asked(&lab, of("1", read())).await, "A");
        assert_eq!(asked(&lab, of("1", create())).await, "A");
    }
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_sent_marks_the_endpoint_and_counts_once() {
    for (kind, expected) in [
        (FailureKind::Refused, "A A B"),
        (FailureKind::Dns, "A B"),
        (FailureKind::Tls, "A B"),
        (FailureKind::ConnectTimeout, "A B"),
    ] {
        let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
        lab.regions.script("A", [Step::fail(kind).forever()]);
        assert_eq!(asked(&lab, of("0", read())).await, expected, "{kind}");
        let counts = circuit(&circuits, "0", "A").unwrap().reads;
        assert_eq!((counts.failure, counts.consecutive), (1, 1), "{kind}");
        assert_eq!(asked(&lab, of("1", read())).await, "B", "{kind}");
        assert_eq!(asked(&lab, of("1", create())).await, "B", "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reconnect_that_succeeds_takes_back_the_mark_and_the_count() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    lab.regions.script("A", [Step::fail(FailureKind::Refused)]);
    assert_eq!(asked(&lab, of("0", read())).await, "A A");
    assert_eq!(circuits.counters().tracked, 0);
    assert_eq!(asked(&lab, of("0", create())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_full_pool_is_no_fault_of_the_region() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    lab.regions
        .script("A", times(20, &Step::fail(FailureKind::PoolLimit)));
    for _ in 0..20 {
        assert_eq!(asked(&lab, of("0", read())).await, "A B");
    }
    assert_eq!(circuits.counters().tracked, 0);
}

/// Range 0's circuit in A opens now; A is marked a second later.
async fn open_then_marked() -> (cosmos_tests::Lab, tower_cosmos::circuit_breaker::Circuits) {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    trip(&lab, "0").await;
    tokio::time::sleep(s(1)).await;
    lab.regions
        .script("A", times(2, &Step::fail(FailureKind::Refused)));
    assert_eq!(asked(&lab, of("1", read())).await, "A A B");
    (lab, circuits)
}

#[tokio::test(start_paused = true)]
async fn a_probe_waits_for_the_trial_of_its_endpoint_and_takes_both() {
    let (lab, circuits) = open_then_marked().await;
    tokio::time::sleep(s(59)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "B", "due, but marked");
    assert_eq!(circuits.counters().probes, 0);
    tokio::time::sleep(s(1)).await;
    lab.regions
        .script("A", [Step::status(200, 0).after(ms(50))]);
    let both = lab.send(of("0", read()));
    let (both, others) = tokio::join!(both, async {
        tokio::time::sleep(ms(10)).await;
        let probe = asked(&lab, of("0", read())).await;
        let trial = asked(&lab, of("1", read())).await;
        (probe, trial)
    });
    let attempt = both.journal.unwrap().attempts()[0];
    assert!(attempt.probe && attempt.trial);
    assert_eq!(others, ("B".to_owned(), "B".to_owned()));
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    assert_eq!(asked(&lab, of("1", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn while_another_request_has_the_trial_no_lease_is_taken() {
    let (lab, circuits) = open_then_marked().await;
    tokio::time::sleep(s(60)).await;
    lab.regions
        .script("A", [Step::status(200, 0).after(ms(50))]);
    let trial = lab.send(of("1", read()));
    let (trial, other) = tokio::join!(trial, async {
        tokio::time::sleep(ms(10)).await;
        lab.send(of("0", read())).await
    });
    assert!(trial.journal.unwrap().attempts()[0].trial);
    let other = other.journal.unwrap().attempts()[0];
    assert!(!other.probe && !other.trial);
    assert_eq!(circuits.counters().probes, 0);
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    assert_eq!(circuits.counters().probes, 1);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_dropped_gives_the_trial_back_as_well() {
    let (lab, _) = open_then_marked().await;
    tokio::time::sleep(s(60)).await;
    lab.regions.script("A", [Step::hang()]);
    let dropped = tokio::time::timeout(ms(10), lab.send(of("0", read()))).await;
    assert!(dropped.is_err());
    let seen = lab.send(of("0", read())).await;
    let attempt = seen.journal.unwrap().attempts()[0];
    assert!(attempt.probe && attempt.trial);
    assert_eq!(asked(&lab, of("1", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn failures_at_metadata_are_counted_for_the_endpoint_and_mark_it_at_the_threshold() {
    for lab in [lab(), single()] {
        for number in 1..=10 {
            assert_eq!(asked(&lab, of("0", read())).await, "A", "before {number}");
            lab.regions.script("A", [Step::status(503, 0)]);
            assert_eq!(asked(&lab, read_metadata()).await, "A B", "{number}");
        }
        assert_eq!(asked(&lab, read_metadata()).await, "B");
        assert_eq!(asked(&lab, of("0", read())).await, "B");
        assert_eq!(asked(&lab, of("0", create())).await, "A", "reads only");
        tokio::time::sleep(s(60)).await;
        assert_eq!(asked(&lab, read_metadata()).await, "A");
        assert_eq!(asked(&lab, of("0", read())).await, "A");
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_at_metadata_begins_its_row_anew() {
    let lab = lab();
    for _ in 0..3 {
        for _ in 0..9 {
            lab.regions.script("A", [Step::status(503, 0)]);
            assert_eq!(asked(&lab, read_metadata()).await, "A B");
        }
        assert_eq!(asked(&lab, read_metadata()).await, "A");
    }
}

#[tokio::test(start_paused = true)]
async fn at_metadata_a_region_that_denies_its_role_is_marked_at_once() {
    let lab = lab();
    lab.regions.script("A", [Step::status(403, 1008)]);
    assert_eq!(asked(&lab, read_metadata()).await, "A B");
    assert_eq!(asked(&lab, read_metadata()).await, "B");
    assert_eq!(asked(&lab, of("0", create())).await, "B");
}
