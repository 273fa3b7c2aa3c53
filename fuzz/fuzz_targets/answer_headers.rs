//! Status, substatus and delay of an answer, whatever its headers hold.
#![no_main]

use cosmos_core::policy::throttle;
use cosmos_core::{Status, headers};
use http::{HeaderMap, HeaderValue, StatusCode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (u16, Vec<u8>, Vec<u8>)| {
    let (code, substatus, delay) = data;
    let Ok(code) = StatusCode::from_u16(code) else {
        return;
    };
    let mut map = HeaderMap::new();
    for (name, bytes) in [
        (headers::SUBSTATUS, substatus),
        (headers::RETRY_AFTER_MS, delay),
    ] {
        if let Ok(value) = HeaderValue::from_bytes(&bytes) {
            map.insert(name, value);
        }
    }
    let status = Status::of(code, &map);
    assert_eq!(status.code(), code.as_u16());
    let _ = (status.to_string(), throttle::hint(&map));
});
