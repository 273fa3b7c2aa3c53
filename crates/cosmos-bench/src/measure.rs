//! Measuring: rounds, medians, nanoseconds per call.

use std::fmt;
use std::sync::Barrier;
use std::time::Instant;

/// How many calls are timed together: a millisecond or so.
const CHUNK: usize = 5_000;

/// Something to measure: a name and what gives one measurement.
pub struct Case<'a> {
    name: String,
    measure: Box<dyn FnMut() -> f64 + 'a>,
}

impl<'a> Case<'a> {
    /// A case whose `measure` gives one measurement.
    pub fn new(name: impl Into<String>, measure: impl FnMut() -> f64 + 'a) -> Self {
        Self {
            name: name.into(),
            measure: Box::new(measure),
        }
    }
}

impl fmt::Debug for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Case").field(&self.name).finish()
    }
}

/// Measures all cases in turn, round after round (and once before, to warm up), and gives the
/// median of each with its name.
#[must_use]
pub fn interleaved(rounds: usize, mut cases: Vec<Case<'_>>) -> Vec<(String, f64)> {
    let mut measured = vec![Vec::new(); cases.len()];
    for round in 0..=rounds.max(1) {
        for (case, values) in cases.iter_mut().zip(&mut measured) {
            let value = (case.measure)();
            if round > 0 {
                values.push(value);
            }
        }
    }
    let medians = measured.into_iter().map(median);
    cases
        .into_iter()
        .map(|case| case.name)
        .zip(medians)
        .collect()
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}

/// Calls `work` with each of the inputs; nanoseconds per call.
///
/// Timed in chunks, of which the median counts: another process that takes the processor away for
/// a while spoils some of them, not the figure.
pub fn nanos_each<T>(inputs: &[T], mut work: impl FnMut(&T)) -> f64 {
    let mut timed = |chunk: &[T]| {
        let began = now();
        chunk.iter().for_each(&mut work);
        nanos_since(began) / count(chunk)
    };
    median(inputs.chunks(CHUNK).map(&mut timed).collect())
}

/// Calls `work` with each of the inputs on two threads at once, each with half of them;
/// nanoseconds that pass per call. Half of what one thread takes is the best there is.
pub fn nanos_each_on_two_threads<T: Sync>(inputs: &[T], work: impl Fn(&T) + Sync) -> f64 {
    let (first, second) = inputs.split_at(inputs.len() / 2);
    let start = Barrier::new(2);
    let timed = |inputs: &[T]| {
        start.wait();
        nanos_each(inputs, &work)
    };
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| timed(second));
        let one = timed(first);
        (one, other.join().unwrap_or(f64::NAN))
    });
    f64::midpoint(one, other) / 2.0
}

/// Calls `work` with each of the inputs; the nanoseconds that only one call in `rare` exceeds, the
/// clock's own time included.
pub fn slowest_nanos<T>(inputs: &[T], rare: usize, mut work: impl FnMut(&T)) -> f64 {
    let mut times: Vec<f64> = inputs
        .iter()
        .map(|input| {
            let began = now();
            work(input);
            nanos_since(began)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let rank = times.len() - 1 - times.len() / rare;
    times[rank]
}

#[allow(clippy::disallowed_methods)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[allow(clippy::cast_precision_loss)]
fn nanos_since(began: Instant) -> f64 {
    now().duration_since(began).as_nanos() as f64
}

#[allow(clippy::cast_precision_loss)]
fn count<T>(inputs: &[T]) -> f64 {
    inputs.len() as f64
}
