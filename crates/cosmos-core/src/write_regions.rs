//! Where each partition of a single-write account takes its writes, as far as that has been seen
//! (per-partition automatic failover, PPAF).
//!
//! The service can move the write region of one partition while the account's stays. A client
//! that forgets where a write succeeded pays a failed attempt at the hub for every write. So the
//! region that confirmed a write is remembered per partition, until the hub confirms one again.
//! Nothing is kept for partitions that the hub serves.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::table::Table;
use crate::{Action, Operation, Partition, RangeId, Region, Resource, Status};

/// How many partitions are remembered by default.
const CAPACITY: u32 = 200_000;

/// How many other entries each change looks at, to drop those of forgotten containers.
const SWEPT: usize = 2;

/// The regions that confirmed the last writes of partitions whose write region is not the hub.
#[derive(Debug)]
pub struct WriteRegions {
    table: Table<(), Remembered>,
    // The first attempt that may bring a record about: older than what removed one, it must not.
    floor: AtomicU64,
    unremembered: AtomicU64,
}

#[derive(Copy, Clone, Debug)]
struct Remembered {
    region: Region,
    // The attempt that confirmed it.
    sequence: u64,
}

impl Default for WriteRegions {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl WriteRegions {
    /// Nothing remembered; at most this many partitions will be (200,000 by default). What does
    /// not fit is not remembered: its writes find their region anew.
    #[must_use]
    pub fn with_capacity(partitions: u32) -> Self {
        Self {
            table: Table::new(partitions),
            floor: AtomicU64::new(0),
            unremembered: AtomicU64::new(0),
        }
    }

    /// Where the last write of this partition was confirmed, if that was not the hub.
    #[must_use]
    pub fn remembered(&self, partition: Partition<'_>) -> Option<Region> {
        if self.table.is_empty() {
            return None;
        }
        self.table
            .lock(partition)
            .get(())
            .map(|remembered| remembered.region)
    }

    /// A write of this partition was confirmed by a region, while the account's write region was
    /// `hub`. `sequence` is the attempt's number: what is older than the newest confirmation of the
    /// partition changes nothing.
    pub fn confirmed(&self, partition: Partition<'_>, region: Region, hub: Region, sequence: u64) {
        let at_hub = region == hub;
        if at_hub && self.table.is_empty() {
            return;
        }
        let mut entries = self.table.lock(partition);
        for _ in 0..SWEPT {
            entries.sweep(1, |_| false);
        }
        match entries.get_mut(()) {
            Some(known) if sequence <= known.sequence => {}
            Some(_) if at_hub => {
                entries.remove(());
                self.outdate(sequence);
            }
            Some(known) => *known = Remembered { region, sequence },
            None if at_hub || sequence < self.floor.load(Ordering::Relaxed) => {}
            None => {
                let remembered = Remembered { region, sequence };
                if entries.insert((), remembered, |_| false).is_err() {
                    self.unremembered.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    /// Forgets a container, which was deleted or is another one by now. `newest` is the newest
    /// number handed out to an attempt: those under way bring nothing back.
    pub fn forget_container(&self, link: &str, newest: u64) {
        self.outdate(newest);
        self.table.forget_container(link);
    }

    /// Forgets a range that was split or merged away; `newest` as for
    /// [`forget_container`](Self::forget_container).
    pub fn forget_range(&self, link: &str, range: &RangeId, newest: u64) {
        self.outdate(newest);
        let partition = Partition {
            container: link,
            range: Some(range),
        };
        self.table.lock(partition).remove(());
    }

    /// Forgets everything: the account's write region changed, or the account no longer fails
    /// over by partition. `newest` is the newest number handed out to an attempt: those under way
    /// bring nothing back.
    pub fn clear(&self, newest: u64) {
        self.outdate(newest);
        self.table.clear();
    }

    /// Attempts up to this number bring no record back.
    fn outdate(&self, newest: u64) {
        let floor = newest.saturating_add(1);
        self.floor.fetch_max(floor, Ordering::Relaxed);
    }

    /// How many partitions are remembered, those of forgotten containers included until they are
    /// swept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// How many confirmations were not remembered because there was no room.
    #[must_use]
    pub fn unremembered(&self) -> u64 {
        self.unremembered.load(Ordering::Relaxed)
    }
}

/// Whether an operation follows its partition's write region: it changes items of one partition.
///
/// The account must also fail over by partition, have a single write region and more than one
/// region in all.
#[must_use]
pub const fn eligible(operation: Operation) -> bool {
    operation.is_partition_scoped()
        && matches!(
            (operation.action(), operation.resource()),
            (
                Action::Create
                    | Action::Upsert
                    | Action::Replace
                    | Action::Patch
                    | Action::Delete
                    | Action::Batch,
                Resource::Item
            ) | (Action::DeleteByPartitionKey, Resource::PartitionKeyDelete)
                | (Action::Execute, Resource::StoredProcedure)
        )
}

/// Whether an answer shows that the region executes the partition's writes: it carried the write
/// out, or refused it for what it knows of the item.
#[must_use]
pub const fn confirms(operation: Operation, status: Status) -> bool {
    if operation.is_read() {
        return false;
    }
    match (status.code(), status.substatus()) {
        (409 | 412, _) => true,
        (404, 0) => matches!(
            operation.action(),
            Action::Replace | Action::Patch | Action::Delete
        ),
        _ => status.is_success(),
    }
}
