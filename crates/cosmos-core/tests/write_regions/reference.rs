//! The memory beside a plain list of everything that was confirmed.

use cosmos_core::write_regions::WriteRegions;
use cosmos_core::{Partition, RangeId, Region};
use proptest::prelude::*;

use crate::region;

const LINKS: [&str; 2] = ["dbs/a/colls/a", "dbs/a/colls/b"];
const REGIONS: [&str; 3] = ["Hub", "A", "B"];

#[derive(Clone, Debug)]
enum Step {
    /// Container, range, region, how far behind the newest number.
    Confirmed(usize, u32, usize, u64),
    ForgetContainer(usize),
    ForgetRange(usize, u32),
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..LINKS.len(), 0..4_u32, 0..REGIONS.len(), prop_oneof![3 => Just(0), 1 => 0..9_u64])
            .prop_map(|(link, range, region, behind)| Step::Confirmed(link, range, region, behind)),
        1 => (0..LINKS.len()).prop_map(Step::ForgetContainer),
        1 => (0..LINKS.len(), 0..4_u32).prop_map(|(link, range)| Step::ForgetRange(link, range)),
        1 => Just(Step::Clear),
    ]
}

/// What was confirmed and taken in, oldest first; the number is the attempt's.
#[derive(Debug, Default)]
struct List {
    records: Vec<(usize, u32, Option<Region>, u64)>,
    // What was confirmed by the hub, or before everything was cleared, ends at this number.
    floor: Option<u64>,
}

impl List {
    fn last(&self, link: usize, range: u32) -> Option<(Region, u64)> {
        self.records
            .iter()
            .rev()
            .find(|record| (record.0, record.1) == (link, range))
            .and_then(|record| record.2.map(|region| (region, record.3)))
    }

    fn confirmed(&mut self, link: usize, range: u32, at: Option<Region>, sequence: u64) {
        match self.last(link, range) {
            Some((_, newest)) if newest >= sequence => return,
            None if at.is_none() || self.floor.is_some_and(|floor| sequence <= floor) => return,
            Some(_) if at.is_none() => self.floor = self.floor.max(Some(sequence)),
            _ => {}
        }
        self.records.push((link, range, at, sequence));
    }

    fn forget(&mut self, forgotten: impl Fn(usize, u32) -> bool) {
        self.records.retain(|record| !forgotten(record.0, record.1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_remembered_is_the_last_of_what_was_confirmed(
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let regions = WriteRegions::default();
        let mut list = List::default();
        let ranges: Vec<RangeId> = (0..4).map(RangeId::from).collect();
        let partition = |link: usize, range: u32| Partition {
            container: LINKS[link],
            range: (range > 0).then(|| &ranges[range as usize]),
        };
        let hub = region(REGIONS[0]);
        for (newest, step) in (1_u64..).zip(&steps) {
            match *step {
                Step::Confirmed(link, range, at, behind) => {
                    let (at, sequence) = (region(REGIONS[at]), newest.saturating_sub(behind));
                    regions.confirmed(partition(link, range), at, hub, sequence);
                    list.confirmed(link, range, (at != hub).then_some(at), sequence);
                }
                Step::ForgetContainer(link) => {
                    regions.forget_container(LINKS[link], newest);
                    list.forget(|of, _| of == link);
                    list.floor = Some(newest);
                }
                Step::ForgetRange(link, range) => {
                    if range > 0 {
                        regions.forget_range(LINKS[link], &ranges[range as usize], newest);
                        list.forget(|of, which| (of, which) == (link, range));
                        list.floor = Some(newest);
                    }
                }
                Step::Clear => {
                    regions.clear(newest);
                    list.forget(|_, _| true);
                    list.floor = Some(newest);
                }
            }
            for link in 0..LINKS.len() {
                for range in 0..4 {
                    let expected = list.last(link, range).map(|(region, _)| region);
                    prop_assert_eq!(regions.remembered(partition(link, range)), expected);
                }
            }
        }
    }
}
