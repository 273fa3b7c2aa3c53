//! One thread and two: what sharing costs.

use std::sync::Barrier;
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use cosmos_core::PartitionKey;
use cpu_time::ThreadTime;
use tower::Layer;

use super::healthy::recommended;
use super::{Settings, goals};
use crate::cost::Allocator;
use crate::instant::InstantLeaf;
use crate::operation::{self, Answers, account, read};
use crate::{Report, Section};

const TITLE: &str = "Two threads, one stack";
const NOTE: &str = "ns of each thread's own time per operation; ratio: 2 x one / two, 2.00 if they share nothing; wall: best round, spoiled by whatever else runs";

/// Operations of each thread in a round.
const OPERATIONS: usize = 4_000;

/// How many partition keys the operations for many partitions have.
const KEYS: usize = 1_000;

/// What a thread took for an operation, in nanoseconds.
#[derive(Copy, Clone, Debug, Default)]
struct Taken {
    own: f64,
    wall: f64,
}

/// Measures on so many threads.
type Measure = Box<dyn FnMut(usize) -> Taken>;

pub(super) fn section(settings: &Settings, goals: &mut Report) -> Section {
    let stack = recommended(&account()).layer(InstantLeaf::new());
    let one = vec![operation::one_key()];
    let many: Vec<_> = (0..KEYS)
        .map(|number| PartitionKey::from(format!("p{number}")))
        .collect();
    let mut cases = [
        (
            "bare leaf",
            measuring(settings, InstantLeaf::new(), one.clone()),
        ),
        ("one partition", measuring(settings, stack.clone(), one)),
        ("many partitions", measuring(settings, stack, many)),
    ];
    let mut taken = vec![[Vec::new(), Vec::new()]; cases.len()];
    for round in 0..=settings.rounds.max(1) {
        for ((_, measure), taken) in cases.iter_mut().zip(&mut taken) {
            for threads in [1, 2] {
                let measured = measure(threads);
                // The first round makes everything warm.
                if round > 0 {
                    taken[threads - 1].push(measured);
                }
            }
        }
    }
    let mut section = Section::new(TITLE, NOTE, &["one", "two", "ratio", "wall ratio"]);
    for ((name, _), [one, two]) in cases.iter().zip(&taken) {
        let [alone, both] = [median(one), median(two)];
        let ratio = 2.0 * alone / both;
        let wall = 2.0 * best(one) / best(two);
        section.add(*name, [alone, both, ratio, wall].map(Some));
        if *name != "bare leaf" {
            goals::threads(goals, name, ratio);
        }
    }
    section
}

fn measuring<S>(settings: &Settings, service: S, keys: Vec<PartitionKey>) -> Measure
where
    S: Answers + 'static,
{
    let allocator = settings.allocator;
    Box::new(move |threads| measure(allocator, &service, &keys, threads))
}

/// Reads on so many threads at once, each with a clone of the service and a runtime.
fn measure<S: Answers>(
    allocator: Allocator,
    service: &S,
    keys: &[PartitionKey],
    threads: usize,
) -> Taken {
    let start = Barrier::new(threads);
    let taken: Vec<Taken> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|number| {
                let (mut service, start) = (service.clone(), &start);
                // Each begins elsewhere among the keys.
                let keys = keys.iter().cycle().skip(number * keys.len() / 2);
                scope.spawn(move || {
                    let mut taken = Taken::default();
                    let mut keys = keys.take(OPERATIONS);
                    (allocator.uncounted)(&mut || taken = timed(&mut service, &mut keys, start));
                    taken
                })
            })
            .collect();
        let ended = running.into_iter().map(ScopedJoinHandle::join);
        ended.map(|taken| taken.expect("no panic")).collect()
    });
    let mean = |of: fn(&Taken) -> f64| taken.iter().map(of).sum::<f64>() / each_of(taken.len());
    Taken {
        own: mean(|taken| taken.own),
        wall: mean(|taken| taken.wall),
    }
}

/// One read of each key on this thread, once all threads are ready.
fn timed<S: Answers>(
    service: &mut S,
    keys: &mut dyn Iterator<Item = &PartitionKey>,
    start: &Barrier,
) -> Taken {
    let runtime = operation::runtime();
    operation::run(&runtime, read(service, &operation::one_key()));
    start.wait();
    let (own, wall) = (ThreadTime::now(), now());
    operation::run(&runtime, async {
        for key in keys {
            read(service, key).await;
        }
    });
    Taken {
        own: each(own.elapsed()),
        wall: each(wall.elapsed()),
    }
}

fn median(taken: &[Taken]) -> f64 {
    let mut own: Vec<f64> = taken.iter().map(|taken| taken.own).collect();
    own.sort_by(f64::total_cmp);
    own[own.len() / 2]
}

fn best(taken: &[Taken]) -> f64 {
    let wall = taken.iter().map(|taken| taken.wall);
    wall.fold(f64::INFINITY, f64::min)
}

fn each(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e9 / each_of(OPERATIONS)
}

#[allow(clippy::cast_precision_loss)]
fn each_of(count: usize) -> f64 {
    count as f64
}

#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}
