//! How long operations took, and how many were good.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest latency that is told apart, in microseconds. Operations are given up well before.
const LONGEST: u64 = 20_000_000;

/// A histogram of latencies in microseconds.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// To three significant digits.
    #[must_use]
    pub fn fine() -> Self {
        Self::with_digits(3)
    }

    /// To two significant digits: good enough for plots, and a tenth of the size.
    #[must_use]
    pub fn coarse() -> Self {
        Self::with_digits(2)
    }

    /// Adds other latencies.
    pub fn merge(&mut self, other: &Self) {
        // It grows with what is added, so every value fits.
        let _ = self.0.add(&other.0);
    }

    fn with_digits(digits: u8) -> Self {
        let histogram = Histogram::new_with_max(LONGEST, digits);
        Self(histogram.expect("the histogram takes up to 5 digits"))
    }

    /// Adds one.
    pub fn record(&mut self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.0.saturating_record(micros);
    }

    /// The latency that this share of the operations did not exceed, in milliseconds; `None` if
    /// there were none.
    #[must_use]
    pub fn quantile_ms(&self, quantile: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| millis(self.0.value_at_quantile(quantile)))
    }

    /// The longest latency, in milliseconds.
    #[must_use]
    pub fn max_ms(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| millis(self.0.max()))
    }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn millis(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

/// The share of operations that did not fail, from 0 to 1; `None` if there were none.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
#[must_use]
pub fn success_rate(operations: u64, failed: u64) -> Option<f64> {
    let good = operations.saturating_sub(failed);
    (operations > 0).then(|| good as f64 / operations as f64)
}
