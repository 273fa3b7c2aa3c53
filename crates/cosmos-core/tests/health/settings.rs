//! Where settings come from, and what they can be.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use cosmos_core::Access;
use cosmos_core::health::{BreakerOptions, BreakerSettings};
use cosmos_core::policy::Jitter;

use crate::seconds;

fn from(environment: &[(&str, &str)]) -> BreakerSettings {
    resolve(BreakerOptions::new(), environment)
}

fn resolve(options: BreakerOptions, environment: &[(&str, &str)]) -> BreakerSettings {
    let variables: HashMap<&str, &str> = environment.iter().copied().collect();
    options
        .resolve(|name| variables.get(name).map(ToString::to_string))
        .unwrap()
}

#[test]
fn the_defaults_are_the_documented_ones() {
    let settings = BreakerSettings::default();
    assert!(settings.enabled());
    assert_eq!(settings.tolerated(Access::Read), 10);
    assert_eq!(settings.tolerated(Access::Write), 5);
    assert_eq!(settings.failure_percentage(), 90);
    assert_eq!(settings.min_requests(), 100);
    assert_eq!(settings.window(), seconds(60));
    assert_eq!(settings.first_wait(), seconds(60));
    assert_eq!(settings.next_wait(), seconds(120));
    assert_eq!(settings.lease_limit(), seconds(7));
    assert_eq!(settings.capacity(), 200_000);
    assert_eq!(settings.jitter(), Jitter::Random);
    assert_eq!(BreakerOptions::new().build().unwrap(), settings);
    assert_eq!(from(&[]), settings);
}

#[test]
fn every_variable_sets_its_setting_and_nothing_else() {
    type Read = fn(&BreakerSettings) -> u64;
    let default = BreakerSettings::default();
    let reads: [Read; 7] = [
        |settings| settings.enabled().into(),
        |settings| settings.tolerated(Access::Read).into(),
        |settings| settings.tolerated(Access::Write).into(),
        |settings| settings.failure_percentage().into(),
        |settings| settings.window().as_millis().try_into().unwrap(),
        |settings| settings.first_wait().as_millis().try_into().unwrap(),
        |settings| settings.next_wait().as_millis().try_into().unwrap(),
    ];
    for (name, text, which, value) in [
        ("AZURE_COSMOS_PPCB_ENABLED_OVERRIDE", "false", 0, 0),
        ("AZURE_COSMOS_PPCB_ENABLED", "false", 0, 0),
        ("AZURE_COSMOS_ENABLE_CIRCUIT_BREAKER", "false", 0, 0),
        (
            "AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_READ",
            "33",
            1,
            33,
        ),
        ("AZURE_COSMOS_PPCB_READ_FAILURE_THRESHOLD", "33", 1, 33),
        (
            "AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_WRITE",
            "33",
            2,
            33,
        ),
        ("AZURE_COSMOS_PPCB_WRITE_FAILURE_THRESHOLD", "33", 2, 33),
        ("AZURE_COSMOS_FAILURE_PERCENTAGE_TOLERATED", "33", 3, 33),
        ("AZURE_COSMOS_PPCB_COUNTER_RESET_WINDOW_MS", "33", 4, 33),
        (
            "AZURE_COSMOS_PPCB_PARTITION_UNAVAILABILITY_DURATION_MS",
            "33",
            5,
            33,
        ),
        (
            "AZURE_COSMOS_STALE_PARTITION_UNAVAILABILITY_CHECK_IN_SECONDS",
            "33",
            6,
            33_000,
        ),
    ] {
        let settings = from(&[(name, text)]);
        for (index, read) in reads.iter().enumerate() {
            let expected = if index == which {
                value
            } else {
                read(&default)
            };
            assert_eq!(read(&settings), expected, "{name}, setting {index}");
        }
    }
}

#[test]
fn the_kill_switch_beats_code_and_code_beats_the_rest() {
    let kill = ("AZURE_COSMOS_PPCB_ENABLED_OVERRIDE", "false");
    let revive = ("AZURE_COSMOS_PPCB_ENABLED_OVERRIDE", "true");
    let off = ("AZURE_COSMOS_PPCB_ENABLED", "0");
    let on = BreakerOptions::new().enabled(true);
    assert!(!resolve(on, &[kill]).enabled());
    assert!(resolve(on, &[off]).enabled());
    assert!(!resolve(BreakerOptions::new(), &[off]).enabled());
    assert!(resolve(BreakerOptions::new().enabled(false), &[revive]).enabled());
    assert!(!resolve(BreakerOptions::new().enabled(false), &[]).enabled());

    let environment = [
        (
            "AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_READ",
            "3",
        ),
        (
            "AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_WRITE",
            "3",
        ),
        ("AZURE_COSMOS_FAILURE_PERCENTAGE_TOLERATED", "3"),
        ("AZURE_COSMOS_PPCB_COUNTER_RESET_WINDOW_MS", "3"),
        (
            "AZURE_COSMOS_PPCB_PARTITION_UNAVAILABILITY_DURATION_MS",
            "3",
        ),
        (
            "AZURE_COSMOS_STALE_PARTITION_UNAVAILABILITY_CHECK_IN_SECONDS",
            "3",
        ),
    ];
    let options = BreakerOptions::new()
        .reads_tolerated(21)
        .writes_tolerated(22)
        .failure_percentage(23)
        .min_requests(24)
        .window(seconds(25))
        .first_wait(seconds(26))
        .next_wait(seconds(27))
        .lease_limit(seconds(28))
        .capacity(29)
        .jitter(Jitter::None);
    let settings = resolve(options, &environment);
    assert_eq!(settings, options.build().unwrap());
    assert_eq!(settings.tolerated(Access::Read), 21);
    assert_eq!(settings.tolerated(Access::Write), 22);
    assert_eq!(settings.failure_percentage(), 23);
    assert_eq!(settings.min_requests(), 24);
    assert_eq!(settings.window(), seconds(25));
    assert_eq!(settings.first_wait(), seconds(26));
    assert_eq!(settings.next_wait(), seconds(27));
    assert_eq!(settings.lease_limit(), seconds(28));
    assert_eq!(settings.capacity(), 29);
    assert_eq!(settings.jitter(), Jitter::None);
}

#[test]
fn variables_count_from_left_to_right() {
    for (first, second) in [
        (
            "AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_READ",
            "AZURE_COSMOS_PPCB_READ_FAILURE_THRESHOLD",
        ),
        (
            "AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_WRITE",
            "AZURE_COSMOS_PPCB_WRITE_FAILURE_THRESHOLD",
        ),
    ] {
        let tolerated = |environment: &[(&str, &str)]| {
            let settings = from(environment);
            let default = BreakerSettings::default();
            let access = if settings.tolerated(Access::Read) == default.tolerated(Access::Read) {
                Access::Write
            } else {
                Access::Read
            };
            settings.tolerated(access)
        };
        assert_eq!(tolerated(&[(first, "3"), (second, "4")]), 3);
        assert_eq!(tolerated(&[(second, "4")]), 4);
        assert_eq!(tolerated(&[(first, "three"), (second, "4")]), 4);
    }
    let enabled = |first, second| {
        from(&[
            ("AZURE_COSMOS_PPCB_ENABLED", first),
            ("AZURE_COSMOS_ENABLE_CIRCUIT_BREAKER", second),
        ])
        .enabled()
    };
    assert!(enabled("true", "false") && !enabled("false", "true"));
    assert!(!enabled("maybe", "false"));
}

#[test]
fn what_cannot_be_read_is_skipped() {
    for text in ["", " ", "ten", "1.5", "1e3", "0x10", "10 s", "--1", "⑩"] {
        let settings = from(&[
            (
                "AZURE_COSMOS_CONSECUTIVE_ERROR_COUNT_TOLERATED_FOR_READ",
                text,
            ),
            ("AZURE_COSMOS_FAILURE_PERCENTAGE_TOLERATED", text),
            ("AZURE_COSMOS_PPCB_COUNTER_RESET_WINDOW_MS", text),
        ]);
        assert_eq!(settings, BreakerSettings::default(), "{text:?}");
    }
    for text in ["", "yes", "on", "2", "-1", "tru"] {
        let settings = from(&[("AZURE_COSMOS_PPCB_ENABLED_OVERRIDE", text)]);
        assert!(settings.enabled(), "{text:?}");
    }
}

#[test]
fn booleans_are_read_in_any_case_and_blanks_around_do_not_matter() {
    for text in ["false", "False", "FALSE", "0", " false ", "\tfalse\n"] {
        assert!(!from(&[("AZURE_COSMOS_PPCB_ENABLED", text)]).enabled());
    }
    for text in ["true", "True", "TRUE", "1", " 1 "] {
        let kill = ("AZURE_COSMOS_ENABLE_CIRCUIT_BREAKER", "false");
        assert!(from(&[("AZURE_COSMOS_PPCB_ENABLED", text), kill]).enabled());
    }
    let reads = ("AZURE_COSMOS_PPCB_READ_FAILURE_THRESHOLD", " 7 ");
    assert_eq!(from(&[reads]).tolerated(Access::Read), 7);
}

#[test]
fn a_number_that_is_out_of_range_becomes_the_nearest_that_is_not() {
    let huge = "170141183460469231731687303715884105727";
    for (text, reads, percentage, window, next) in [
        ("0", 1, 1, 1, 1),
        ("-5", 1, 1, 1, 1),
        ("1", 1, 1, 1, 1),
        ("100", 100, 100, 100, 100),
        ("101", 101, 100, 101, 101),
        ("86400001", 86_400_001, 100, 86_400_000, 86_400),
        (huge, u32::MAX, 100, 86_400_000, 86_400),
    ] {
        let settings = from(&[
            ("AZURE_COSMOS_PPCB_READ_FAILURE_THRESHOLD", text),
            ("AZURE_COSMOS_FAILURE_PERCENTAGE_TOLERATED", text),
            ("AZURE_COSMOS_PPCB_COUNTER_RESET_WINDOW_MS", text),
            (
                "AZURE_COSMOS_STALE_PARTITION_UNAVAILABILITY_CHECK_IN_SECONDS",
                text,
            ),
        ]);
        assert_eq!(settings.tolerated(Access::Read), reads, "{text}");
        assert_eq!(settings.failure_percentage(), percentage, "{text}");
        assert_eq!(settings.window(), Duration::from_millis(window), "{text}");
        assert_eq!(settings.next_wait(), seconds(next), "{text}");
    }
}

#[test]
fn bad_numbers_in_code_are_errors_that_name_the_setting() {
    let day = seconds(24 * 60 * 60);
    let longer = day + Duration::from_nanos(1);
    let new = BreakerOptions::new;
    for (options, message) in [
        (new().reads_tolerated(0), "reads_tolerated: must not be 0"),
        (new().writes_tolerated(0), "writes_tolerated: must not be 0"),
        (new().min_requests(0), "min_requests: must not be 0"),
        (new().capacity(0), "capacity: must not be 0"),
        (
            new().failure_percentage(0),
            "failure_percentage: must be from 1 to 100",
        ),
        (
            new().failure_percentage(101),
            "failure_percentage: must be from 1 to 100",
        ),
        (
            new().window(Duration::ZERO),
            "window: must be longer than nothing",
        ),
        (
            new().first_wait(Duration::ZERO),
            "first_wait: must be longer than nothing",
        ),
        (
            new().next_wait(Duration::ZERO),
            "next_wait: must be longer than nothing",
        ),
        (
            new().lease_limit(Duration::ZERO),
            "lease_limit: must be longer than nothing",
        ),
        (new().window(longer), "window: must be a day at most"),
        (
            new().first_wait(longer),
            "first_wait: must be a day at most",
        ),
        (new().next_wait(longer), "next_wait: must be a day at most"),
        (
            new().lease_limit(Duration::MAX),
            "lease_limit: must be a day at most",
        ),
    ] {
        assert_eq!(options.build().unwrap_err().to_string(), message);
    }
    let most = new()
        .window(day)
        .first_wait(day)
        .next_wait(day)
        .lease_limit(day)
        .failure_percentage(100)
        .capacity(u32::MAX);
    assert!(most.build().is_ok());
    let least = new().failure_percentage(1).window(Duration::from_nanos(1));
    assert!(least.build().is_ok());
}

#[test]
fn a_setting_that_code_gives_is_not_looked_up() {
    let asked = RefCell::new(Vec::new());
    let options = BreakerOptions::new().reads_tolerated(3).enabled(true);
    let settings = options.resolve(|name| {
        asked.borrow_mut().push(name.to_owned());
        None
    });
    assert!(settings.is_ok());
    let asked = asked.into_inner();
    assert!(
        asked
            .iter()
            .any(|name| name == "AZURE_COSMOS_PPCB_ENABLED_OVERRIDE")
    );
    assert!(!asked.iter().any(|name| name.contains("READ")), "{asked:?}");
    assert!(
        !asked.iter().any(|name| name == "AZURE_COSMOS_PPCB_ENABLED"),
        "{asked:?}"
    );
}
