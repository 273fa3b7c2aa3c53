//! The time that a run takes: its phases, and the slices that plots divide it into.

use std::ops::Range;
use std::time::Duration;

/// The most points that a plot's line has.
const MOST_SLICES: usize = 240;

/// A run's time.
#[derive(Clone, Debug)]
pub struct Frame {
    total: Duration,
    phases: Vec<Phase>,
}

/// A part of a run, as plots show it.
#[derive(Clone, Debug)]
pub struct Phase {
    /// A few words, short enough to fit above it.
    pub label: &'static str,
    /// The style sheet's: `good`, `bad` or `moving`.
    pub class: &'static str,
    /// When it is, counted from the start.
    pub span: Range<Duration>,
}

impl Frame {
    /// A run of this length.
    #[must_use]
    pub fn new(total: Duration, phases: Vec<Phase>) -> Self {
        Self { total, phases }
    }

    /// How long the run is.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.total
    }

    /// Its phases, in order.
    #[must_use]
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// How many slices plots divide the run into: half a second each, or so that there are not
    /// too many.
    #[must_use]
    pub fn slices(&self) -> usize {
        let half_seconds = usize::try_from(self.total.as_millis() / 500);
        half_seconds.map_or(MOST_SLICES, |slices| slices.clamp(1, MOST_SLICES))
    }

    /// Which slice a moment is in. What is after the end is in none: the result is too large.
    #[must_use]
    pub fn slice_at(&self, moment: Duration) -> usize {
        let slices = self.slices() as u128;
        let slice = moment.as_nanos() * slices / self.total.as_nanos().max(1);
        usize::try_from(slice).unwrap_or(usize::MAX)
    }

    /// When a slice begins.
    #[must_use]
    pub fn slice_start(&self, slice: usize) -> Duration {
        let slice = u32::try_from(slice).unwrap_or(u32::MAX);
        let slices = u32::try_from(self.slices()).unwrap_or(u32::MAX);
        self.total * slice / slices
    }
}

/// When phases are that take these shares of a run, in per cent.
pub fn spans<P: Copy>(
    total: Duration,
    shares: impl IntoIterator<Item = (P, u32)>,
) -> impl Iterator<Item = (P, Range<Duration>)> {
    shares.into_iter().scan(0, move |begun, (phase, share)| {
        let from = *begun;
        *begun += share;
        Some((phase, total * from / 100..total * *begun / 100))
    })
}
