//! What threads share, under every order in which two or three of them can meet on it.
//!
//! ```sh
//! RUSTFLAGS="--cfg cosmos_loom" CARGO_TARGET_DIR=target/loom \
//!     cargo test -p cosmos-core --test loom
//! ```
//!
//! The tables then have two shards: threads meet in one, or only in what the shards share.
#![cfg(cosmos_loom)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use cosmos_core::flight::{Flight, Stage};
use cosmos_core::health::{BreakerOptions, Circuits, Event, Role, Signal, State, Transition};
use cosmos_core::policy::Jitter;
use cosmos_core::selection::{Standing, Standings};
use cosmos_core::write_regions::WriteRegions;
use cosmos_core::{Access, Partition, RangeId, Region};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

const LINK: &str = "dbs/shop/colls/carts";

/// What the threads of a model share.
#[derive(Clone)]
struct World {
    circuits: Arc<Circuits>,
    range: RangeId,
    region: Region,
    now: Instant,
}

impl World {
    fn new(tolerated: u32, capacity: u32) -> Self {
        let settings = BreakerOptions::new()
            .reads_tolerated(tolerated)
            .capacity(capacity)
            .jitter(Jitter::None)
            .build()
            .unwrap();
        #[allow(clippy::disallowed_methods)]
        let now = Instant::now();
        Self {
            circuits: Arc::new(Circuits::new(settings)),
            range: RangeId::from(7),
            region: Region::named("A").unwrap(),
            now,
        }
    }

    /// Tripped, and due for a probe.
    fn due() -> Self {
        let mut world = Self::new(1, 100);
        assert!(world.record(1, Role::Ordinary, Signal::Failure).is_some());
        world.now += Duration::from_secs(60);
        world
    }

    fn partition(&self) -> Partition<'_> {
        Partition {
            container: LINK,
            range: Some(&self.range),
        }
    }

    fn record(&self, sequence: u64, role: Role, signal: Signal) -> Option<Transition> {
        let event = Event {
            region: self.region,
            access: Access::Read,
            sequence,
            newest: sequence,
            role,
            signal,
            replaces: None,
            settles: None,
        };
        self.circuits.record(self.partition(), &event, self.now)
    }

    /// One failed read of another range.
    fn fail_of_range(&self, range: u32) {
        let other = Self {
            range: RangeId::from(range),
            ..self.clone()
        };
        other.record(1, Role::Ordinary, Signal::Failure);
    }

    fn probe(&self, sequence: u64) -> bool {
        self.circuits
            .take_probe(self.partition(), self.region, sequence, self.now)
            .is_some()
    }

    fn release(&self, sequence: u64) {
        self.circuits
            .release(self.partition(), self.region, sequence, self.now);
    }

    fn standing(&self) -> Standing {
        self.circuits
            .standings(self.partition(), self.now)
            .standing(self.region, Access::Read)
    }

    /// Runs the parts at once, and gives what each returned.
    fn together<T: 'static>(&self, parts: Vec<fn(&World) -> T>) -> Vec<T> {
        let threads: Vec<_> = parts
            .into_iter()
            .map(|part| {
                let world = self.clone();
                thread::spawn(move || part(&world))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    }

    /// The counts agree with what is there.
    fn check(&self) {
        let list = self.circuits.list(self.now);
        let counters = self.circuits.counters();
        let open = list
            .iter()
            .filter(|circuit| circuit.state != State::Healthy)
            .count();
        assert_eq!((counters.tracked, counters.open), (list.len(), open));
    }
}

fn model(check: impl Fn() + Send + Sync + 'static) {
    // Interned once: that is not what is checked.
    Region::named("A").unwrap();
    loom::model(check);
}

#[test]
fn failures_of_three_threads_trip_once() {
    model(|| {
        let world = World::new(2, 100);
        let transitions = world.together(vec![
            |world| world.record(1, Role::Ordinary, Signal::Failure),
            |world| world.record(2, Role::Ordinary, Signal::Failure),
            |world| world.record(3, Role::Ordinary, Signal::Failure),
        ]);
        assert_eq!(transitions.iter().flatten().count(), 1);
        assert_eq!(world.standing(), Standing::Bad);
        world.check();
    });
}

#[test]
fn one_of_three_threads_gets_the_lease() {
    model(|| {
        let world = World::due();
        let taken = world.together(vec![
            |world| world.probe(10),
            |world| world.probe(11),
            |world| world.probe(12),
        ]);
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
        assert_eq!(world.standing(), Standing::Bad);
    });
}

#[test]
fn a_lease_that_is_given_back_while_its_verdict_comes_wedges_nothing() {
    model(|| {
        let world = World::due();
        assert!(world.probe(10));
        let others = world.together(vec![
            |world| {
                world.release(10);
                false
            },
            |world| world.record(10, Role::Probe, Signal::Success).is_some(),
            |world| world.probe(11),
        ]);
        match (others[1], others[2]) {
            // The verdict came first.
            (true, false) => assert_eq!(world.standing(), Standing::Good),
            // It came too late, and somebody else probes.
            (false, true) => assert_eq!(world.standing(), Standing::Bad),
            (false, false) => assert_eq!(world.standing(), Standing::Due),
            (true, true) => panic!("a probe beside the one that closed the circuit"),
        }
        world.check();
    });
}

#[test]
fn a_last_resort_that_closes_and_a_probe_that_fails_agree_on_one_end() {
    model(|| {
        let world = World::due();
        assert!(world.probe(10));
        let moved = world.together(vec![
            |world| world.record(11, Role::LastResort, Signal::Success),
            |world| world.record(10, Role::Probe, Signal::Failure),
        ]);
        // The last resort closes it in either order; the probe's verdict counts only before.
        assert_eq!(moved[0].as_ref().unwrap().to, State::Healthy);
        assert_eq!(world.standing(), Standing::Good);
        assert_eq!(
            world.circuits.counters().late,
            u64::from(moved[1].is_none())
        );
        world.check();
    });
}

#[test]
fn a_container_that_is_forgotten_while_it_fails_is_kept_whole_or_not_at_all() {
    model(|| {
        let world = World::new(1, 100);
        let done = world.together(vec![
            |world| {
                world.circuits.forget_container(LINK);
                false
            },
            |world| world.record(1, Role::Ordinary, Signal::Failure).is_some(),
            |world| world.standing() == Standing::Bad,
        ]);
        assert!(done[1], "the failure tripped it, whenever that was");
        let listed = world.circuits.list(world.now).len();
        assert_eq!(listed == 1, world.standing() == Standing::Bad);
        // What was forgotten goes with the next outcome that is recorded.
        world.record(2, Role::Ordinary, Signal::Neutral);
        world.check();
    });
}

#[test]
fn a_range_that_is_forgotten_while_it_is_probed_leaves_no_count_behind() {
    model(|| {
        let world = World::due();
        let done = world.together(vec![
            |world| {
                world.circuits.forget_range(LINK, &world.range);
                false
            },
            |world| world.probe(10) && world.record(10, Role::Probe, Signal::Success).is_some(),
        ]);
        assert_eq!(world.standing(), Standing::Good);
        assert_eq!(world.circuits.counters().closed, u64::from(done[1]));
        world.check();
        assert_eq!(world.circuits.counters().tracked, 0);
    });
}

#[test]
fn the_last_place_is_given_once() {
    // Some of these meet in one shard, some do not.
    for other in 2..=6 {
        model(move || {
            let world = World::new(5, 1);
            let failed = {
                let world = world.clone();
                thread::spawn(move || world.fail_of_range(1))
            };
            world.fail_of_range(other);
            failed.join().unwrap();
            let counters = world.circuits.counters();
            assert_eq!((counters.tracked, counters.untracked), (1, 1));
            world.check();
        });
    }
}

#[test]
fn a_slow_confirmation_does_not_overwrite_a_newer_one() {
    model(|| {
        let [hub, a, b] = ["Hub", "A", "B"].map(|name| Region::named(name).unwrap());
        let regions = Arc::new(WriteRegions::default());
        let confirm = move |regions: &WriteRegions, region, sequence| {
            let range = RangeId::from(7);
            let partition = Partition {
                container: LINK,
                range: Some(&range),
            };
            regions.confirmed(partition, region, hub, sequence);
            regions.remembered(partition)
        };
        let other = {
            let regions = Arc::clone(&regions);
            thread::spawn(move || confirm(&regions, a, 1))
        };
        confirm(&regions, b, 2);
        other.join().unwrap();
        let range = RangeId::from(7);
        let partition = Partition {
            container: LINK,
            range: Some(&range),
        };
        assert_eq!(regions.remembered(partition), Some(b));
        assert_eq!(regions.len(), 1);
    });
}

#[test]
fn of_all_who_ask_for_news_one_at_a_time_fetches_them() {
    model(|| {
        #[allow(clippy::disallowed_methods)]
        let now = Instant::now();
        let flight = Arc::new(Flight::default());
        let fetching = Arc::new(AtomicUsize::new(0));
        let fetch = move |flight: &Flight, fetching: &AtomicUsize| {
            let Ok(ticket) = flight.claim(now, Duration::ZERO) else {
                return 0;
            };
            assert_eq!(fetching.fetch_add(1, Ordering::AcqRel), 0, "alone");
            fetching.fetch_sub(1, Ordering::AcqRel);
            flight.end(&ticket);
            1
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (flight, fetching) = (Arc::clone(&flight), Arc::clone(&fetching));
                thread::spawn(move || fetch(&flight, &fetching))
            })
            .collect();
        let mine = fetch(&flight, &fetching);
        let fetched: usize = threads.into_iter().map(|t| t.join().unwrap()).sum();
        assert!(mine + fetched >= 1, "somebody fetches");
        assert_eq!(flight.stage(), Stage::Idle);
        assert_eq!(flight.started(), Some(now));
    });
}

#[test]
fn of_all_who_ask_before_it_is_due_one_waits_for_the_time() {
    model(|| {
        #[allow(clippy::disallowed_methods)]
        let now = Instant::now();
        let interval = Duration::from_secs(5);
        let flight = Arc::new(Flight::default());
        flight.end(&flight.claim(now, interval).unwrap());
        let other = {
            let flight = Arc::clone(&flight);
            thread::spawn(move || flight.claim(now, interval).map(|ticket| ticket.due()))
        };
        let mine = flight.claim(now, interval).map(|ticket| ticket.due());
        let claims = [mine, other.join().unwrap()];
        assert!(claims.contains(&Ok(now + interval)));
        assert!(claims.contains(&Err(Stage::Scheduled)));
    });
}
