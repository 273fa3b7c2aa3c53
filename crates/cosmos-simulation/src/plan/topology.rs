//! The account: its regions, how its container is split, and how both move.

use std::time::Duration;

use cosmos_testbed::scripted::{Container, Document};
use cosmos_tests::ms;
use fastrand::Rng;

use super::operations::PARTITIONS;
use super::{NAMES, time};

/// The account's regions, and what they accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions {
    /// Those that read, in the account's order.
    pub readable: Vec<&'static str>,
    /// Those that write; the first one is the hub.
    pub writable: Vec<&'static str>,
    /// Whether all of them write.
    pub multi_write: bool,
    /// Whether single partitions may have another write region.
    pub moves_partitions: bool,
}

impl Regions {
    pub(super) fn random(rng: &mut Rng) -> Self {
        let mut readable = NAMES.to_vec();
        rng.shuffle(&mut readable);
        readable.truncate(if rng.bool() {
            rng.usize(1..=3)
        } else {
            rng.usize(1..=NAMES.len())
        });
        let multi_write = rng.bool();
        let writable = if multi_write {
            readable.clone()
        } else {
            vec![readable[rng.usize(..readable.len())]]
        };
        Self {
            readable,
            writable,
            multi_write,
            moves_partitions: rng.bool(),
        }
    }

    /// The region that takes metadata, and on single-write accounts all writes.
    #[must_use]
    pub fn hub(&self) -> &'static str {
        self.writable[0]
    }

    /// The account document that says so.
    #[must_use]
    pub fn document(&self) -> Document {
        let readable = self.readable.iter().copied();
        let document = if self.multi_write {
            Document::multi_write(readable)
        } else {
            Document::single_write(readable).writable(self.writable.iter().copied())
        };
        document.per_partition_failover(self.moves_partitions)
    }
}

/// A move of the account.
#[derive(Clone, Debug)]
pub struct Change {
    /// When.
    pub at: Duration,
    /// What moves.
    pub what: What,
}

/// What moves.
#[derive(Clone, Debug)]
pub enum What {
    /// The account's regions.
    Regions(Regions),
    /// For a while the account document is none.
    Garbled,
    /// The container's ranges, to the next of a row of splits and a merge.
    Ranges,
    /// The writes of a partition's range go to another region for a while, if the account lets them.
    Writes {
        /// One of its partitions.
        partition: usize,
        /// Where to.
        region: &'static str,
        /// Until when.
        until: Duration,
    },
}

impl What {
    pub(super) fn regions(&self) -> Option<&Regions> {
        match self {
            Self::Regions(regions) => Some(regions),
            _ => None,
        }
    }

    pub(super) fn returns(&self) -> Option<Duration> {
        match self {
            Self::Writes { until, .. } => Some(*until),
            _ => None,
        }
    }
}

impl Change {
    pub(super) fn random(rng: &mut Rng, horizon: Duration) -> Self {
        let at = time(rng, horizon);
        let what = match rng.u8(..8) {
            0..=2 => What::Regions(Regions::random(rng)),
            3 => What::Garbled,
            4 | 5 => What::Ranges,
            _ => What::Writes {
                partition: rng.usize(..PARTITIONS),
                region: NAMES[rng.usize(..NAMES.len())],
                until: at + ms(rng.u64(1000..200_000)),
            },
        };
        Self { at, what }
    }
}

/// The container after so many changes of its ranges.
pub fn container(changes: usize) -> Container {
    let mut container = Container::new("rid").split("0", "20", ["1", "2"]);
    if changes >= 1 {
        container = container.split("1", "10", ["3", "4"]);
    }
    if changes >= 2 {
        container = container.split("2", "30", ["5", "6"]);
    }
    if changes >= 3 {
        container = container.merge(["4", "5"], "7");
    }
    container
}
