//! An account of three regions, and circuits in the state that a benchmark needs.

use std::time::Instant;

use cosmos_core::health::{BreakerOptions, Circuits, Event, Role, Signal};
use cosmos_core::selection::{AllGood, Choice, History, View, choose};
use cosmos_core::{
    Access, Action, Endpoint, FailureKind, Operation, Partition, RangeId, Region, RegionSet,
    Resource, Steering, Topology,
};

const CONTAINERS: [&str; 8] = [
    "dbs/shop/colls/carts",
    "dbs/shop/colls/orders",
    "dbs/shop/colls/customers",
    "dbs/shop/colls/articles",
    "dbs/stock/colls/places",
    "dbs/stock/colls/movements",
    "dbs/stock/colls/deliveries",
    "dbs/stock/colls/suppliers",
];

const ACCOUNT: &str = r#"{
    "writableLocations": [{"name": "East US", "databaseAccountEndpoint": "https://e.example/"}],
    "readableLocations": [
        {"name": "East US", "databaseAccountEndpoint": "https://e.example/"},
        {"name": "West US", "databaseAccountEndpoint": "https://w.example/"},
        {"name": "North Europe", "databaseAccountEndpoint": "https://n.example/"}
    ],
    "enableMultipleWriteLocations": false
}"#;

/// Circuits of so many partitions, and an account to choose in.
pub(crate) struct World {
    size: u32,
    circuits: Circuits,
    topology: Topology,
    history: History,
    region: Region,
    now: Instant,
}

impl World {
    /// Nothing tracked yet; however often a partition fails, it stays healthy.
    pub(crate) fn empty(size: u32) -> Self {
        Self::new(
            size,
            BreakerOptions::new()
                .reads_tolerated(u32::MAX)
                .min_requests(u32::MAX),
        )
    }

    /// So many partitions tracked, all healthy.
    pub(crate) fn tracking(size: u32) -> Self {
        let world = Self::empty(size);
        for number in 0..size {
            world.fail(number);
        }
        world
    }

    /// So many circuits open.
    pub(crate) fn open(size: u32) -> Self {
        let world = Self::new(size, BreakerOptions::new().reads_tolerated(1));
        for number in 0..size {
            world.fail(number);
        }
        world
    }

    fn new(size: u32, options: BreakerOptions) -> Self {
        let global = "https://account.example/"
            .parse::<Endpoint>()
            .expect("an endpoint");
        let topology = Topology::parse(ACCOUNT.as_bytes(), &global, &[]).expect("an account");
        Self {
            size,
            circuits: Circuits::new(options.build().expect("settings")),
            topology,
            history: History::default(),
            region: Region::named("East US").expect("a region"),
            now: now(),
        }
    }

    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// So many numbers of partitions in random order, always the same.
    pub(crate) fn calls(&self, calls: usize) -> Vec<u32> {
        let mut random = fastrand::Rng::with_seed(7);
        std::iter::repeat_with(|| random.u32(0..self.size.max(1)))
            .take(calls)
            .collect()
    }

    /// Records a failed read.
    pub(crate) fn fail(&self, number: u32) {
        let range = RangeId::from(number);
        let event = Event {
            region: self.region,
            access: Access::Read,
            sequence: 1,
            newest: 1,
            role: Role::Ordinary,
            signal: Signal::Failure,
            replaces: None,
            settles: None,
        };
        self.circuits
            .record(partition(number, &range), &event, self.now);
    }

    /// Chooses the region of a read.
    pub(crate) fn choose(&self, number: u32) -> Result<Choice, FailureKind> {
        let range = RangeId::from(number);
        let standings = self.circuits.standings(partition(number, &range), self.now);
        choose(&View {
            topology: &self.topology,
            scope: cosmos_core::selection::Scope::Listed,
            operation: Operation::new(Action::Read, Resource::Item),
            excluded: RegionSet::EMPTY,
            strict: false,
            steering: Steering::default(),
            history: &self.history,
            marks: &AllGood,
            circuits: Some(&standings),
        })
    }
}

fn partition(number: u32, range: &RangeId) -> Partition<'_> {
    Partition {
        container: CONTAINERS[number as usize % CONTAINERS.len()],
        range: Some(range),
    }
}

#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}
