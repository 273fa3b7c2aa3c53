//! Tokens come back as they were, and merging them goes by no order.
#![no_main]

use cosmos_core::session::segments;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|header: &str| {
    let tokens: Vec<_> = segments(header).map(|(_, token)| token).collect();
    for token in &tokens {
        let text = token.to_string();
        assert_eq!(text.parse().ok().as_ref(), Some(token));
    }
    for pair in tokens.windows(2) {
        let _ = pair[0].merge(&pair[1]);
        assert_eq!(pair[0].merge(&pair[0]), pair[0]);
    }
});
