//! The one instant at which an operation must have ended.

use std::time::Duration;

use cosmos_core::{OperationOptions, Route};

use crate::{READ, ms, now};

#[test]
fn the_tighter_of_timeout_and_deadline_holds() {
    let now = now();
    for (timeout, deadline, expected) in [
        (None, None, None),
        (Some(100), None, Some(100)),
        (None, Some(80), Some(80)),
        (Some(100), Some(80), Some(80)),
        (Some(60), Some(80), Some(60)),
    ] {
        let mut options = OperationOptions::new();
        if let Some(timeout) = timeout {
            options = options.timeout(ms(timeout));
        }
        if let Some(deadline) = deadline {
            options = options.deadline(now + ms(deadline));
        }
        let route = Route::new(READ, Some(&options), now);
        assert_eq!(
            route.deadline(),
            expected.map(|expected| now + ms(expected))
        );
        assert_eq!(route.journal().deadline(), route.deadline());
        assert_eq!(route.journal().began(), now);
    }
}

#[test]
fn a_limit_only_ever_tightens_and_counts_from_the_beginning() {
    let now = now();
    let route = Route::new(READ, None, now);
    assert_eq!(route.limit(None), None);
    assert_eq!(route.limit(Some(ms(100))), Some(now + ms(100)));
    assert_eq!(route.clone().limit(Some(ms(200))), Some(now + ms(100)));
    assert_eq!(route.limit(None), Some(now + ms(100)));
    assert_eq!(route.limit(Some(ms(50))), Some(now + ms(50)));
    assert_eq!(route.deadline(), Some(now + ms(50)));

    let options = OperationOptions::new().timeout(ms(30));
    let tight = Route::new(READ, Some(&options), now);
    assert_eq!(tight.limit(Some(ms(100))), Some(now + ms(30)));
}

#[test]
fn a_timeout_beyond_what_the_clock_can_hold_is_no_deadline() {
    let now = now();
    let endless = OperationOptions::new().timeout(Duration::MAX);
    let route = Route::new(READ, Some(&endless), now);
    assert_eq!(route.deadline(), None);
    assert_eq!(route.limit(Some(Duration::MAX)), None);
    assert!(!route.expired(now + Duration::from_secs(1_000_000_000)));
    assert_eq!(route.limit(Some(ms(5))), Some(now + ms(5)));
    assert_eq!(route.limit(Some(Duration::MAX)), Some(now + ms(5)));
    let both = endless.deadline(now + ms(7));
    assert_eq!(
        Route::new(READ, Some(&both), now).deadline(),
        Some(now + ms(7))
    );
}

#[test]
fn expiry_is_remembered_from_the_instant_on() {
    let now = now();
    let route = Route::new(READ, None, now);
    let _ = route.limit(Some(ms(100)));
    assert!(!route.expired(now + ms(99)));
    assert!(!route.journal().deadline_expired());
    assert!(route.expired(now + ms(100)));
    assert!(route.journal().deadline_expired());
    assert!(route.clone().expired(now));
}
