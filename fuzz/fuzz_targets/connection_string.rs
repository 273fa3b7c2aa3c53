//! A connection string is read or refused, and its key never shows.
#![no_main]

use cosmos_core::ConnectionString;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(parsed) = text.parse::<ConnectionString>() {
        assert!(parsed.endpoint().host().is_some());
        assert!(format!("{parsed:?}").len() < 10_000 + text.len());
    }
});
