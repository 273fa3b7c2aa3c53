//! The table beside a plain map of machines: whatever it does to save memory must not show.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use cosmos_core::health::{Circuits, Effect, Event, Health, Role, Signal, State};
use cosmos_core::selection::{Standing, Standings};
use cosmos_core::{Access, Partition, RangeId, Region};
use proptest::prelude::*;

use crate::histories::sequences;
use crate::reference::small;
use crate::{region, start};

const LINKS: [&str; 3] = ["dbs/a/colls/a", "dbs/a/colls/b", "dbs/b/colls/a"];
const REGIONS: [&str; 2] = ["A", "B"];

/// Which partition, as numbers: a container and a range (none for 0).
type Place = (usize, u32);

#[derive(Clone, Debug)]
enum Step {
    Wait(u16),
    Record(Place, usize, Access, Signal, Role, u64),
    Reconnect(Place, usize, Signal, u64),
    Probe(Place, usize),
    Release(Place, usize, u64),
    ForgetContainer(usize),
    ForgetRange(Place),
}

fn place() -> impl Strategy<Value = Place> {
    (0..LINKS.len(), 0..4_u32)
}

fn signal() -> impl Strategy<Value = Signal> {
    prop_oneof![6 => Just(Signal::Failure), 2 => Just(Signal::Success), 1 => Just(Signal::Neutral)]
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![4 => Just(Role::Ordinary), 2 => Just(Role::Probe), 1 => Just(Role::LastResort)]
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![3 => Just(Access::Read), 1 => Just(Access::Write)]
}

fn step() -> impl Strategy<Value = Step> {
    let within = 0..REGIONS.len();
    // How far behind the newest number.
    let behind = prop_oneof![4 => Just(0), 1 => 0..12_u64];
    prop_oneof![
        8 => (0..120_u16).prop_map(Step::Wait),
        48 => (place(), within.clone(), access(), signal(), role(), behind.clone())
            .prop_map(|(place, region, access, signal, role, behind)| {
                Step::Record(place, region, access, signal, role, behind)
            }),
        8 => (place(), within.clone(), signal(), behind.clone())
            .prop_map(|(place, region, signal, behind)| {
                Step::Reconnect(place, region, signal, behind)
            }),
        16 => (place(), within.clone()).prop_map(|(place, region)| Step::Probe(place, region)),
        4 => (place(), within, behind)
            .prop_map(|(place, region, behind)| Step::Release(place, region, behind)),
        1 => (0..LINKS.len()).prop_map(Step::ForgetContainer),
        4 => place().prop_map(Step::ForgetRange),
    ]
}

struct World {
    circuits: Circuits,
    naive: HashMap<(Place, Region), Health>,
    ranges: Vec<RangeId>,
    now: Instant,
    newest: u64,
}

impl World {
    fn partition(&self, (link, range): Place) -> Partition<'_> {
        Partition {
            container: LINKS[link],
            range: (range > 0).then(|| &self.ranges[range as usize]),
        }
    }

    fn record(&mut self, place: Place, event: &Event) -> Result<(), TestCaseError> {
        let told = self
            .circuits
            .record(self.partition(place), event, self.now)
            .map(|transition| (transition.from, transition.to));
        let health = self.naive.entry((place, event.region)).or_default();
        let expected = match health.record(self.circuits.settings(), event, self.now) {
            Effect::Moved { from, to } => Some((from, to)),
            _ => None,
        };
        prop_assert_eq!(told, expected, "{:?} {:?}", place, event);
        Ok(())
    }

    fn apply(&mut self, step: &Step) -> Result<(), TestCaseError> {
        self.newest += 1;
        match *step {
            Step::Wait(tenths) => self.now += Duration::from_millis(100 * u64::from(tenths)),
            Step::Record(place, at, access, signal, role, behind) => {
                let event = Event {
                    region: region(REGIONS[at]),
                    access,
                    sequence: self.newest.saturating_sub(behind),
                    newest: self.newest,
                    role,
                    signal,
                    replaces: None,
                    settles: None,
                };
                self.record(place, &event)?;
            }
            Step::Reconnect(place, at, signal, behind) => {
                let replaced = self.newest.saturating_sub(behind + 1);
                let event = Event {
                    region: region(REGIONS[at]),
                    ..crate::Changed::replacing(
                        crate::event(self.newest, signal),
                        replaced,
                        self.now,
                    )
                };
                self.record(place, &event)?;
            }
            Step::Probe(place, at) => {
                let at = region(REGIONS[at]);
                let taken = self
                    .circuits
                    .take_probe(self.partition(place), at, self.newest, self.now)
                    .is_some();
                let health = self.naive.entry((place, at)).or_default();
                let expected = health.take_probe(self.circuits.settings(), self.newest, self.now);
                prop_assert_eq!(taken, expected);
            }
            Step::Release(place, at, behind) => {
                let at = region(REGIONS[at]);
                let sequence = self.newest.saturating_sub(behind + 1);
                self.circuits
                    .release(self.partition(place), at, sequence, self.now);
                let health = self.naive.entry((place, at)).or_default();
                health.release(sequence, self.now);
            }
            Step::ForgetContainer(link) => {
                self.circuits.forget_container(LINKS[link]);
                self.naive.retain(|((of, _), _), _| *of != link);
            }
            Step::ForgetRange(place) => {
                if place.1 > 0 {
                    let range = &self.ranges[place.1 as usize];
                    self.circuits.forget_range(LINKS[place.0], range);
                    self.naive.retain(|(of, _), _| *of != place);
                }
            }
        }
        self.compare()
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        let mut open = 0;
        for (&(place, at), health) in &self.naive {
            let expected = match health.state(self.now) {
                State::Healthy => Standing::Good,
                _ if health.is_due(self.now) => Standing::Due,
                _ => Standing::Bad,
            };
            open += usize::from(health.is_open());
            let standings = self.circuits.standings(self.partition(place), self.now);
            prop_assert_eq!(standings.standing(at, Access::Read), expected);
        }
        let counters = self.circuits.counters();
        prop_assert!(counters.open >= open);
        let list = self.circuits.list(self.now);
        let listed = list
            .iter()
            .filter(|circuit| circuit.state != State::Healthy)
            .count();
        prop_assert_eq!(listed, open);
        prop_assert!(counters.tracked >= list.len());
        // What the list has of healthy partitions is theirs, or their window has passed.
        for circuit in &list {
            let link = LINKS.iter().position(|link| **link == *circuit.container);
            let range = self
                .ranges
                .iter()
                .position(|range| Some(range) == circuit.range.as_ref());
            let place = (
                link.unwrap(),
                u32::try_from(range.unwrap_or_default()).unwrap(),
            );
            let health = self.naive.get(&(place, circuit.region));
            prop_assert_eq!(circuit.reads, health.unwrap().counts(Access::Read));
            prop_assert_eq!(circuit.writes, health.unwrap().counts(Access::Write));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sequences() / 4))]

    #[test]
    fn the_table_is_a_map_of_machines(steps in prop::collection::vec(step(), 1..150)) {
        let mut world = World {
            circuits: Circuits::new(small()),
            naive: HashMap::new(),
            ranges: (0..4).map(RangeId::from).collect(),
            now: start(),
            newest: 0,
        };
        let began = world.now;
        for step in &steps {
            // An open circuit that nobody asks for is kept for ten minutes.
            if world.now.duration_since(began) > Duration::from_secs(590) {
                break;
            }
            world.apply(step)?;
        }
    }
}
