//! Retries as a share of what succeeds, so that they never become an outage of their own.
//!
//! A region that fails makes every request two, and when all regions fail, four: the retries of many
//! clients keep down what would otherwise get up. [`RetryGuard`] is a token bucket per region. What
//! succeeds there puts in a share of a token (a fifth by default), a retry that goes there takes
//! one out, and gets it back if it succeeds. First attempts are never asked.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::Region;
use crate::policy::SettingError;
use crate::region::MAX_REGIONS;

/// Tokens are counted in hundredths, so that a percentage of one is exact.
const TOKEN: u32 = 100;

/// How many retries a guard lets through.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct RetryGuardOptions {
    percentage: u8,
    reserve: u32,
}

impl Default for RetryGuardOptions {
    fn default() -> Self {
        Self {
            percentage: 20,
            reserve: 100,
        }
    }
}

impl RetryGuardOptions {
    /// A fifth of what succeeds, and 100 retries in reserve.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many retries a hundred successes pay for, from 1 to 100. Default 20.
    pub fn percentage(mut self, percentage: u8) -> Self {
        self.percentage = percentage;
        self
    }

    /// How many retries a region has in the beginning, and at most; at least 1. Default 100.
    pub fn reserve(mut self, retries: u32) -> Self {
        self.reserve = retries;
        self
    }

    /// The guard.
    ///
    /// # Errors
    /// [`SettingError`] if a number is outside of what it can be.
    pub fn build(self) -> Result<RetryGuard, SettingError> {
        if !(1..=100).contains(&self.percentage) {
            return Err(SettingError::new("percentage", "is from 1 to 100"));
        }
        let full = self.reserve.checked_mul(TOKEN).filter(|full| *full > 0);
        let Some(full) = full else {
            return Err(SettingError::new("reserve", "is from 1 to 42949672"));
        };
        let buckets = std::iter::repeat_with(|| AtomicU32::new(full));
        Ok(RetryGuard {
            share: u32::from(self.percentage),
            full,
            buckets: buckets.take(MAX_REGIONS).collect(),
        })
    }
}

/// Token buckets per region, shared by all operations of an account.
#[derive(Debug)]
pub struct RetryGuard {
    // What a success puts in, in hundredths of a token.
    share: u32,
    full: u32,
    buckets: Box<[AtomicU32]>,
}

impl RetryGuard {
    /// Takes a token for a retry that goes to this region; false if there is none. Of threads that
    /// meet at the last token, one gets it.
    #[must_use]
    pub fn take(&self, region: Region) -> bool {
        self.bucket(region)
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |tokens| {
                tokens.checked_sub(TOKEN)
            })
            .is_ok()
    }

    /// Gives the token of a retry back that succeeded, or was not sent.
    pub fn give_back(&self, region: Region) {
        self.put(region, TOKEN);
    }

    /// A first attempt in this region succeeded.
    pub fn succeeded(&self, region: Region) {
        self.put(region, self.share);
    }

    /// How many retries may go to this region now.
    #[must_use]
    pub fn left(&self, region: Region) -> u32 {
        self.bucket(region).load(Ordering::Acquire) / TOKEN
    }

    fn put(&self, region: Region, hundredths: u32) {
        let bucket = self.bucket(region);
        // The usual case: nothing is missing, and nothing is written.
        if bucket.load(Ordering::Relaxed) >= self.full {
            return;
        }
        let more = |tokens: u32| Some(tokens.saturating_add(hundredths).min(self.full));
        let _ = bucket.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
    }

    fn bucket(&self, region: Region) -> &AtomicU32 {
        &self.buckets[region.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(percentage: u8, reserve: u32) -> RetryGuard {
        RetryGuardOptions::new()
            .percentage(percentage)
            .reserve(reserve)
            .build()
            .unwrap()
    }

    fn taken(guard: &RetryGuard, region: Region) -> usize {
        std::iter::repeat_with(|| guard.take(region))
            .take_while(|taken| *taken)
            .count()
    }

    #[test]
    fn a_hundred_successes_pay_for_exactly_their_share_of_retries() {
        let a = Region::named("A").unwrap();
        for percentage in [1, 7, 20, 33, 100] {
            let guard = guard(percentage, 1000);
            assert_eq!(taken(&guard, a), 1000);
            for _ in 0..100 {
                guard.succeeded(a);
            }
            assert_eq!(taken(&guard, a), usize::from(percentage));
        }
    }

    #[test]
    fn a_retry_that_succeeds_costs_nothing_and_no_region_pays_for_another() {
        let (a, b) = (Region::named("A").unwrap(), Region::named("B").unwrap());
        let guard = guard(20, 3);
        assert!(guard.take(a));
        guard.give_back(a);
        assert_eq!((guard.left(a), guard.left(b)), (3, 3));
        assert_eq!(taken(&guard, a), 3);
        assert_eq!(guard.left(b), 3);
    }

    #[test]
    fn it_holds_no_more_than_its_reserve() {
        let a = Region::named("A").unwrap();
        let guard = guard(100, 2);
        for _ in 0..50 {
            guard.succeeded(a);
            guard.give_back(a);
        }
        assert_eq!(taken(&guard, a), 2);
    }

    #[test]
    fn threads_that_meet_get_no_more_than_there_is() {
        let a = Region::named("A").unwrap();
        let guard = guard(20, 1000);
        let got: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..1000).filter(|_| guard.take(a)).count()))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(got, 1000);
    }

    #[test]
    fn numbers_outside_of_what_they_can_be_are_refused() {
        for options in [
            RetryGuardOptions::new().percentage(0),
            RetryGuardOptions::new().percentage(101),
            RetryGuardOptions::new().reserve(0),
            RetryGuardOptions::new().reserve(u32::MAX),
        ] {
            assert!(options.build().is_err(), "{options:?}");
        }
    }
}
