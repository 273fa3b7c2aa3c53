//! Where an attempt goes, as the account stands, and what it takes along.

use std::sync::atomic::Ordering;
use std::time::Instant;

use cosmos_core::health::PartitionStandings;
use cosmos_core::policy::{is_repeatable, oversight};
use cosmos_core::selection::{self, Choice, History, Standings, View, access};
use cosmos_core::{
    FailureKind, Oversight, Region, Route, Status, Steering, Topology, write_regions,
};

use super::Account;
use super::lease::Lease;
use super::marks::{Marks, Trial};
use crate::clock::now;

/// Where an attempt goes.
#[derive(Debug)]
pub(crate) struct Placement {
    pub(crate) choice: Choice,
    pub(crate) sequence: u64,
    pub(crate) oversight: Oversight,
    /// Held for its `Drop`: the trial is free again when the attempt is over.
    pub(crate) _trial: Option<Trial>,
    /// Likewise: unless the attempt's outcome has settled the probe.
    pub(crate) lease: Option<Lease>,
    /// Whether another region could take over if this one does not answer.
    pub(crate) has_alternative: bool,
}

impl Account {
    /// The region that an attempt with this steering would go to; `None` if nothing may be sent.
    pub(crate) fn next_region(&self, route: &Route, steering: Steering) -> Option<Region> {
        let topology = self.snapshot();
        let topology = topology.as_deref()?;
        let choice = self.ask(
            topology,
            route,
            steering,
            self.oversight(topology, route),
            now(),
            selection::choose,
        );
        choice.ok().map(|choice| choice.region)
    }

    /// Chooses a region and takes the trial and the probe's lease that the choice needs: both or
    /// neither.
    pub(crate) fn choose_and_take(
        &self,
        topology: &Topology,
        route: &Route,
        now: Instant,
    ) -> Result<Placement, FailureKind> {
        let rules = route.rules();
        // Only what may be sent again can be taken over.
        let repeatable = is_repeatable(rules.operation, rules.retry_writes);
        let question = |view: &View<'_>| {
            let choice = selection::choose(view)?;
            let alternative = repeatable && selection::has_alternative(view, choice.region);
            Ok((choice, alternative))
        };
        let oversight = self.oversight(topology, route);
        // The first number is 1: the counter is the newest one handed out.
        let sequence = self.0.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        loop {
            let (choice, has_alternative) =
                self.ask(topology, route, route.steering, oversight, now, question)?;
            let access = access(rules.operation);
            let trial = choice
                .trial
                .then(|| Marks::take_trial(&self.0.marks, choice.region, access, now));
            let lease = choice
                .probe
                .then(|| Lease::take(self.id(), route, choice.region, sequence, now));
            // Lost to another request: the region now stands as bad, so choose again. Each round
            // takes one region out of the choice, so this ends.
            if let (Some(None), _) | (_, Some(None)) = (&trial, &lease) {
                continue;
            }
            return Ok(Placement {
                choice,
                sequence,
                oversight,
                _trial: trial.flatten(),
                lease: lease.flatten(),
                has_alternative,
            });
        }
    }

    /// Asks selection about the operation as it stands.
    fn ask<T>(
        &self,
        topology: &Topology,
        route: &Route,
        mut steering: Steering,
        oversight: Oversight,
        now: Instant,
        question: impl FnOnce(&View<'_>) -> T,
    ) -> T {
        let rules = route.rules();
        let history = route.with_attempts(History::of);
        let mut circuits = PartitionStandings::default();
        match oversight {
            Oversight::Circuit => {
                if let Some(breaker) = route.breaker(self.id()) {
                    circuits = route.with_partition(|partition| breaker.standings(partition, now));
                }
            }
            Oversight::WriteRegion if steering.first_choice.is_none() => {
                steering.first_choice = route.write_regions(self.id()).and_then(|memory| {
                    route.with_partition(|partition| memory.remembered(partition))
                });
            }
            _ => {}
        }
        question(&View {
            topology,
            operation: rules.operation,
            scope: oversight::scope(oversight),
            excluded: rules.excluded.union(self.0.excluded),
            strict: rules.strict,
            steering,
            history: &history,
            marks: &self.0.marks.at(now),
            circuits: (!circuits.is_good()).then_some(&circuits as &dyn Standings),
        })
    }

    /// Remembers where a partition accepts writes, if an answer confirms it.
    pub(crate) fn learn_write_region(&self, route: &Route, placement: &Placement, status: Status) {
        if !write_regions::confirms(route.operation(), status) {
            return;
        }
        let hub = self.snapshot().as_deref().and_then(Topology::hub);
        if let (Some(memory), Some(hub)) = (route.write_regions(self.id()), hub) {
            route.with_partition(|partition| {
                // Of a partition that is not known nothing can be remembered.
                if partition.range.is_some() {
                    memory.confirmed(partition, placement.choice.region, hub, placement.sequence);
                }
            });
        }
    }

    /// What oversees the operation's attempts as the account stands.
    fn oversight(&self, topology: &Topology, route: &Route) -> Oversight {
        oversight::oversight(
            topology,
            route.operation(),
            route.breaker(self.id()).is_some(),
            route.write_regions(self.id()).is_some(),
        )
    }
}
