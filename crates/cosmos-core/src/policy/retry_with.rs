//! 449: the same region again (retry specification, "449"; the budget is ours).

use std::time::Duration;

use super::Jitter;

/// How long an operation may wait in all.
pub const TOTAL_WAIT: Duration = Duration::from_secs(30);

const BASE: Duration = Duration::from_millis(10);
const CAP: Duration = Duration::from_secs(1);
const SPREAD_MS: f64 = 5.0;

/// How long to wait before the next try; `None` once the budget is spent.
///
/// 10 ms, doubling, plus 0 to 4 ms, at most 1 s. `spent` is the number of retries made and the
/// time slept for them.
#[must_use]
pub fn wait(total: Duration, spent: (u32, Duration), jitter: Jitter) -> Option<Duration> {
    let (retries, slept) = spent;
    // Whole milliseconds, as the other clients have it.
    let spread = Duration::from_secs_f64((jitter.unsigned() * SPREAD_MS).floor() / 1000.0);
    let wait = (BASE * 2_u32.saturating_pow(retries.min(16)) + spread).min(CAP);
    (wait <= total.saturating_sub(slept)).then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn it_doubles_up_to_a_second_and_stops_at_thirty() {
        let wait = |retries, slept| wait(TOTAL_WAIT, (retries, slept), Jitter::None);
        assert_eq!(wait(0, ms(0)), Some(ms(10)));
        assert_eq!(wait(6, ms(630)), Some(ms(640)));
        assert_eq!(wait(7, ms(1270)), Some(ms(1000)));
        assert_eq!(wait(u32::MAX, ms(29_000)), Some(ms(1000)));
        assert_eq!(wait(40, ms(29_001)), None);
    }

    #[test]
    fn the_spread_is_less_than_five_milliseconds() {
        let waits: Vec<_> = (0..200)
            .map(|_| wait(TOTAL_WAIT, (0, ms(0)), Jitter::Random).unwrap())
            .collect();
        assert!(
            waits.iter().all(|wait| (ms(10)..=ms(14)).contains(wait)),
            "{waits:?}"
        );
        assert!(waits.iter().any(|wait| *wait > ms(11)), "{waits:?}");
    }
}
