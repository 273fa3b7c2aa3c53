//! How long a throttled region is waited for, what a hint says, and whether a wait fits.

use std::time::{Duration, Instant};

use cosmos_core::policy::throttle::{ThrottleLimits, hint, wait};
use cosmos_core::policy::{Backoff, Jitter, SettingError, fits};
use http::{HeaderMap, HeaderValue};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn waits(spent: (u32, Duration), hint: Option<Duration>) -> Option<Duration> {
    wait(ThrottleLimits::default(), spent, hint, Jitter::None)
}

fn reads(text: &str) -> Option<Duration> {
    let value = HeaderValue::from_str(text).unwrap();
    hint(&HeaderMap::from_iter([(
        http::HeaderName::from_static("x-ms-retry-after-ms"),
        value,
    )]))
}

#[test]
fn without_a_hint_nine_waits_double_from_five_milliseconds() {
    let mut slept = Duration::ZERO;
    for (retries, expected) in [5, 10, 20, 40, 80, 160, 320, 640, 1280]
        .into_iter()
        .enumerate()
    {
        let retries = u32::try_from(retries).unwrap();
        assert_eq!(waits((retries, slept), None), Some(ms(expected)));
        slept += ms(expected);
    }
    assert_eq!(waits((9, slept), None), None);
    assert_eq!(waits((10, slept), None), None);
}

#[test]
fn the_hint_is_waited_for_exactly_even_beyond_the_cap_and_with_jitter() {
    for spent in [0, 8] {
        assert_eq!(
            waits((spent, Duration::ZERO), Some(Duration::ZERO)),
            Some(Duration::ZERO)
        );
        assert_eq!(
            waits((spent, Duration::ZERO), Some(ms(12_345))),
            Some(ms(12_345))
        );
        let limits = ThrottleLimits::default();
        let jittered = wait(
            limits,
            (spent, Duration::ZERO),
            Some(ms(700)),
            Jitter::Random,
        );
        assert_eq!(jittered, Some(ms(700)));
    }
    assert_eq!(waits((9, Duration::ZERO), Some(Duration::ZERO)), None);
}

#[test]
fn thirty_seconds_slept_end_the_budget_with_and_without_a_hint() {
    assert_eq!(
        waits((0, Duration::ZERO), Some(ms(30_000))),
        Some(ms(30_000))
    );
    assert_eq!(waits((0, Duration::ZERO), Some(ms(30_001))), None);
    assert_eq!(waits((1, ms(29_999)), Some(ms(1))), Some(ms(1)));
    assert_eq!(waits((1, ms(29_999)), Some(ms(2))), None);
    assert_eq!(waits((1, ms(29_990)), None), Some(ms(10)));
    assert_eq!(waits((1, ms(29_991)), None), None);
    assert_eq!(waits((1, ms(31_000)), Some(ms(1))), None);
    assert_eq!(
        waits((1, ms(30_000)), Some(Duration::ZERO)),
        Some(Duration::ZERO)
    );
}

#[test]
fn jitter_moves_a_wait_without_a_hint_by_a_quarter_and_never_past_the_cap() {
    for _ in 0..200 {
        let limits = ThrottleLimits::default();
        let wait = wait(limits, (4, Duration::ZERO), None, Jitter::Random).unwrap();
        assert!((ms(60)..=ms(100)).contains(&wait), "{wait:?}");
    }
    assert_eq!(Backoff::THROTTLE.wait(10, 1.0), ms(5000));
    assert_eq!(Backoff::THROTTLE.wait(u32::MAX, -1.0), ms(5000));
    assert_eq!(
        Backoff::THROTTLE.wait(0, f64::NEG_INFINITY),
        Duration::from_micros(3750)
    );
    assert_eq!(Backoff::STALE_RANGE.wait(0, 0.0), ms(100));
    assert_eq!(Backoff::SAME_REGION.wait(7, 0.0), ms(5000));
}

#[test]
fn jitter_that_is_switched_off_is_nothing_and_otherwise_differs_and_has_both_signs() {
    assert!(Jitter::None.signed().abs() < f64::EPSILON);
    assert!(Jitter::None.unsigned().abs() < f64::EPSILON);
    let drawn: Vec<f64> = (0..200).map(|_| Jitter::Random.signed()).collect();
    assert!(drawn.iter().any(|n| *n < -0.5) && drawn.iter().any(|n| *n > 0.5));
    let drawn: Vec<f64> = (0..200).map(|_| Jitter::Random.unsigned()).collect();
    assert!(drawn.iter().any(|n| *n < 0.4) && drawn.iter().any(|n| *n > 0.6));
}

#[test]
fn limits_that_allow_no_retry_allow_none() {
    let none = ThrottleLimits {
        retries: 0,
        ..ThrottleLimits::default()
    };
    assert_eq!(
        wait(none, (0, Duration::ZERO), Some(ms(1)), Jitter::None),
        None
    );
    let no_time = ThrottleLimits {
        total_wait: Duration::ZERO,
        ..ThrottleLimits::default()
    };
    assert_eq!(wait(no_time, (0, Duration::ZERO), None, Jitter::None), None);
}

#[test]
fn numbers_as_servers_write_them_are_read() {
    for (text, expected) in [
        ("1", ms(1)),
        ("007", ms(7)),
        ("+5", ms(5)),
        (".5", ms(1)),
        ("5.", ms(5)),
        ("0.0", ms(0)),
        ("-0", ms(0)),
        ("-0.0", ms(0)),
        ("0.001", ms(1)),
        ("1e3", ms(1000)),
        ("1E3", ms(1000)),
        (
            "1500.000000000000000000000000000000000000000000000000000000000000000000001",
            ms(1500),
        ),
        ("\t9", ms(9)),
        ("86400000", ms(86_400_000)),
    ] {
        assert_eq!(reads(text), Some(expected), "{text:?}");
    }
}

#[test]
fn what_is_no_number_of_milliseconds_counts_as_absent() {
    for text in [
        "-1",
        "-0.5",
        "-1e400",
        "0x10",
        "1 000",
        "1_000",
        "5ms",
        "1,000",
        "1e",
        "e5",
        ".",
        "+",
        "-",
        "infinity",
        "+inf",
        "+infinity",
        "nan",
        "-nan",
        "Thu, 27 Apr 2017 00:51:12 GMT",
        "--------------------------------------------------------------------------------",
    ] {
        assert_eq!(reads(text), None, "{text:?}");
    }
}

#[test]
fn a_number_beyond_all_measure_saturates_however_it_is_written() {
    let nines = "9".repeat(400);
    for text in [
        "1e400",
        "+1e400",
        ".1e999",
        &nines,
        &format!("{nines}.5"),
        &format!("+{nines}"),
    ] {
        assert_eq!(reads(text), Some(Duration::MAX), "{text:?}");
    }
    let seventy = format!("{}.5", "9".repeat(70));
    assert_eq!(reads(&seventy), Some(Duration::MAX));
}

#[test]
fn the_first_hint_counts_and_the_seconds_of_other_protocols_do_not() {
    let mut map = HeaderMap::new();
    map.insert("retry-after", HeaderValue::from_static("5"));
    assert_eq!(hint(&map), None);
    map.append("x-ms-retry-after-ms", HeaderValue::from_static("20"));
    map.append("x-ms-retry-after-ms", HeaderValue::from_static("30"));
    assert_eq!(hint(&map), Some(ms(20)));
}

#[test]
fn a_wait_fits_only_if_it_ends_before_the_deadline() {
    #[allow(clippy::disallowed_methods)]
    let now = Instant::now();
    let just_before = Duration::from_nanos(9_999_999);
    let just_after = Duration::from_nanos(10_000_001);
    let deadline = Some(now + ms(10));
    assert!(fits(just_before, now, deadline));
    assert!(!fits(ms(10), now, deadline));
    assert!(!fits(just_after, now, deadline));
    assert!(fits(Duration::ZERO, now + just_before, deadline));
    assert!(!fits(Duration::ZERO, now + ms(10), deadline));
    assert!(!fits(Duration::ZERO, now + just_after, deadline));
    assert!(!fits(Duration::MAX, now, deadline));
}

#[test]
fn a_bad_setting_says_which_and_why() {
    let error = SettingError::new("shards", "must not be 0");
    assert_eq!(error.to_string(), "shards: must not be 0");
}
