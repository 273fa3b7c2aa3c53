//! Random histories of splits and merges, read at once and step by step.

use cosmos_core::partition::{RangeMap, RangePage};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{epk, ids, range};

/// Bounds are numbers here; the last one is where all ranges end.
const END: u32 = 0xff00;

fn hex(bound: u32) -> String {
    match bound {
        0 => String::new(),
        END => "FF".to_owned(),
        bound => format!("{bound:04X}"),
    }
}

/// What has happened to a range.
#[derive(Clone, Copy, Debug)]
enum Step {
    Split(Index, Index),
    /// With the next one.
    Merge(Index),
    /// The client reads what is new, in pages of so many ranges.
    Read(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (any::<Index>(), any::<Index>()).prop_map(|(range, at)| Step::Split(range, at)),
        1 => any::<Index>().prop_map(Step::Merge),
        1 => (1..5_usize).prop_map(Step::Read),
    ]
}

#[derive(Clone, Debug)]
struct Made {
    id: usize,
    min: u32,
    max: u32,
    parents: Vec<usize>,
    ancestors: Vec<usize>,
}

/// The service: every range that was ever made, in that order, and those there are now.
struct Service {
    made: Vec<Made>,
    present: Vec<usize>,
    /// Whether ranges name all that they came from, or only the last of them.
    names_all: bool,
    /// Whether the feed lists ranges that are gone already.
    lists_gone: bool,
}

impl Service {
    fn new(names_all: bool, lists_gone: bool) -> Self {
        let first = Made {
            id: 0,
            min: 0,
            max: END,
            parents: vec![],
            ancestors: vec![],
        };
        Self {
            made: vec![first],
            present: vec![0],
            names_all,
            lists_gone,
        }
    }

    fn make(&mut self, min: u32, max: u32, parents: &[usize]) -> usize {
        let id = self.made.len();
        let mut ancestors: Vec<usize> = parents.to_vec();
        for parent in parents {
            ancestors.extend(&self.made[*parent].ancestors);
        }
        ancestors.sort_unstable();
        ancestors.dedup();
        self.made.push(Made {
            id,
            min,
            max,
            parents: parents.to_vec(),
            ancestors,
        });
        id
    }

    fn split(&mut self, range: Index, at: Index) {
        let position = range.index(self.present.len());
        let Made { id, min, max, .. } = self.made[self.present[position]];
        if max - min > 1 {
            let at = min + 1 + u32::try_from(at.index((max - min - 1) as usize)).unwrap();
            let children = [self.make(min, at, &[id]), self.make(at, max, &[id])];
            self.present.splice(position..=position, children);
        }
    }

    fn merge(&mut self, range: Index) {
        let position = range.index(self.present.len());
        if let [left, right, ..] = self.present[position..] {
            let child = self.make(self.made[left].min, self.made[right].max, &[left, right]);
            self.present.splice(position..=position + 1, [child]);
        }
    }

    /// What was made from a moment on, in pages.
    fn pages(&self, from: usize, size: usize) -> Vec<RangePage> {
        let listed: Vec<String> = self.made[from..]
            .iter()
            .filter(|made| self.lists_gone || self.present.contains(&made.id))
            .map(|made| self.entry(made))
            .collect();
        let pages = listed.chunks(size).map(|entries| {
            let body = format!(r#"{{"PartitionKeyRanges":[{}]}}"#, entries.join(","));
            RangePage::parse(body.as_bytes()).unwrap()
        });
        pages.collect()
    }

    fn entry(&self, made: &Made) -> String {
        let parents = if self.names_all {
            &made.ancestors
        } else {
            &made.parents
        };
        let parents: Vec<String> = parents.iter().map(ToString::to_string).collect();
        let (min, max) = (hex(made.min), hex(made.max));
        range((&made.id.to_string(), &min, &max, &parents.join(" ")), None)
    }

    fn check(&self, map: &RangeMap) -> Result<(), TestCaseError> {
        let present: Vec<String> = self.present.iter().map(ToString::to_string).collect();
        prop_assert_eq!(ids(map.ids()), present.join(" "));
        for made in &self.made {
            let id = made.id.to_string().as_str().into();
            let there = self.present.contains(&made.id);
            prop_assert_eq!(map.contains(&id), there);
            let mut found: Vec<usize> = map
                .ancestors(&id)
                .iter()
                .map(|ancestor| ancestor.to_string().parse().unwrap())
                .collect();
            found.sort_unstable();
            let expected = if there { &made.ancestors[..] } else { &[] };
            prop_assert_eq!(&found, expected);
            let of_it = self.present.iter().map(|id| &self.made[*id]);
            let of_it = of_it.filter(|range| range.ancestors.contains(&made.id));
            let of_it: Vec<String> = of_it.map(|range| range.id.to_string()).collect();
            prop_assert_eq!(ids(map.descendants(&id)), of_it.join(" "));
        }
        for id in &self.present {
            let Made { min, max, .. } = self.made[*id];
            for key in [min, min + (max - min) / 2, max - 1] {
                prop_assert_eq!(map.find(&epk(&hex(key))).to_string(), id.to_string());
                let behind = format!("{key:04X}FFFF");
                prop_assert_eq!(map.find(&epk(&behind)).to_string(), id.to_string());
            }
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn what_is_read_step_by_step_is_what_is_read_at_once(
        steps in prop::collection::vec(step(), 0..40),
        (names_all, lists_gone) in prop_oneof![
            Just((true, false)),
            Just((true, true)),
            Just((false, true)),
        ],
        size in 1..9_usize,
    ) {
        let mut service = Service::new(names_all, lists_gone);
        let mut map = RangeMap::build(service.pages(0, 1)).unwrap();
        let mut read = 1;
        for step in steps.into_iter().chain([Step::Read(size)]) {
            match step {
                Step::Split(range, at) => service.split(range, at),
                Step::Merge(range) => service.merge(range),
                Step::Read(size) if read < service.made.len() => {
                    let newer = map.updated(service.pages(read, size)).unwrap();
                    for id in newer.gone_since(&map) {
                        prop_assert!(map.contains(&id) && !newer.contains(&id));
                    }
                    read = service.made.len();
                    map = newer;
                    service.check(&map)?;
                }
                Step::Read(_) => {}
            }
        }
        service.check(&RangeMap::build(service.pages(0, size)).unwrap())?;
        // A reader that was away for the whole time, and one that hears everything again.
        let away = RangeMap::build(Service::new(names_all, lists_gone).pages(0, 1)).unwrap();
        service.check(&away.updated(service.pages(0, size)).unwrap())?;
        service.check(&map.updated(service.pages(0, size)).unwrap())?;
    }

    #[test]
    fn a_page_that_is_missing_never_leaves_a_hole(
        steps in prop::collection::vec(step(), 1..20),
        lists_gone in any::<bool>(),
        missing in any::<Index>(),
    ) {
        let mut service = Service::new(true, lists_gone);
        let before = RangeMap::build(service.pages(0, 1)).unwrap();
        for step in steps {
            match step {
                Step::Split(range, at) => service.split(range, at),
                Step::Merge(range) => service.merge(range),
                Step::Read(_) => {}
            }
        }
        let mut pages = service.pages(0, 1);
        pages.remove(missing.index(pages.len()));
        for map in [before.updated(pages.clone()), RangeMap::build(pages)].into_iter().flatten() {
            let mut end = 0;
            for id in map.ids() {
                let made = &service.made[id.to_string().parse::<usize>().unwrap()];
                prop_assert_eq!(made.min, end);
                end = made.max;
            }
            prop_assert_eq!(end, END);
        }
    }
}
