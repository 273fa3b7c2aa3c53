//! 429: the same region again (retry specification, "429").

use std::time::Duration;

use http::HeaderMap;

use super::{Backoff, Jitter};
use crate::headers;

/// How often, and for how long in all, an operation may wait for a throttled region.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ThrottleLimits {
    /// Retries per operation and region. Default 9.
    pub retries: u32,
    /// Time slept per operation and region. Default 30 s.
    pub total_wait: Duration,
}

impl Default for ThrottleLimits {
    fn default() -> Self {
        Self {
            retries: 9,
            total_wait: Duration::from_secs(30),
        }
    }
}

/// How long to wait before the next try in the same region; `None` once the budget is spent.
///
/// A hint is waited for exactly. One that does not fit into the rest of the budget ends it: a
/// shorter wait would only meet the same throttle again.
#[must_use]
pub fn wait(
    limits: ThrottleLimits,
    spent: (u32, Duration),
    hint: Option<Duration>,
    jitter: Jitter,
) -> Option<Duration> {
    let (retries, slept) = spent;
    if retries >= limits.retries {
        return None;
    }
    let wait = hint.unwrap_or_else(|| Backoff::THROTTLE.wait(retries, jitter.signed()));
    (wait <= limits.total_wait.saturating_sub(slept)).then_some(wait)
}

/// Reads `x-ms-retry-after-ms`: a decimal number of milliseconds, rounded up to a whole one.
///
/// Negative, infinite or unreadable values count as absent. A number too large to hold saturates:
/// "stay away for ages" never becomes a short wait.
#[must_use]
pub fn hint(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(&headers::RETRY_AFTER_MS)?.to_str().ok()?.trim();
    let ms: f64 = text.parse().ok()?;
    // `inf` and `NaN` parse, but are no numbers; `1e400` parses as infinity, and is a huge one.
    let is_number = text.bytes().any(|byte| byte.is_ascii_digit());
    if !is_number || ms < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(ms.ceil() / 1000.0).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(text: impl AsRef<[u8]>) -> Option<Duration> {
        let mut map = HeaderMap::new();
        map.insert(
            headers::RETRY_AFTER_MS,
            HeaderValue::from_bytes(text.as_ref()).unwrap(),
        );
        hint(&map)
    }

    #[test]
    fn a_hint_is_read_in_whole_milliseconds() {
        assert_eq!(read("1500"), Some(Duration::from_millis(1500)));
        assert_eq!(read("12.5"), Some(Duration::from_millis(13)));
        assert_eq!(read("0"), Some(Duration::ZERO));
        assert_eq!(read(" 7 "), Some(Duration::from_millis(7)));
    }

    #[test]
    fn what_is_no_waiting_time_counts_as_absent() {
        assert_eq!(hint(&HeaderMap::new()), None);
        for text in ["", "-5", "NaN", "-inf", "inf", "soon", "1,5"] {
            assert_eq!(read(text), None, "{text:?}");
        }
        assert_eq!(read(b"\xff\xfe"), None);
    }

    #[test]
    fn a_huge_hint_never_becomes_a_short_one() {
        for text in ["99999999999999999999", "18446744073709551615", "1e400"] {
            assert!(read(text).unwrap() > Duration::from_secs(3600), "{text}");
        }
        assert_eq!(read("9".repeat(10_000)), Some(Duration::MAX));
    }

    #[test]
    fn the_budget_ends_with_the_ninth_retry_or_with_30_seconds_slept() {
        let wait = |spent, hint| wait(ThrottleLimits::default(), spent, hint, Jitter::None);
        assert_eq!(
            wait((0, Duration::ZERO), None),
            Some(Duration::from_millis(5))
        );
        assert_eq!(
            wait((8, Duration::ZERO), None),
            Some(Duration::from_millis(1280))
        );
        assert_eq!(wait((9, Duration::ZERO), None), None);
        let s = Duration::from_secs;
        assert_eq!(wait((1, s(20)), Some(s(10))), Some(s(10)));
        assert_eq!(wait((1, s(20)), Some(s(11))), None);
        assert_eq!(wait((0, s(0)), Some(Duration::MAX)), None);
    }
}
