//! A partition key's header comes back as it was, and has a place under every definition it fits.
#![no_main]

use cosmos_core::PartitionKey;
use cosmos_core::partition::{PartitionKeyDefinition, PartitionKeyKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|header: &str| {
    let Ok(key) = header.parse::<PartitionKey>() else {
        return;
    };
    let value = key.to_header_value();
    let text = value.to_str().expect("a header of ASCII");
    assert_eq!(text.parse::<PartitionKey>().ok().as_ref(), Some(&key));
    for kind in [
        PartitionKeyKind::HashV1,
        PartitionKeyKind::HashV2,
        PartitionKeyKind::MultiHash,
    ] {
        for paths in 1..4 {
            let definition = PartitionKeyDefinition::new(kind, paths).expect("a few paths");
            let place = definition.effective(&key);
            if key.values().len() == paths {
                assert!(place.is_some());
            }
        }
    }
});
