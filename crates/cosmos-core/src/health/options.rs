//! Where a breaker's settings come from: code, the environment, the documented defaults.
//!
//! For each setting the first source that gives a usable value wins: the kill switch (for
//! `enabled` alone), the value set in code, the environment variables from left to right, the
//! default.
//!
//! | setting | default | environment variables |
//! |---|---|---|
//! | `enabled` | true | `AZURE_COSMOS_PPCB_ENABLED_OVERRIDE` (beats code); `AZURE_COSMOS_PPCB_ENABLED`, `AZURE_COSMOS_ENABLE_CIRCUIT_BREAKER` |
//! | `reads_tolerated` | 10 | `AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_READ`, `AZURE_COSMOS_PPCB_READ_FAILURE_THRESHOLD` |
//! | `writes_tolerated` | 5 | `AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_WRITE`, `AZURE_COSMOS_PPCB_WRITE_FAILURE_THRESHOLD` |
//! | `failure_percentage` | 90 | `AZURE_COSMOS_FAILURE_PERCENTAGE_TOLERATED` |
//! | `window` | 60 s | `AZURE_COSMOS_PPCB_COUNTER_RESET_WINDOW_MS` |
//! | `first_wait` | 60 s | `AZURE_COSMOS_PPCB_PARTITION_UNAVAILABILITY_DURATION_MS` |
//! | `next_wait` | 120 s | `AZURE_COSMOS_STALE_PARTITION_UNAVAILABILITY_CHECK_IN_SECONDS` |
//! | `min_requests`, `lease_limit`, `capacity`, `jitter` | 100, 7 s, 200,000, random | none |
//!
//! A variable that cannot be read is warned of and skipped. A number outside of what its setting
//! can be is moved to the nearest one that is (an operator means "as little as possible"); in code
//! it is an error. Times are at most a day.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::BreakerSettings;
use crate::policy::{Jitter, SettingError};

/// Longer than any outage that a process should remember, and far from where time overflows.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A breaker's settings as code gives them. What is not set comes from the environment, or is the
/// default.
///
/// ```
/// use cosmos_core::health::BreakerOptions;
///
/// // In production: `|name| std::env::var(name).ok()`.
/// let environment = |name: &str| (name == "AZURE_COSMOS_PPCB_READ_FAILURE_THRESHOLD").then(|| "3".into());
/// let settings = BreakerOptions::new().writes_tolerated(8).resolve(environment)?;
/// assert_eq!(settings.tolerated(cosmos_core::Access::Read), 3);
/// assert_eq!(settings.tolerated(cosmos_core::Access::Write), 8);
/// # Ok::<(), cosmos_core::policy::SettingError>(())
/// ```
#[derive(Copy, Clone, Debug, Default)]
#[must_use]
pub struct BreakerOptions {
    enabled: Option<bool>,
    reads_tolerated: Option<u32>,
    writes_tolerated: Option<u32>,
    failure_percentage: Option<u8>,
    min_requests: Option<u32>,
    window: Option<Duration>,
    first_wait: Option<Duration>,
    next_wait: Option<Duration>,
    lease_limit: Option<Duration>,
    capacity: Option<u32>,
    jitter: Option<Jitter>,
}

impl BreakerOptions {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the breaker works at all; the kill switch in the environment beats this.
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = Some(enabled);
        self
    }

    /// How many consecutive failed reads trip a circuit; at least 1.
    pub fn reads_tolerated(mut self, failures: u32) -> Self {
        self.reads_tolerated = Some(failures);
        self
    }

    /// How many consecutive failed writes trip a circuit; at least 1.
    pub fn writes_tolerated(mut self, failures: u32) -> Self {
        self.writes_tolerated = Some(failures);
        self
    }

    /// The percentage of failed requests in a window that trips a circuit; 1 to 100.
    pub fn failure_percentage(mut self, percentage: u8) -> Self {
        self.failure_percentage = Some(percentage);
        self
    }

    /// How many requests a window must have for the percentage to count; at least 1.
    pub fn min_requests(mut self, requests: u32) -> Self {
        self.min_requests = Some(requests);
        self
    }

    /// How long successes and failures are counted before the counts begin anew.
    pub fn window(mut self, window: Duration) -> Self {
        self.window = Some(window);
        self
    }

    /// How long a circuit that tripped rests before its first probe.
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = Some(wait);
        self
    }

    /// How long a circuit rests after a probe failed.
    pub fn next_wait(mut self, wait: Duration) -> Self {
        self.next_wait = Some(wait);
        self
    }

    /// How long a probe may be silent before another may go: longer than an attempt waits for a
    /// head, or for the next piece of a body.
    pub fn lease_limit(mut self, limit: Duration) -> Self {
        self.lease_limit = Some(limit);
        self
    }

    /// How many (partition, region) are tracked at most; at least 1.
    pub fn capacity(mut self, entries: u32) -> Self {
        self.capacity = Some(entries);
        self
    }

    /// Where the random part of a rest comes from.
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = Some(jitter);
        self
    }

    /// The settings, without the environment.
    ///
    /// # Errors
    /// [`SettingError`] for a number outside of what its setting can be.
    pub fn build(self) -> Result<BreakerSettings, SettingError> {
        self.resolve(|_| None)
    }

    /// The settings, with the environment as `lookup` gives it.
    ///
    /// # Errors
    /// [`SettingError`] for a number, set in code, outside of what its setting can be.
    pub fn resolve(
        self,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<BreakerSettings, SettingError> {
        self.check()?;
        let environment = Environment(&lookup);
        let defaults = BreakerSettings::default();
        Ok(BreakerSettings {
            enabled: environment
                .flag(&["AZURE_COSMOS_PPCB_ENABLED_OVERRIDE"])
                .or(self.enabled)
                .or_else(|| {
                    environment.flag(&[
                        "AZURE_COSMOS_PPCB_ENABLED",
                        "AZURE_COSMOS_ENABLE_CIRCUIT_BREAKER",
                    ])
                })
                .unwrap_or(defaults.enabled),
            reads_tolerated: self
                .reads_tolerated
                .or_else(|| {
                    environment.count(&[
                        "AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_READ",
                        "AZURE_COSMOS_PPCB_READ_FAILURE_THRESHOLD",
                    ])
                })
                .unwrap_or(defaults.reads_tolerated),
            writes_tolerated: self
                .writes_tolerated
                .or_else(|| {
                    environment.count(&[
                        "AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_WRITE",
                        "AZURE_COSMOS_PPCB_WRITE_FAILURE_THRESHOLD",
                    ])
                })
                .unwrap_or(defaults.writes_tolerated),
            failure_percentage: self
                .failure_percentage
                .or_else(|| environment.percentage(&["AZURE_COSMOS_FAILURE_PERCENTAGE_TOLERATED"]))
                .unwrap_or(defaults.failure_percentage),
            min_requests: self.min_requests.unwrap_or(defaults.min_requests),
            window: self
                .window
                .or_else(|| environment.millis(&["AZURE_COSMOS_PPCB_COUNTER_RESET_WINDOW_MS"]))
                .unwrap_or(defaults.window),
            first_wait: self
                .first_wait
                .or_else(|| {
                    environment.millis(&["AZURE_COSMOS_PPCB_PARTITION_UNAVAILABILITY_DURATION_MS"])
                })
                .unwrap_or(defaults.first_wait),
            next_wait: self
                .next_wait
                .or_else(|| {
                    environment
                        .seconds(&["AZURE_COSMOS_STALE_PARTITION_UNAVAILABILITY_CHECK_IN_SECONDS"])
                })
                .unwrap_or(defaults.next_wait),
            lease_limit: self.lease_limit.unwrap_or(defaults.lease_limit),
            capacity: self.capacity.unwrap_or(defaults.capacity),
            jitter: self.jitter.unwrap_or(defaults.jitter),
        })
    }

    fn check(&self) -> Result<(), SettingError> {
        for (setting, value) in [
            ("reads_tolerated", self.reads_tolerated),
            ("writes_tolerated", self.writes_tolerated),
            ("min_requests", self.min_requests),
            ("capacity", self.capacity),
        ] {
            if value == Some(0) {
                return Err(SettingError::new(setting, "must not be 0"));
            }
        }
        if self
            .failure_percentage
            .is_some_and(|percentage| !(1..=100).contains(&percentage))
        {
            return Err(SettingError::new(
                "failure_percentage",
                "must be from 1 to 100",
            ));
        }
        for (setting, value) in [
            ("window", self.window),
            ("first_wait", self.first_wait),
            ("next_wait", self.next_wait),
            ("lease_limit", self.lease_limit),
        ] {
            match value {
                Some(Duration::ZERO) => {
                    return Err(SettingError::new(setting, "must be longer than nothing"));
                }
                Some(value) if value > LONGEST => {
                    return Err(SettingError::new(setting, "must be a day at most"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The environment: each reading takes the first of its variables that is set and readable.
struct Environment<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Environment<'_> {
    fn flag(&self, names: &[&'static str]) -> Option<bool> {
        self.first(names, "true, false, 1 or 0", |text| {
            match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            }
        })
    }

    fn count(&self, names: &[&'static str]) -> Option<u32> {
        self.number(names, 1..=u32::MAX.into())
            .and_then(|number| number.try_into().ok())
    }

    fn percentage(&self, names: &[&'static str]) -> Option<u8> {
        self.number(names, 1..=100)
            .and_then(|number| number.try_into().ok())
    }

    fn millis(&self, names: &[&'static str]) -> Option<Duration> {
        self.number(names, 1..=LONGEST.as_secs() * 1000)
            .map(Duration::from_millis)
    }

    fn seconds(&self, names: &[&'static str]) -> Option<Duration> {
        self.number(names, 1..=LONGEST.as_secs())
            .map(Duration::from_secs)
    }

    /// A whole number, moved into the range.
    fn number(&self, names: &[&'static str], range: RangeInclusive<u64>) -> Option<u64> {
        let (least, most) = (i128::from(*range.start()), i128::from(*range.end()));
        self.first(names, "a whole number", |text| {
            let number: i128 = text.parse().ok()?;
            number.clamp(least, most).try_into().ok()
        })
    }

    fn first<T>(
        &self,
        names: &[&'static str],
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        names.iter().find_map(|name| {
            let text = (self.0)(name)?;
            let value = read(text.trim());
            if value.is_none() {
                tracing::warn!(
                    variable = name,
                    expected,
                    "unreadable environment variable ignored"
                );
            }
            value
        })
    }
}
