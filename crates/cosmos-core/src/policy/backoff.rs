//! How long to wait: exponential growth with a cap, and jitter that tests can switch off.

use std::time::Duration;

/// Where the random part of a wait comes from.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Jitter {
    /// Random, so that clients that failed together do not come back together.
    #[default]
    Random,
    /// None: waits are exact. For tests.
    None,
}

impl Jitter {
    /// A number in `-1.0..=1.0`; 0 without jitter.
    #[must_use]
    pub fn signed(self) -> f64 {
        match self {
            Self::Random => fastrand::f64() * 2.0 - 1.0,
            Self::None => 0.0,
        }
    }

    /// A number in `0.0..1.0`; 0 without jitter.
    #[must_use]
    pub fn unsigned(self) -> f64 {
        match self {
            Self::Random => fastrand::f64(),
            Self::None => 0.0,
        }
    }

    /// A wait, lengthened by up to a quarter; exact without jitter.
    #[must_use]
    pub fn lengthen(self, wait: Duration) -> Duration {
        wait.saturating_add(wait.mul_f64(0.25 * self.unsigned()))
    }
}

/// Waits of `base * 2^n`, varied by a quarter either way, at most `cap`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The wait before the first retry.
    pub base: Duration,
    /// The longest wait.
    pub cap: Duration,
}

impl Backoff {
    /// 429 without a hint: 5 ms, doubling, at most 5 s.
    pub const THROTTLE: Self = Self {
        base: Duration::from_millis(5),
        cap: Duration::from_secs(5),
    };
    /// A failover that has only the same region to go to: 50 ms, doubling. Ours.
    pub const SAME_REGION: Self = Self {
        base: Duration::from_millis(50),
        cap: Duration::from_secs(5),
    };
    /// A 410 that asks for a fresh range map: 100 ms, doubling. Ours.
    pub const STALE_RANGE: Self = Self {
        base: Duration::from_millis(100),
        cap: Duration::from_secs(5),
    };

    /// The wait before retry `n` (0 for the first); `jitter` in `-1.0..=1.0` moves it by up to
    /// 25 %.
    #[must_use]
    pub fn wait(self, n: u32, jitter: f64) -> Duration {
        let factor = 2_f64.powi(i32::try_from(n).unwrap_or(i32::MAX).min(64));
        let seconds = self.base.as_secs_f64() * factor * (1.0 + 0.25 * jitter.clamp(-1.0, 1.0));
        Duration::try_from_secs_f64(seconds).map_or(self.cap, |wait| wait.min(self.cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_up_to_the_cap_and_never_overflows() {
        let ms = |n| Backoff::THROTTLE.wait(n, 0.0).as_millis();
        assert_eq!([ms(0), ms(1), ms(2), ms(9)], [5, 10, 20, 2560]);
        assert_eq!(ms(10), 5000);
        assert_eq!(ms(u32::MAX), 5000);
    }

    #[test]
    fn jitter_moves_a_wait_by_a_quarter_at_most() {
        let wait = |jitter| Backoff::SAME_REGION.wait(0, jitter);
        assert_eq!(wait(-1.0), Duration::from_micros(37_500));
        assert_eq!(wait(1.0), Duration::from_micros(62_500));
        assert_eq!(wait(f64::INFINITY), wait(1.0));
        for _ in 0..100 {
            assert!((-1.0..=1.0).contains(&Jitter::Random.signed()));
            assert!((0.0..1.0).contains(&Jitter::Random.unsigned()));
        }
    }
}
