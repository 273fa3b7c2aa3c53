//! Pages of ranges either give a map without a hole, or are refused; one page a line.
#![no_main]

use cosmos_core::partition::{Epk, RangeMap, RangePage};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let read = |half: &[u8]| -> Vec<RangePage> {
        let lines = half.split(|byte| *byte == b'\n');
        lines
            .filter_map(|line| RangePage::parse(line).ok())
            .collect()
    };
    let (first, second) = data.split_at(data.len() / 2);
    let Ok(map) = RangeMap::build(read(first)) else {
        return;
    };
    assert!(map.len() >= 1);
    for epk in [Epk::MIN, Epk::MAX] {
        assert!(map.contains(map.find(&epk)));
    }
    if let Ok(next) = map.updated(read(second)) {
        for id in next.gone_since(&map) {
            assert!(!next.contains(&id));
        }
    }
});
