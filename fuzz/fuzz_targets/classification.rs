//! What a request does, and its container, for any method and path.
#![no_main]

use cosmos_core::{Operation, headers};
use http::{HeaderMap, HeaderValue, Method};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (&str, &str, u8)| {
    let (method, path, flags) = data;
    let Ok(method) = Method::from_bytes(method.as_bytes()) else {
        return;
    };
    let mut map = HeaderMap::new();
    for (bit, name) in [
        headers::IS_QUERY,
        headers::IS_UPSERT,
        headers::A_IM,
        headers::PARTITION_KEY,
    ]
    .into_iter()
    .enumerate()
    {
        if flags & 1 << bit != 0 {
            map.insert(name, HeaderValue::from_static("True"));
        }
    }
    if let Some(operation) = Operation::classify(&method, path, &map) {
        assert_ne!(operation.is_read(), operation.is_write());
        assert_ne!(operation.is_document(), operation.is_metadata());
    }
    if let Some(link) = Operation::container_of(path) {
        assert_eq!(link.split('/').count(), 4, "{link}");
    }
});
