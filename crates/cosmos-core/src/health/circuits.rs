//! The circuits of all partitions, which all requests share.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use super::{BreakerSettings, Counts, Effect, Event, Health, PartitionStandings, Signal, State};
use crate::sync::{AtomicUsize, Ordering};
use crate::table::Table;
use crate::{Access, Partition, RangeId, Region};

/// How many other entries each recorded outcome looks at, to forget what is old.
const SWEPT: usize = 2;

/// One in so many outcomes also looks into another part of the table, so that nothing stays for
/// ever because its partition is not asked for any more.
const SWEEPS_ELSEWHERE: u64 = 4;

/// The circuits of all partitions.
///
/// Nothing is kept of a partition until it fails, and nothing once it is healthy and its window,
/// which begins anew when a circuit closes, has passed. While no circuit is open,
/// [`standings`](Self::standings) is one atomic load.
#[derive(Debug)]
pub struct Circuits {
    settings: BreakerSettings,
    table: Table<Region, Health>,
    open: AtomicUsize,
    tallies: Tallies,
}

/// What has happened so far. Apart from what every request reads.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Tallies {
    trips: AtomicU64,
    probes: AtomicU64,
    closed: AtomicU64,
    late: AtomicU64,
    untracked: AtomicU64,
}

/// What has happened so far, and what is kept now.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// (Partition, region) kept now, those of forgotten containers included until they are swept.
    pub tracked: usize,
    /// How many of them are open.
    pub open: usize,
    /// How often a circuit tripped; for metadata, how often the threshold was reached.
    pub trips: u64,
    /// How many probes were granted.
    pub probes: u64,
    /// How often a tripped circuit closed.
    pub closed: u64,
    /// How many outcomes told of before a trip, or of before a circuit closed, or were those of
    /// probes whose lease was not their own any more.
    pub late: u64,
    /// How many first failures were not tracked because there was no room.
    pub untracked: u64,
}

/// A change of a circuit's state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transition {
    /// The container's link; empty for metadata.
    pub container: Arc<str>,
    /// The partition key range, if it is known.
    pub range: Option<RangeId>,
    /// The region.
    pub region: Region,
    /// The state before.
    pub from: State,
    /// The state now.
    pub to: State,
}

/// What is kept of one (partition, region).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Circuit {
    /// The container's link; empty for metadata.
    pub container: Arc<str>,
    /// The partition key range, if it is known.
    pub range: Option<RangeId>,
    /// The region.
    pub region: Region,
    /// Its state.
    pub state: State,
    /// The last trip or failed probe; while healthy, the beginning of the window: its first failure
    /// or when the circuit closed.
    pub since: Option<Instant>,
    /// From when on a request may probe, if it is open.
    pub due: Option<Instant>,
    /// What the window has seen of reads; nothing unless healthy.
    pub reads: Counts,
    /// What it has seen of writes; nothing unless healthy.
    pub writes: Counts,
}

impl Transition {
    fn new(partition: Partition<'_>, region: Region, from: State, to: State) -> Self {
        Self {
            container: partition.container.into(),
            range: partition.range.cloned(),
            region,
            from,
            to,
        }
    }
}

impl Circuits {
    /// No circuit yet.
    #[must_use]
    pub fn new(settings: BreakerSettings) -> Self {
        Self {
            settings,
            table: Table::new(settings.capacity),
            open: AtomicUsize::new(0),
            tallies: Tallies::default(),
        }
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &BreakerSettings {
        &self.settings
    }

    /// How a partition stands in all regions.
    #[must_use]
    pub fn standings(&self, partition: Partition<'_>, now: Instant) -> PartitionStandings {
        let mut standings = PartitionStandings::default();
        if !self.is_any_open() {
            return standings;
        }
        for (region, health) in self.table.lock(partition).iter() {
            if health.is_due(now) {
                standings.due.insert(region);
            } else if health.is_open() {
                standings.bad.insert(region);
            }
        }
        standings
    }

    /// Takes the lease of the one probe that is due, for the attempt of this number, and tells of
    /// it. `None` if none is due (any more): the attempt is to choose again.
    #[must_use]
    pub fn take_probe(
        &self,
        partition: Partition<'_>,
        region: Region,
        sequence: u64,
        now: Instant,
    ) -> Option<Transition> {
        self.change(partition, region, now, |health| {
            let granted = health.take_probe(&self.settings, sequence, now);
            if granted {
                add(&self.tallies.probes);
            }
            granted
        })
    }

    /// The attempt gives a sign of life: its lease lasts from here on, if it still has it.
    pub fn renew(&self, partition: Partition<'_>, region: Region, sequence: u64, now: Instant) {
        // That a lease had run out was not told, so neither is that it is held again.
        let _ = self.change(partition, region, now, |health| {
            health.renew(&self.settings, sequence, now);
            false
        });
    }

    /// Gives the lease of an attempt back without a verdict, so that the next request may probe.
    /// Tells if it was still held.
    pub fn release(
        &self,
        partition: Partition<'_>,
        region: Region,
        sequence: u64,
        now: Instant,
    ) -> Option<Transition> {
        self.change(partition, region, now, |health| {
            health.release(sequence, now);
            false
        })
    }

    /// Changes an open circuit, and tells if its state did, or if `change` says so.
    fn change(
        &self,
        partition: Partition<'_>,
        region: Region,
        now: Instant,
        change: impl FnOnce(&mut Health) -> bool,
    ) -> Option<Transition> {
        if !self.is_any_open() {
            return None;
        }
        let mut entries = self.table.lock(partition);
        let health = entries.get_mut(region)?;
        let from = health.state(now);
        let told = change(health);
        let to = health.state(now);
        drop(entries);
        (told || from != to).then(|| Transition::new(partition, region, from, to))
    }

    /// Records the end of an attempt, and tells if it changed the state of the circuit.
    ///
    /// [Metadata](Partition::METADATA) has no circuit: at the threshold the transition to
    /// [`State::UnhealthyTentative`] is told, so that the endpoint can be marked, and counting
    /// begins anew.
    pub fn record(
        &self,
        partition: Partition<'_>,
        event: &Event,
        now: Instant,
    ) -> Option<Transition> {
        if event.signal != Signal::Failure && self.table.is_empty() {
            return None;
        }
        let (from, to) = match self.apply(partition, event, now) {
            Effect::Moved { from, to } => (from, to),
            Effect::Late => {
                add(&self.tallies.late);
                return None;
            }
            Effect::Kept => return None,
        };
        match to {
            State::UnhealthyTentative if from == State::Healthy => add(&self.tallies.trips),
            State::Healthy => add(&self.tallies.closed),
            _ => {}
        }
        Some(Transition::new(partition, event.region, from, to))
    }

    fn apply(&self, partition: Partition<'_>, event: &Event, now: Instant) -> Effect {
        let is_stale = |health: &Health| health.is_stale(&self.settings, now);
        let stays = |health: &Health| {
            health.is_tracked() && !(health.is_open() && partition == Partition::METADATA)
        };
        let turn = spread(event.sequence);
        if turn.is_multiple_of(SWEEPS_ELSEWHERE) {
            let turn = turn / SWEEPS_ELSEWHERE;
            self.note_gone(self.table.sweep(turn, SWEPT, is_stale));
        }
        let mut entries = self.table.lock(partition);
        for _ in 0..SWEPT {
            self.note_gone(entries.sweep(1, is_stale));
        }
        if let Some(health) = entries.get_mut(event.region) {
            let was_open = health.is_open();
            let effect = health.record(&self.settings, event, now);
            let is_open = health.is_open();
            if !stays(health) {
                entries.remove(event.region);
            }
            self.note_open(was_open, is_open && partition != Partition::METADATA);
            return effect;
        }
        let mut health = Health::default();
        let effect = health.record(&self.settings, event, now);
        if stays(&health) {
            let Ok(gone) = entries.insert(event.region, health, is_stale) else {
                add(&self.tallies.untracked);
                return Effect::Kept;
            };
            self.note_gone(gone);
            self.note_open(false, health.is_open());
        }
        effect
    }

    /// Forgets a container, which was deleted or is another one by now.
    pub fn forget_container(&self, link: &str) {
        self.table.forget_container(link);
    }

    /// Forgets a range that was split or merged away. Its children begin healthy.
    pub fn forget_range(&self, link: &str, range: &RangeId) {
        let mut entries = self.table.lock(Partition {
            container: link,
            range: Some(range),
        });
        while let Some(gone) = entries.remove_any() {
            self.note_gone(Some(gone));
        }
    }

    /// Everything that is kept, in no order that means anything.
    #[must_use]
    pub fn list(&self, now: Instant) -> Vec<Circuit> {
        self.table.collect(|slot| Circuit {
            container: Arc::clone(slot.link()),
            range: slot.range().cloned(),
            region: slot.key,
            state: slot.value.state(now),
            since: slot.value.since(),
            due: slot.value.due(),
            reads: slot.value.counts(Access::Read),
            writes: slot.value.counts(Access::Write),
        })
    }

    /// What has happened so far, and how much is kept.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let read = |tally: &AtomicU64| tally.load(std::sync::atomic::Ordering::Relaxed);
        Counters {
            tracked: self.table.len(),
            open: self.open.load(Ordering::Relaxed),
            trips: read(&self.tallies.trips),
            probes: read(&self.tallies.probes),
            closed: read(&self.tallies.closed),
            late: read(&self.tallies.late),
            untracked: read(&self.tallies.untracked),
        }
    }

    fn is_any_open(&self) -> bool {
        self.open.load(Ordering::Acquire) != 0
    }

    fn note_gone(&self, gone: Option<Health>) {
        if let Some(health) = gone {
            self.note_open(health.is_open(), false);
        }
    }

    /// Keeps the number of open circuits. Called with the shard locked, so that it never runs
    /// behind what the table says.
    fn note_open(&self, was: bool, is: bool) {
        match (was, is) {
            (false, true) => {
                self.open.fetch_add(1, Ordering::AcqRel);
            }
            (true, false) => {
                self.open.fetch_sub(1, Ordering::AcqRel);
            }
            _ => {}
        }
    }
}

/// Spreads numbers evenly, whatever the distances between them: every other one may be another
/// circuit's, or nobody's.
fn spread(sequence: u64) -> u64 {
    sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

fn add(tally: &AtomicU64) {
    tally.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}
