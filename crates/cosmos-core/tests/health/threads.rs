//! Many threads on one circuit.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cosmos_core::RangeId;
use cosmos_core::health::{Circuits, Event, State};

use crate::{Changed, carts, exact, failure, neutral, region, seconds, start, success, trip};

/// Runs `work` on so many threads at once.
fn together(threads: usize, work: impl Fn(u64) + Sync) {
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(thread);
            });
        }
    });
}

#[test]
fn sixty_four_threads_with_a_thousand_failures_each_trip_a_circuit_once() {
    let (circuits, range, now) = (Circuits::new(exact()), RangeId::from(7), start());
    let (newest, trips) = (AtomicU64::new(0), AtomicUsize::new(0));
    together(64, |_| {
        for _ in 0..1000 {
            let sequence = newest.fetch_add(1, Ordering::SeqCst) + 1;
            let event = failure(sequence).when_newest_was(newest.load(Ordering::SeqCst));
            if let Some(transition) = circuits.record(carts(&range), &event, now) {
                assert_eq!(transition.from, State::Healthy);
                assert_eq!(transition.to, State::UnhealthyTentative);
                trips.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    assert_eq!(trips.into_inner(), 1);
    let counters = circuits.counters();
    assert_eq!((counters.trips, counters.open, counters.tracked), (1, 1, 1));
}

#[test]
fn five_hundred_requests_get_one_probe() {
    let (circuits, range, now) = (Circuits::new(exact()), RangeId::from(7), start());
    trip(&circuits, carts(&range), region("A"), now);
    let granted = AtomicUsize::new(0);
    together(50, |thread| {
        for request in 0..10 {
            let sequence = 100 + thread * 10 + request;
            let later = now + seconds(60);
            if circuits
                .take_probe(carts(&range), region("A"), sequence, later)
                .is_some()
            {
                granted.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    assert_eq!(granted.into_inner(), 1);
}

#[test]
fn partitions_that_trip_and_heal_at_once_leave_nothing() {
    let (circuits, now) = (Circuits::new(exact()), start());
    let names = ["A", "B", "C"].map(region);
    together(8, |thread| {
        for number in 0..200 {
            // Shared by two threads each.
            let range = RangeId::from(u32::try_from(number * 4 + thread / 2).unwrap());
            for region in names {
                for sequence in 1..=20 {
                    let event = Event {
                        region,
                        ..failure(sequence)
                    };
                    circuits.record(carts(&range), &event, now);
                }
                let _ = circuits.list(now);
            }
        }
    });
    assert_eq!(circuits.counters().open, 3 * 800);
    together(8, |thread| {
        for number in 0..200 {
            let range = RangeId::from(u32::try_from(number * 4 + thread / 2).unwrap());
            for region in names {
                let sequence = 1000 + thread;
                let later = now + seconds(60);
                if circuits
                    .take_probe(carts(&range), region, sequence, later)
                    .is_some()
                {
                    let event = Event {
                        region,
                        ..success(sequence).probing()
                    };
                    assert!(circuits.record(carts(&range), &event, later).is_some());
                }
            }
        }
    });
    let counters = circuits.counters();
    assert_eq!((counters.open, counters.tracked), (0, 3 * 800));
    assert_eq!((counters.trips, counters.closed), (3 * 800, 3 * 800));
    assert_eq!(counters.probes, 3 * 800);
    together(8, |thread| {
        for number in 0..2000 {
            let range = RangeId::from(u32::try_from(10_000 + number * 8 + thread).unwrap());
            circuits.record(carts(&range), &neutral(5000), now + seconds(60 + 60));
        }
    });
    assert_eq!(circuits.counters().tracked, 0);
}
