//! What happens in one run, as plain data: drawn from a number, and made smaller when it breaks a
//! rule.

mod faults;
mod operations;
mod stack;
mod topology;

use std::time::Duration;

use cosmos_core::FailureKind;
use cosmos_tests::ms;
use fastrand::Rng;

pub use faults::{Does, Fault, Of};
pub use operations::{Burst, Kind, Operation, PARTITIONS, range};
pub use stack::{Layers, Over};
pub use topology::{Change, Regions, What, container};

/// The regions that there can be.
pub const NAMES: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

/// One run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The account in the beginning.
    pub regions: Regions,
    /// The client's preferred regions, which need not be the account's.
    pub preferred: Vec<&'static str>,
    /// Whether the client knows the account before the first operation.
    pub known: bool,
    /// Whether retries are a share of what succeeds.
    pub guarded: bool,
    /// The client's layers.
    pub layers: Layers,
    /// How the account moves.
    pub changes: Vec<Change>,
    /// What regions do wrong, and when.
    pub faults: Vec<Fault>,
    /// What the client's callers do.
    pub bursts: Vec<Burst>,
}

impl Plan {
    /// The plan of a number.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let rng = &mut Rng::with_seed(seed);
        let horizon = ms(rng.u64(1000..300_000));
        let regions = Regions::random(rng);
        let mut preferred = NAMES.to_vec();
        rng.shuffle(&mut preferred);
        preferred.truncate(rng.usize(..=NAMES.len()));
        // One run in three is such that the oracle of availability knows what to expect.
        let promises = rng.u8(..3) == 0;
        let faults = if rng.u8(..12) == 0 {
            0
        } else {
            rng.usize(1..12)
        };
        let mut faults: Vec<Fault> = (0..faults)
            .map(|_| Fault::random(rng, horizon, &regions, promises))
            .collect();
        if promises {
            let well = regions.readable[rng.usize(..regions.readable.len())];
            faults.retain(|fault| fault.region != well);
        }
        let changes = if promises || rng.bool() {
            0
        } else {
            rng.usize(1..5)
        };
        let mut changes: Vec<Change> = (0..changes).map(|_| Change::random(rng, horizon)).collect();
        changes.sort_by_key(|change| change.at);
        let mut bursts: Vec<Burst> = (0..rng.usize(1..9))
            .map(|_| Burst::random(rng, horizon))
            .collect();
        // Chance alone rarely drops a probe.
        if rng.u8(..6) == 0 {
            let (fault, left) = probes_that_are_left(rng, &regions);
            faults.insert(0, fault);
            bursts.extend(left);
        }
        // Nor do as many regions fail at once as an operation may leave.
        if promises && regions.readable.len() > 3 && rng.bool() {
            let well = regions.readable.iter();
            let well = well.filter(|name| !faults.iter().any(|fault| fault.region == **name));
            if let Some(well) = well.copied().next_back() {
                preferred.retain(|name| *name != well);
                preferred.truncate(3);
                faults = fails_in_each(rng, horizon, &preferred);
                bursts.extend((0..4).map(|_| Burst::random(rng, horizon)));
            }
        }
        // Nor does a partition move while it is written to.
        let mut regions = regions;
        if !promises && rng.u8(..10) == 0 && regions.readable.len() > 1 {
            regions.moves_partitions = true;
            regions.multi_write = false;
            regions.writable.truncate(1);
            let (moves, writes) = a_partition_that_moves(rng, &regions);
            changes = vec![moves];
            bursts.extend(writes);
        }
        bursts.sort_by_key(|burst| burst.at);
        Self {
            regions,
            preferred,
            known: promises || rng.u8(..3) > 0,
            guarded: !promises && rng.u8(..6) == 0,
            layers: Layers::random(rng, promises),
            changes,
            faults,
            bursts,
        }
    }

    /// The account as the changes so far have made it.
    #[must_use]
    pub fn regions_at(&self, at: Duration) -> &Regions {
        let mut before = self.changes.iter().rev().filter(|change| change.at <= at);
        before
            .find_map(|change| change.what.regions())
            .unwrap_or(&self.regions)
    }

    /// The account at all times.
    pub fn all_regions(&self) -> impl Iterator<Item = &Regions> {
        let changes = self.changes.iter();
        std::iter::once(&self.regions).chain(changes.filter_map(|change| change.what.regions()))
    }

    /// When the last fault has ended and the last change has been made.
    #[must_use]
    pub fn is_well_from(&self) -> Duration {
        let faults = self.faults.iter().map(|fault| fault.until);
        let changes = self.changes.iter().map(|change| change.at);
        let moves = self
            .changes
            .iter()
            .filter_map(|change| change.what.returns());
        faults.chain(changes).chain(moves).max().unwrap_or_default()
    }
}

/// A region fails a partition until its circuit opens, and then hangs, while callers who leave come
/// to probe it.
fn probes_that_are_left(rng: &mut Rng, regions: &Regions) -> (Fault, [Burst; 2]) {
    let region = regions.readable[rng.usize(..regions.readable.len())];
    let fault = Fault {
        region,
        from: Duration::ZERO,
        until: ms(rng.u64(60_000..400_000)),
        of: Of::Data(None, None),
        every: 1,
        does: [Does::Hang, Does::Stall][rng.usize(..2)],
        after: Duration::ZERO,
    };
    let mut trips = Burst::random(rng, ms(1000));
    trips.count = 12;
    trips.apart = Duration::ZERO;
    trips.operation.kind = [Kind::ReadItem, Kind::UpsertItem][rng.usize(..2)];
    trips.operation.timeout = None;
    trips.operation.leaves = None;
    let mut left = trips.clone();
    left.at = ms(rng.u64(66_000..80_000));
    left.count = rng.usize(1..4);
    left.apart = ms(rng.u64(5000..30_000));
    left.operation.leaves = Some(ms(rng.u64(1..2000)));
    (fault, [trips, left])
}

/// All of these regions fail all along, in ways that send operations on.
fn fails_in_each(rng: &mut Rng, horizon: Duration, names: &[&'static str]) -> Vec<Fault> {
    let fails = |region: &&'static str| {
        let does = [
            Does::Answer(503, 0, None),
            Does::Answer(410, 0, None),
            Does::Fail(FailureKind::Refused),
            Does::Fail(FailureKind::Reset),
        ];
        Fault {
            region,
            from: Duration::ZERO,
            until: horizon,
            of: Of::Data(None, None),
            every: 1,
            does: does[rng.usize(..does.len())],
            after: Duration::ZERO,
        }
    };
    names.iter().map(fails).collect()
}

/// A partition's writes go to another region for a while, and are written there, by some who
/// exclude it, too.
fn a_partition_that_moves(rng: &mut Rng, regions: &Regions) -> (Change, [Burst; 3]) {
    let others = regions.readable.iter().copied();
    let others: Vec<_> = others.filter(|name| *name != regions.hub()).collect();
    let region = others[rng.usize(..others.len())];
    let until = ms(rng.u64(20_000..100_000));
    let mut writes = Burst::random(rng, ms(1000));
    let partition = writes.operation.partition;
    writes.count = rng.usize(1..4);
    writes.operation = Operation {
        kind: Kind::UpsertItem,
        named: true,
        excluded: Vec::new(),
        timeout: None,
        leaves: None,
        retry_writes: true,
        ..writes.operation
    };
    let mut excluding = writes.clone();
    excluding.at = ms(rng.u64(..20_000));
    excluding.operation.excluded = vec![region];
    let mut later = writes.clone();
    later.at = until + ms(rng.u64(..20_000));
    let moves = Change {
        at: Duration::ZERO,
        what: What::Writes {
            partition,
            region,
            until,
        },
    };
    (moves, [writes, excluding, later])
}

/// A time within a run: often early, so that things meet.
fn time(rng: &mut Rng, horizon: Duration) -> Duration {
    match rng.u8(..4) {
        0 => ms(rng.u64(..50)),
        1 => ms(rng.u64(..3000)).min(horizon),
        _ => horizon.mul_f64(rng.f64()),
    }
}
