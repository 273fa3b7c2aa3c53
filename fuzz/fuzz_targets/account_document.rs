//! An account document either gives regions that can be routed to, or is refused.
#![no_main]

use cosmos_core::{Access, Endpoint, Topology};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let global = Endpoint::parse("https://account.test/").expect("an endpoint");
    let Ok(topology) = Topology::parse(data, &global, &[]) else {
        return;
    };
    assert!(topology.hub().is_some());
    for access in [Access::Read, Access::Write] {
        let order = topology.order(access);
        assert!(!order.is_empty());
        for region in order {
            assert!(topology.endpoint(*region, access).is_some());
        }
    }
    for region in topology.write_order_everywhere() {
        assert!(topology.endpoint(*region, Access::Write).is_some());
    }
    let _ = topology.clone().succeeding(&topology);
});
