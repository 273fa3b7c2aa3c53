//! What a run came to, for whoever shows it.

use std::time::Duration;

use cosmos_core::health::Counters;

use crate::circuits::Change;
use crate::options::Options;
use crate::recorder::Recorded;
use crate::schedule::Schedule;
use crate::setup::World;
use crate::wire::Requests;

/// Requests that a server reads this soon after a circuit opened were on their way already.
const ON_THEIR_WAY: Duration = Duration::from_millis(100);

/// Everything that a run has shown.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) options: Options,
    pub(crate) schedule: Schedule,
    pub(crate) world: World,
    pub(crate) recorded: Recorded,
    pub(crate) requests: Requests,
    pub(crate) changes: Vec<Change>,
    pub(crate) counters: Counters,
}

impl Results {
    pub(crate) fn operations(&self) -> u64 {
        self.recorded.sick.operations + self.recorded.healthy.operations
    }

    pub(crate) fn failed(&self) -> u64 {
        self.recorded.sick.failed + self.recorded.healthy.failed
    }

    /// Requests for healthy partitions that another region than the preferred one read.
    pub(crate) fn healthy_moved(&self) -> u64 {
        let healthy = 1..self.world.ranges.len();
        let elsewhere = healthy.map(|range| self.requests.of_range(range)[1..].iter().sum::<u64>());
        elsewhere.sum()
    }

    /// When the sick region read requests for the sick partition although the circuit was open.
    pub(crate) fn read_while_open(&self) -> Vec<Duration> {
        let open = self.open_spans();
        let is_open = |at: &&Duration| {
            let mut spans = open.iter();
            spans.any(|(from, to)| (*from + ON_THEIR_WAY..*to).contains(*at))
        };
        let read = self.requests.sick_at_preferred.iter();
        read.filter(is_open).copied().collect()
    }

    /// How many these are.
    pub(crate) fn sick_while_open(&self) -> u64 {
        self.read_while_open().len() as u64
    }

    /// From when until when the sick partition's circuit was open.
    pub(crate) fn open_spans(&self) -> Vec<(Duration, Duration)> {
        let mut spans = Vec::new();
        let mut opened = None;
        for change in self.changes.iter().filter(|change| self.is_sick(change)) {
            if change.opens() {
                opened = Some(change.at);
            } else if change.closes()
                && let Some(from) = opened.take()
            {
                spans.push((from, change.at));
            }
        }
        // Still open at the end.
        spans.extend(opened.map(|from| (from, Duration::MAX)));
        spans
    }

    /// Whether a change is one of the sick partition's circuit.
    pub(crate) fn is_sick(&self, change: &Change) -> bool {
        let range = change.transition.range.as_ref();
        range.is_some_and(|range| range.to_string() == self.world.sick)
    }

    /// For each sickness, how long after its end the circuit closed; `None`: not in this run.
    pub(crate) fn recoveries(&self) -> Vec<Option<Duration>> {
        let sick = self
            .schedule
            .spans()
            .filter(|(phase, _)| phase.fault().is_some());
        sick.map(|(_, span)| {
            let spans = self.open_spans();
            let open = spans
                .iter()
                .find(|(from, to)| *from < span.end && span.end < *to);
            match open {
                Some((_, to)) if *to == Duration::MAX => None,
                Some((_, to)) => Some(to.saturating_sub(span.end)),
                // It never opened, or was closed by then.
                None => Some(Duration::ZERO),
            }
        })
        .collect()
    }

    /// The longest of them; `None` if the partition has not come back.
    pub(crate) fn recovered_after(&self) -> Option<Duration> {
        let recoveries = self.recoveries();
        let all: Option<Vec<Duration>> = recoveries.into_iter().collect();
        all?.into_iter().max()
    }
}
