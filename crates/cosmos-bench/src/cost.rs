//! What an operation costs: processor time, heap allocations, bytes.

use std::fmt;
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::measure::median;

/// How long the operations take that are timed together. Short, so that all subjects are measured
/// many times in turn, and long enough for the clock, which is read with a system call.
const CHUNK: Duration = Duration::from_millis(4);

/// Operations before anything is measured, and while allocations are counted.
const WARM: u32 = 300;

/// From how many rounds on quartiles say something.
const QUARTERED: usize = 4;

/// Heap allocations and their bytes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// How many.
    pub count: u64,
    /// How large, together.
    pub bytes: u64,
}

/// The program's allocator, which counts. Functions of the program's, because a library cannot
/// choose the allocator.
#[derive(Copy, Clone, Debug)]
pub struct Allocator {
    /// Does the work and counts what it allocates on this thread.
    pub counted: fn(&mut dyn FnMut()) -> Allocations,
    /// Does the work without counting, which takes time.
    pub uncounted: fn(&mut dyn FnMut()),
}

/// What to measure: a name, and something that does so many operations.
pub struct Subject<'a> {
    name: String,
    future: Option<usize>,
    run: Box<dyn FnMut(u32) + 'a>,
}

impl<'a> Subject<'a> {
    /// A subject whose `run` does so many operations, one after the other, on the thread that
    /// called it.
    pub fn new(name: impl Into<String>, run: impl FnMut(u32) + 'a) -> Self {
        Self {
            name: name.into(),
            future: None,
            run: Box::new(run),
        }
    }

    /// Says how many bytes the response future has: each layer moves those of all below it.
    pub(crate) fn with_future(mut self, bytes: usize) -> Self {
        self.future = Some(bytes);
        self
    }

    /// Does so many operations.
    pub(crate) fn run(&mut self, operations: u32) {
        (self.run)(operations);
    }
}

impl fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subject").field(&self.name).finish()
    }
}

/// The cost of one operation.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// Whose cost it is.
    pub name: String,
    /// Nanoseconds of the thread's processor time: the median of the rounds.
    pub nanos: f64,
    /// Half of the distance between the rounds' quartiles, if there were enough to have some.
    pub spread: Option<f64>,
    /// The round that took least.
    pub least: f64,
    /// Heap allocations.
    pub allocations: f64,
    /// Bytes allocated.
    pub bytes: f64,
    /// Bytes of the response future, if that is a value.
    pub future: Option<f64>,
}

/// Measures all subjects in turn, round after round.
///
/// Time is the thread's own, so that other processes take nothing from it but what is in the
/// caches.
pub fn costs(rounds: usize, allocator: Allocator, mut subjects: Vec<Subject<'_>>) -> Vec<Cost> {
    let mut costs: Vec<Cost> = subjects
        .iter_mut()
        .map(|subject| allocations(allocator, subject))
        .collect();
    let mut measured = vec![Vec::new(); subjects.len()];
    (allocator.uncounted)(&mut || measure(rounds, &mut subjects, &mut measured));
    for (cost, mut nanos) in costs.iter_mut().zip(measured) {
        nanos.sort_by(f64::total_cmp);
        let at = |quarter: usize| nanos[(nanos.len() - 1) * quarter / 4];
        cost.spread = (nanos.len() >= QUARTERED).then(|| (at(3) - at(1)) / 2.0);
        cost.least = at(0);
        cost.nanos = median(nanos);
    }
    costs
}

fn measure(rounds: usize, subjects: &mut [Subject<'_>], measured: &mut [Vec<f64>]) {
    let operations: Vec<u32> = subjects.iter_mut().map(operations).collect();
    for _ in 0..rounds.max(1) {
        for ((subject, operations), nanos) in
            subjects.iter_mut().zip(&operations).zip(&mut *measured)
        {
            nanos.push(nanos_each(*operations, &mut subject.run));
        }
    }
}

/// The cost so far, once the subject is warm.
fn allocations(allocator: Allocator, subject: &mut Subject<'_>) -> Cost {
    subject.run(WARM);
    let allocations = (allocator.counted)(&mut || subject.run(WARM));
    Cost {
        name: std::mem::take(&mut subject.name),
        allocations: each(allocations.count, WARM),
        bytes: each(allocations.bytes, WARM),
        future: subject.future.map(count),
        ..Cost::default()
    }
}

/// How many operations fill a chunk.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn operations(subject: &mut Subject<'_>) -> u32 {
    let nanos = nanos_each(WARM, &mut subject.run);
    (CHUNK.as_secs_f64() * 1e9 / nanos).clamp(20.0, 20_000.0) as u32
}

/// Nanoseconds of the thread's time for each of so many operations.
fn nanos_each(operations: u32, run: &mut dyn FnMut(u32)) -> f64 {
    let began = ThreadTime::now();
    run(operations);
    began.elapsed().as_secs_f64() * 1e9 / f64::from(operations)
}

#[allow(clippy::cast_precision_loss)]
fn count(bytes: usize) -> f64 {
    bytes as f64
}

#[allow(clippy::cast_precision_loss)]
fn each(total: u64, operations: u32) -> f64 {
    total as f64 / f64::from(operations)
}
