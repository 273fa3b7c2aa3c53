//! Circuits: what outcomes mean, every transition of the machine, the table of all circuits.
//!
//! `HEALTH_SEQUENCES=100000` sets how many random histories are compared with the reference.
#![allow(missing_docs, clippy::unwrap_used)]

mod bounds;
mod cases;
mod closing;
mod exhaustive;
mod histories;
mod leases;
mod lookups;
mod probes;
mod reconnects;
mod reference;
mod settings;
mod settling;
mod signals;
mod table_model;
mod threads;
mod transitions;

use std::time::{Duration, Instant};

use cosmos_core::health::{
    BreakerOptions, BreakerSettings, Circuits, Effect, Event, Health, Replaced, Role, Signal, State,
};
use cosmos_core::policy::Jitter;
use cosmos_core::{Access, Partition, RangeId, Region};

/// The documented settings with exact waits.
fn exact() -> BreakerSettings {
    BreakerOptions::new().jitter(Jitter::None).build().unwrap()
}

fn region(name: &str) -> Region {
    Region::named(name).unwrap()
}

#[allow(clippy::disallowed_methods)]
fn start() -> Instant {
    Instant::now()
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn carts(range: &RangeId) -> Partition<'_> {
    Partition {
        container: "dbs/shop/colls/carts",
        range: Some(range),
    }
}

/// The end of attempt `sequence`, the newest one, a read.
fn event(sequence: u64, signal: Signal) -> Event {
    Event {
        region: region("A"),
        access: Access::Read,
        sequence,
        newest: sequence,
        role: Role::Ordinary,
        signal,
        replaces: None,
        settles: None,
    }
}

fn failure(sequence: u64) -> Event {
    event(sequence, Signal::Failure)
}

fn success(sequence: u64) -> Event {
    event(sequence, Signal::Success)
}

fn neutral(sequence: u64) -> Event {
    event(sequence, Signal::Neutral)
}

/// Changes of an event, to be chained.
trait Changed {
    fn by(self, access: Access) -> Self;
    fn when_newest_was(self, newest: u64) -> Self;
    fn probing(self) -> Self;
    fn at_last_resort(self) -> Self;
    fn replacing(self, sequence: u64, ended: Instant) -> Self;
    fn settling(self, before: Signal) -> Self;
}

impl Changed for Event {
    fn by(self, access: Access) -> Self {
        Self { access, ..self }
    }

    fn when_newest_was(self, newest: u64) -> Self {
        Self { newest, ..self }
    }

    fn probing(self) -> Self {
        Self {
            role: Role::Probe,
            ..self
        }
    }

    fn at_last_resort(self) -> Self {
        Self {
            role: Role::LastResort,
            ..self
        }
    }

    fn replacing(self, sequence: u64, ended: Instant) -> Self {
        let replaces = Some(Replaced {
            sequence,
            ended,
            signal: Signal::Failure,
        });
        Self { replaces, ..self }
    }

    fn settling(self, before: Signal) -> Self {
        Self {
            settles: Some(before),
            ..self
        }
    }
}

/// One health and a clock that tests move.
#[derive(Copy, Clone)]
struct Patient {
    settings: BreakerSettings,
    health: Health,
    start: Instant,
    now: Instant,
}

impl Patient {
    fn new() -> Self {
        Self::with(exact())
    }

    fn with(settings: BreakerSettings) -> Self {
        let start = start();
        Self {
            settings,
            health: Health::default(),
            start,
            now: start,
        }
    }

    /// Ten failed reads, numbered from 1, while 20 was the newest number.
    fn tripped() -> Self {
        let mut patient = Self::new();
        for sequence in 1..=10 {
            patient.record(failure(sequence).when_newest_was(20));
        }
        assert_eq!(patient.state(), State::UnhealthyTentative);
        patient
    }

    /// Tripped, and its first probe, number 100, failed at 60 s.
    fn confirmed() -> Self {
        let mut patient = Self::probed();
        patient.record(failure(100).probing());
        assert_eq!(patient.state(), State::Unhealthy);
        patient
    }

    /// Tripped, and a probe, number 100, is on its way since 60 s.
    fn probed() -> Self {
        let mut patient = Self::tripped();
        patient.at(60);
        assert!(patient.probe(100));
        assert_eq!(patient.state(), State::HealthyTentative);
        patient
    }

    /// Moves the clock to so many seconds after the start.
    fn at(&mut self, seconds: u64) {
        self.now = self.start + Duration::from_secs(seconds);
    }

    fn record(&mut self, event: Event) -> Effect {
        self.health.record(&self.settings, &event, self.now)
    }

    fn probe(&mut self, sequence: u64) -> bool {
        self.health.take_probe(&self.settings, sequence, self.now)
    }

    fn renew(&mut self, sequence: u64) {
        self.health.renew(&self.settings, sequence, self.now);
    }

    fn release(&mut self, sequence: u64) {
        self.health.release(sequence, self.now);
    }

    fn state(&self) -> State {
        self.health.state(self.now)
    }

    /// Success, failure, consecutive.
    fn counts(&self, access: Access) -> (u32, u32, u32) {
        let counts = self.health.counts(access);
        (counts.success, counts.failure, counts.consecutive)
    }

    fn reads(&self) -> (u32, u32, u32) {
        self.counts(Access::Read)
    }

    fn writes(&self) -> (u32, u32, u32) {
        self.counts(Access::Write)
    }
}

fn moved(from: State, to: State) -> Effect {
    Effect::Moved { from, to }
}

/// Trips the circuit of a partition in a region with failed reads, from number 1 on.
fn trip(circuits: &Circuits, partition: Partition<'_>, region: Region, now: Instant) {
    let tolerated = circuits.settings().tolerated(Access::Read);
    for sequence in 1..=u64::from(tolerated) {
        let event = Event {
            region,
            ..failure(sequence)
        };
        circuits.record(partition, &event, now);
    }
}
