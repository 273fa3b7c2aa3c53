//! What counts, and when that is too much.

use cosmos_core::FailureKind;
use cosmos_core::health::State;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, create, execute, ms, read, s};

use super::{asked, circuit, fail, lab, of, times, trip, watched};

#[tokio::test(start_paused = true)]
async fn a_partition_that_fails_ten_times_goes_elsewhere_and_the_others_stay() {
    let lab = lab();
    trip(&lab, "0").await;
    for _ in 0..3 {
        assert_eq!(lab.send(of("0", read())).await.status().code(), 200);
        assert_eq!(lab.send(of("1", read())).await.status().code(), 200);
    }
    assert_eq!(lab.wire().regions(), "B A B A B A");
}

#[tokio::test(start_paused = true)]
async fn the_tenth_read_in_a_row_trips_and_the_ninth_does_not() {
    let lab = lab();
    lab.regions.script("A", times(10, &Step::status(503, 0)));
    for number in 1..=10 {
        assert_eq!(asked(&lab, of("0", read())).await, "A B", "read {number}");
    }
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn the_fifth_write_in_a_row_trips_and_the_fourth_does_not() {
    let lab = lab();
    lab.regions.script("A", times(5, &Step::status(503, 0)));
    for number in 1..=5 {
        assert_eq!(
            asked(&lab, of("0", create())).await,
            "A B",
            "write {number}"
        );
    }
    assert_eq!(asked(&lab, of("0", create())).await, "B");
    assert_eq!(asked(&lab, of("0", read())).await, "B", "reads, too");
}

#[tokio::test(start_paused = true)]
async fn reads_and_writes_are_counted_apart() {
    let lab = lab();
    fail(&lab, 9, || of("0", read())).await;
    fail(&lab, 4, || of("0", create())).await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    fail(&lab, 5, || of("0", create())).await;
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_is_one_count_however_many_layers_repeat_it() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    for number in 1..=10 {
        // Throttled, then a connection that breaks, and another one.
        lab.regions.script(
            "A",
            [
                Step::status(429, 3200).hint("1"),
                Step::fail(FailureKind::Reset),
                Step::fail(FailureKind::Reset),
            ],
        );
        assert_eq!(asked(&lab, of("0", read())).await, "A A A B");
        if number < 10 {
            let counts = circuit(&circuits, "0", "A").unwrap().reads;
            assert_eq!((counts.failure, counts.consecutive), (number, number));
        }
    }
    assert_eq!(circuits.counters().trips, 1);
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn every_attempt_of_an_operation_counts_where_it_went() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B"]));
    for region in ["A", "B"] {
        lab.regions.script(region, [Step::status(503, 0).forever()]);
    }
    assert_eq!(asked(&lab, of("0", read())).await, "A B A B");
    for region in ["A", "B"] {
        let counts = circuit(&circuits, "0", region).unwrap().reads;
        assert_eq!(counts.failure, 2, "{region}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_trip_takes_effect_for_the_operation_that_caused_it() {
    let lab = lab();
    fail(&lab, 8, || of("0", read())).await;
    for region in ["A", "B", "C"] {
        lab.regions.script(region, times(4, &Step::status(503, 0)));
    }
    assert_eq!(asked(&lab, of("0", read())).await, "A B C A");
    // The tenth was the last: A is left out already where it would be asked least.
    assert_eq!(asked(&lab, of("0", read())).await, "B C B C");
    let lab = self::lab();
    fail(&lab, 9, || of("0", read())).await;
    for region in ["A", "B", "C"] {
        lab.regions.script(region, times(4, &Step::status(503, 0)));
    }
    assert_eq!(asked(&lab, of("0", read())).await, "A B C B");
}

#[tokio::test(start_paused = true)]
async fn a_success_in_between_begins_the_row_anew() {
    let lab = lab();
    for _ in 0..3 {
        fail(&lab, 9, || of("0", read())).await;
        assert_eq!(asked(&lab, of("0", read())).await, "A");
    }
    fail(&lab, 10, || of("0", read())).await;
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn answers_that_say_nothing_of_health_do_not_interrupt_the_row() {
    for (code, substatus) in [
        (400, 0),
        (401, 0),
        (403, 0),
        (408, 21013),
        (410, 1002),
        (413, 0),
        (429, 3200),
        (449, 0),
    ] {
        let lab = lab();
        fail(&lab, 9, || of("0", read())).await;
        let neutral = Step::status(code, substatus).hint("1");
        // A throttled request, or a collision, is repeated in its region: that would be a success.
        let answers = [neutral, Step::status(400, 0)];
        lab.regions.script("A", answers);
        let _ = lab.send(of("0", read())).await;
        lab.regions.heal("A");
        fail(&lab, 1, || of("0", read())).await;
        assert_eq!(
            asked(&lab, of("0", read())).await,
            "B",
            "{code}/{substatus}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn each_of_these_counts_as_a_failure() {
    let unreadable = Step::status(200, 0).body("{").breaking();
    let endless = Step::status(200, 0).body("{").stalling();
    for step in [
        Step::status(408, 0),
        Step::status(410, 0),
        Step::status(410, 1022),
        Step::status(429, 3092),
        Step::status(500, 0),
        Step::status(502, 0),
        Step::status(504, 0),
        Step::status(507, 0),
        Step::fail(FailureKind::AttemptTimeout),
        Step::hang(),
        unreadable,
        endless,
    ] {
        let lab = lab();
        lab.regions.script("A", times(10, &step));
        for _ in 0..10 {
            assert_eq!(asked(&lab, of("0", read())).await, "A B", "{step:?}");
        }
        assert_eq!(asked(&lab, of("0", read())).await, "B", "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_of_these_counts_as_a_success() {
    for (code, substatus) in [
        (200, 0),
        (304, 0),
        (404, 0),
        (404, 1003),
        (409, 0),
        (412, 0),
    ] {
        let lab = lab();
        fail(&lab, 9, || of("0", read())).await;
        lab.regions.script("A", [Step::status(code, substatus)]);
        assert_eq!(asked(&lab, of("0", read())).await, "A");
        fail(&lab, 9, || of("0", read())).await;
        assert_eq!(
            asked(&lab, of("0", read())).await,
            "A",
            "{code}/{substatus}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn codes_of_a_split_are_no_failures_however_many_there_are() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    lab.regions.script("A", times(50, &Step::status(410, 1002)));
    for _ in 0..50 {
        assert_eq!(asked(&lab, of("0", read())).await, "A B");
    }
    assert_eq!(circuits.counters().tracked, 0);
}

#[tokio::test(start_paused = true)]
async fn ninety_of_a_hundred_trip_though_no_ten_are_in_a_row() {
    let lab = lab();
    let ill = Step::status(503, 0);
    let well = Step::status(200, 0);
    // Counted from the first failure on: 89 of 99, no ten in a row.
    let mut steps = times(8, &ill);
    steps.push(well.clone());
    for _ in 0..9 {
        steps.extend(times(9, &ill));
        steps.push(well.clone());
    }
    assert_eq!(steps.len(), 99);
    steps.push(ill);
    lab.regions.script("A", steps);
    for number in 1..=100 {
        let asked = asked(&lab, of("0", read())).await;
        assert!(asked.starts_with('A'), "read {number}");
    }
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn less_than_ninety_of_a_hundred_never_trip() {
    let lab = lab();
    for _ in 0..30 {
        fail(&lab, 8, || of("0", read())).await;
        assert_eq!(asked(&lab, of("0", read())).await, "A");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_minute_the_count_begins_anew() {
    let lab = lab();
    fail(&lab, 9, || of("0", read())).await;
    tokio::time::sleep(s(60)).await;
    fail(&lab, 9, || of("0", read())).await;
    tokio::time::sleep(ms(59_999)).await;
    fail(&lab, 1, || of("0", read())).await;
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn failures_far_apart_never_add_up() {
    let lab = lab();
    for _ in 0..100 {
        fail(&lab, 1, || of("0", read())).await;
        tokio::time::sleep(s(61)).await;
    }
    assert_eq!(asked(&lab, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn a_reconnect_that_succeeds_takes_the_failure_back_and_the_trip_it_alone_caused() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    let mended = || [Step::fail(FailureKind::Reset), Step::status(200, 0)];
    lab.regions.script("A", mended());
    assert_eq!(asked(&lab, of("0", read())).await, "A A");
    assert_eq!(circuits.counters().tracked, 0);
    fail(&lab, 9, || of("0", read())).await;
    lab.regions.script("A", mended());
    assert_eq!(asked(&lab, of("0", read())).await, "A A");
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    assert_eq!(circuits.counters().open, 0);
}

#[tokio::test(start_paused = true)]
async fn late_results_of_before_the_trip_change_nothing() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    for step in [Step::status(200, 0), Step::status(503, 0)] {
        lab.regions.script("A", [step.after(ms(500))]);
    }
    let slow = async { tokio::join!(lab.send(of("0", read())), lab.send(of("0", read()))) };
    let trip = async {
        tokio::time::sleep(ms(10)).await;
        fail(&lab, 10, || of("0", read())).await;
        circuit(&circuits, "0", "A").unwrap()
    };
    let ((first, second), tripped) = tokio::join!(slow, trip);
    assert!(first.status().is_success() && second.status().is_success());
    let now = circuit(&circuits, "0", "A").unwrap();
    assert_eq!(now.state, State::UnhealthyTentative);
    assert_eq!((now.since, now.due), (tripped.since, tripped.due));
    assert_eq!(circuits.counters().late, 2);
    assert_eq!(asked(&lab, of("0", read())).await, "B");
}

#[tokio::test(start_paused = true)]
async fn ten_failures_at_once_are_one_trip() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    let mut transitions = circuits.subscribe();
    lab.regions
        .script("A", times(15, &Step::status(503, 0).after(ms(20))));
    let requests = (0..15).map(|_| lab.send(of("0", read())));
    let seen = futures::future::join_all(requests).await;
    assert!(seen.iter().all(|seen| seen.status().is_success()));
    let first = transitions.next().await.unwrap();
    assert_eq!(
        (first.from, first.to),
        (State::Healthy, State::UnhealthyTentative)
    );
    let counters = circuits.counters();
    assert_eq!((counters.trips, counters.open, counters.late), (1, 1, 5));
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_of_an_operation_counts_though_it_moves_no_more() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    lab.regions.script("A", times(5, &Step::status(503, 0)));
    for _ in 0..5 {
        // A stored procedure that may have run is not sent again.
        assert_eq!(lab.send(of("0", execute())).await.status().code(), 503);
    }
    assert_eq!(circuits.counters().trips, 1);
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_is_set_is_the_one_that_counts() {
    use cosmos_core::health::BreakerOptions;
    let options = BreakerOptions::new().reads_tolerated(2).writes_tolerated(1);
    let lab: Lab = super::set(cosmos_tests::breaker(options));
    fail(&lab, 1, || of("0", create())).await;
    assert_eq!(asked(&lab, of("0", create())).await, "B");
    fail(&lab, 1, || of("1", read())).await;
    assert_eq!(asked(&lab, of("1", read())).await, "A");
    fail(&lab, 2, || of("1", read())).await;
    assert_eq!(asked(&lab, of("1", read())).await, "B");
}
