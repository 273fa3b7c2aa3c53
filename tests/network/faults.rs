//! What befalls the network and its hosts, and when.

use std::time::Duration;

use cosmos_tests::{ms, s};
use turmoil::Sim;

use crate::region::{GLOBAL, REGIONS};
use crate::wire::Cut;

/// The host of the callers.
pub(crate) const APP: &str = "app";

/// The latency of a message where nothing is wrong.
pub(crate) const LATENCY: Duration = ms(8);

/// What is wrong for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Everything between two hosts is lost.
    Partition(&'static str, &'static str),
    /// Everything from one host to another is lost.
    OneWay(&'static str, &'static str),
    /// Everything between two hosts waits, and arrives in the end.
    Hold(&'static str, &'static str),
    /// Messages between two hosts take this long.
    Slow(&'static str, &'static str, Duration),
    /// A host loses all but its disk, and is back in the end.
    Crash(&'static str),
}

/// A fault, and from when to when it lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) from: Duration,
    pub(crate) until: Duration,
    pub(crate) fault: Fault,
}

impl Fault {
    /// Two seconds after the traffic has begun, for this long.
    pub(crate) fn lasting(self, time: Duration) -> Event {
        self.between(s(2), s(2) + time)
    }

    pub(crate) fn between(self, from: Duration, until: Duration) -> Event {
        Event {
            from,
            until,
            fault: self,
        }
    }

    pub(crate) fn begin(&self, sim: &mut Sim<'_>, cut: &Cut) {
        match *self {
            Self::Partition(a, b) => sim.partition(a, b),
            Self::OneWay(from, to) => sim.partition_oneway(from, to),
            Self::Hold(a, b) => sim.hold(a, b),
            Self::Slow(a, b, latency) => sim.set_link_latency(a, b, latency),
            Self::Crash(host) => sim.crash(host),
        }
        if let Some(host) = self.cuts_off() {
            cut.lock().insert(host.to_owned());
        }
    }

    pub(crate) fn end(&self, sim: &mut Sim<'_>, cut: &Cut) {
        match *self {
            Self::Partition(a, b) => sim.repair(a, b),
            Self::OneWay(from, to) => sim.repair_oneway(from, to),
            Self::Hold(a, b) => sim.release(a, b),
            Self::Slow(a, b, _) => sim.set_link_latency(a, b, LATENCY),
            Self::Crash(host) => sim.bounce(host),
        }
        if let Some(host) = self.cuts_off() {
            cut.lock().remove(host);
        }
    }

    /// The host that callers cannot connect to.
    fn cuts_off(&self) -> Option<&'static str> {
        match *self {
            Self::Partition(a, b) | Self::OneWay(a, b) if a == APP => Some(b),
            Self::Partition(a, b) | Self::OneWay(a, b) if b == APP => Some(a),
            _ => None,
        }
    }

    /// What two faults may not meet at: the simulation undoes one of them with the other.
    fn place(&self) -> (&'static str, &'static str) {
        match *self {
            Self::Partition(a, b) | Self::OneWay(a, b) | Self::Hold(a, b) | Self::Slow(a, b, _) => {
                (a.min(b), a.max(b))
            }
            Self::Crash(host) => (host, host),
        }
    }
}

/// A schedule that a seed stands for: faults of all kinds, some at the same time, within this time.
pub(crate) fn schedule(seed: u64, within: Duration) -> Vec<Event> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut events: Vec<Event> = Vec::new();
    for _ in 0..random.usize(4..=8) {
        let length = ms(random.u64(50..=4000)).min(within);
        let latest = millis(within.saturating_sub(length));
        let from = s(1) + ms(random.u64(..=latest));
        let event = any_fault(&mut random).between(from, from + length);
        let meets = |other: &Event| {
            let apart = other.until < event.from || event.until < other.from;
            other.fault.place() == event.fault.place() && !apart
        };
        if !events.iter().any(meets) {
            events.push(event);
        }
    }
    events
}

fn any_fault(random: &mut fastrand::Rng) -> Fault {
    let [east, west, north] = REGIONS.map(|(_, host)| host);
    // The preferred region and the hub more often than others.
    let region = [east, east, west, north][random.usize(..4)];
    if random.u8(..6) == 0 {
        return Fault::Crash(region);
    }
    let links = [
        (APP, region),
        (APP, region),
        (region, APP),
        (APP, GLOBAL),
        (east, west),
        (west, north),
        (north, east),
    ];
    let (a, b) = links[random.usize(..links.len())];
    match random.u8(..4) {
        0 => Fault::Partition(a, b),
        1 => Fault::OneWay(a, b),
        2 => Fault::Hold(a, b),
        _ => Fault::Slow(a, b, ms(random.u64(20..=700))),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).expect("a short time")
}
