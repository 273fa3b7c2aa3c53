//! One thread and two: what sharing costs.

use std::sync::Barrier;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use cosmos_core::PartitionKey;
use cpu_time::ThreadTime;
use tower::Layer;

use super::healthy::recommended;
use super::{Settings, goals};
use crate::cost::Allocator;
use crate::instant::InstantLeaf;
use crate::measure::{median, now};
use crate::operation::{self, Answers, account, read};
use crate::{Report, Section};

const TITLE: &str = "Two threads, one stack";
const NOTE: &str = "ns of wall time per operation of a thread, in rounds whose threads ran side by side and undisturbed; rounds: how many, of eight times as many as are asked for; ratio: 2 x one / two";

/// Operations of each thread in a round: few, so that some rounds are left alone on a busy machine.
const OPERATIONS: usize = 500;

/// How many times more rounds than elsewhere: most may be disturbed.
const MORE_ROUNDS: usize = 8;

/// How much longer than its threads' own time a round may be, and count.
const DISTURBED: f64 = 1.1;

/// How many partition keys the operations for many partitions have.
const KEYS: usize = 1_000;

// What threads share, from nothing to everything.
const APART: &str = "a stack and an account for each";
const IN_PART: &str = "a stack for each, one account";
const ONE: &str = "one stack, one partition";
const MANY: &str = "one stack, many partitions";

/// When a thread was at work.
#[derive(Copy, Clone, Debug)]
struct Worked {
    own: Duration,
    began: Instant,
    ended: Instant,
}

/// Measures on so many threads: nanoseconds per operation, if nothing disturbed them.
type Measure = Box<dyn FnMut(usize) -> Option<f64>>;

pub(super) fn section(settings: &Settings, goals: &mut Report) -> Section {
    let stack = |account| recommended(&account).layer(InstantLeaf::new());
    let shared = account();
    let leaf = vec![InstantLeaf::new()];
    let apart = vec![stack(account()), stack(account())];
    let in_part = vec![stack(shared.clone()), stack(shared.clone())];
    let together = vec![stack(shared)];
    let one = vec![operation::one_key()];
    let many: Vec<_> = (0..KEYS)
        .map(|number| PartitionKey::from(format!("p{number}")))
        .collect();
    let mut cases = [
        ("bare leaf", measuring(settings, leaf, one.clone())),
        (APART, measuring(settings, apart, one.clone())),
        (IN_PART, measuring(settings, in_part, one.clone())),
        (ONE, measuring(settings, together.clone(), one)),
        (MANY, measuring(settings, together, many)),
    ];
    let mut taken = vec![[Vec::new(), Vec::new()]; cases.len()];
    for _ in 0..settings.rounds.max(1) * MORE_ROUNDS {
        for ((_, measure), taken) in cases.iter_mut().zip(&mut taken) {
            for threads in [1, 2] {
                taken[threads - 1].extend(measure(threads));
            }
        }
    }
    let mut disturbed = false;
    let mut section = Section::new(TITLE, NOTE, &["one", "two", "ratio", "rounds"]);
    for ((name, _), [one, two]) in cases.iter().zip(taken) {
        let rounds = float(two.len());
        let (alone, both) = (median_of_any(one), median_of_any(two));
        let ratio = alone.zip(both).map(|(alone, both)| 2.0 * alone / both);
        section.add(*name, [alone, both, ratio, Some(rounds)]);
        disturbed |= ratio.is_none();
        if let Some(ratio) = ratio.filter(|_| [ONE, MANY].contains(name)) {
            goals::threads(goals, name, ratio);
        }
    }
    if disturbed {
        section.remark("where there is no ratio, all rounds were disturbed: ask for more, or when there is less to do");
    }
    section
}

fn measuring<S>(settings: &Settings, services: Vec<S>, keys: Vec<PartitionKey>) -> Measure
where
    S: Answers + 'static,
{
    let allocator = settings.allocator;
    Box::new(move |threads| measure(allocator, &services, &keys, threads))
}

/// Reads on so many threads at once, each with a clone of its service and a runtime.
fn measure<S: Answers>(
    allocator: Allocator,
    services: &[S],
    keys: &[PartitionKey],
    threads: usize,
) -> Option<f64> {
    let start = Barrier::new(threads);
    let worked: Vec<Worked> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|number| {
                let mut service = services[number % services.len()].clone();
                let start = &start;
                // Each begins elsewhere among the keys.
                let keys = keys.iter().cycle().skip(number * keys.len() / 2);
                scope.spawn(move || {
                    let mut worked = None;
                    let mut keys = keys.take(OPERATIONS);
                    let mut work = || worked = Some(work(&mut service, &mut keys, start));
                    (allocator.uncounted)(&mut work);
                    worked
                })
            })
            .collect();
        let ended = running.into_iter().map(ScopedJoinHandle::join);
        ended
            .filter_map(|worked| worked.expect("no panic"))
            .collect()
    });
    let began = worked.iter().map(|thread| thread.began).min()?;
    let ended = worked.iter().map(|thread| thread.ended).max()?;
    let own = worked.iter().map(|thread| thread.own).max()?;
    let took = ended.duration_since(began).as_secs_f64();
    let undisturbed = took <= own.as_secs_f64() * DISTURBED;
    undisturbed.then_some(took * 1e9 / float(OPERATIONS))
}

/// One read of each key on this thread, once all threads are ready.
fn work<S: Answers>(
    service: &mut S,
    keys: &mut dyn Iterator<Item = &PartitionKey>,
    start: &Barrier,
) -> Worked {
    let runtime = operation::runtime();
    operation::run(&runtime, read(service, &operation::one_key()));
    start.wait();
    let (own, began) = (ThreadTime::now(), now());
    operation::run(&runtime, async {
        for key in keys {
            read(service, key).await;
        }
    });
    Worked {
        own: own.elapsed(),
        began,
        ended: now(),
    }
}

fn median_of_any(taken: Vec<f64>) -> Option<f64> {
    (!taken.is_empty()).then(|| median(taken))
}

#[allow(clippy::cast_precision_loss)]
fn float(count: usize) -> f64 {
    count as f64
}
