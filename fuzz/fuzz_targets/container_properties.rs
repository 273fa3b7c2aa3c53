//! Whatever a container's document says, keys have a place or none.
#![no_main]

use cosmos_core::PartitionKey;
use cosmos_core::partition::ContainerProperties;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(properties) = ContainerProperties::parse(data) else {
        return;
    };
    assert!(!properties.rid().is_empty());
    let Some(definition) = properties.definition() else {
        return;
    };
    for key in [
        PartitionKey::from("a"),
        ("a", 1).into(),
        PartitionKey::empty(),
    ] {
        let _ = definition.effective(&key);
    }
});
