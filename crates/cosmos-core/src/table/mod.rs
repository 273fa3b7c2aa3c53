//! A bounded table of what is known of partitions, which many threads share.
//!
//! Keys come from requests, so a client can make up as many as it likes: the table has a capacity,
//! the keys a longest length, and hashing is keyed at random. Recording one failure must cost the
//! same with one entry as with a hundred thousand, just when a region is failing: nothing here
//! copies, scans or resizes the whole table. It is cut into shards, each behind its own lock and
//! small enough to grow in a few microseconds.
//!
//! An entry belongs to a partition and has a key within it (a region; or nothing). All entries of
//! a partition have the same hash, so they are found together.

mod shard;

use std::fmt;
use std::hash::BuildHasher;

use crate::Partition;
use crate::sync::{AtomicUsize, Keys, Mutex, MutexGuard, Ordering};

use shard::Shard;
pub(crate) use shard::Slot;

/// How many locks the entries are spread over. Two under the model checker, where more would only
/// add states.
const SHARDS: usize = if cfg!(cosmos_loom) { 2 } else { 64 };

/// How many entries are looked at for one that can make room.
const LOOKS_FOR_ROOM: usize = 16;

/// A bounded table of values per partition and key.
pub(crate) struct Table<K, V> {
    shards: Box<[Padded<K, V>]>,
    hasher: Keys,
    len: AtomicUsize,
    capacity: usize,
}

/// A shard on cache lines of its own, so that threads on different shards do not slow each other.
#[repr(align(128))]
struct Padded<K, V>(Mutex<Shard<K, V>>);

/// The shard of a partition, locked.
pub(crate) struct Locked<'a, K, V> {
    table: &'a Table<K, V>,
    shard: MutexGuard<'a, Shard<K, V>>,
    partition: Partition<'a>,
    hash: u32,
}

impl<K: Copy + Eq, V> Table<K, V> {
    pub(crate) fn new(capacity: u32) -> Self {
        let shards = std::iter::repeat_with(|| Padded(Mutex::new(Shard::new())));
        Self {
            shards: shards.take(SHARDS).collect(),
            hasher: Keys::default(),
            len: AtomicUsize::new(0),
            capacity: usize::try_from(capacity).unwrap_or(usize::MAX),
        }
    }

    /// How many entries there are, those of forgotten containers included until they are swept.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Locks the shard of a partition.
    pub(crate) fn lock<'a>(&'a self, partition: Partition<'a>) -> Locked<'a, K, V> {
        let hash = self.hasher.hash_one(partition);
        // The upper half chooses the shard, the lower half the place in it.
        #[allow(clippy::cast_possible_truncation)]
        let (shard, hash) = ((hash >> 32) as usize % SHARDS, hash as u32);
        Locked {
            table: self,
            shard: self.shards[shard].0.lock(),
            partition,
            hash,
        }
    }

    /// Something of every entry. Only one shard at a time is locked, and nothing that grows with
    /// the whole table is done meanwhile.
    pub(crate) fn collect<T>(&self, of: impl Fn(&Slot<K, V>) -> T) -> Vec<T> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let part: Vec<T> = shard.0.lock().iter().map(&of).collect();
            all.extend(part);
        }
        all
    }

    /// Looks at the next entries of the shard whose turn it is for one that may go, unless another
    /// thread is at it.
    pub(crate) fn sweep(&self, turn: u64, looks: usize, may_go: impl Fn(&V) -> bool) -> Option<V> {
        // The shards are few.
        #[allow(clippy::cast_possible_truncation)]
        let shard = &self.shards[turn as usize % SHARDS];
        let removed = shard.0.try_lock()?.sweep(looks, may_go);
        self.note(removed)
    }

    /// Makes the entries of a container unfindable. They go when they are swept.
    pub(crate) fn forget_container(&self, link: &str) {
        for shard in &self.shards {
            shard.0.lock().forget_container(link);
        }
    }

    /// Removes everything.
    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            let mut shard = shard.0.lock();
            let old = std::mem::replace(&mut *shard, Shard::new());
            self.len.fetch_sub(old.len(), Ordering::AcqRel);
            drop(shard);
        }
    }

    fn note(&self, removed: Option<V>) -> Option<V> {
        if removed.is_some() {
            self.len.fetch_sub(1, Ordering::AcqRel);
        }
        removed
    }

    fn reserve(&self) -> bool {
        let one_more = |len| (len < self.capacity).then_some(len + 1);
        self.len
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more)
            .is_ok()
    }
}

impl<K: Copy + Eq, V> Locked<'_, K, V> {
    /// Everything that is known of the partition.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.shard.of_partition(self.hash, self.partition)
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.iter()
            .find(|(at, _)| *at == key)
            .map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.shard.get_mut(self.hash, self.partition, key)
    }

    /// Adds an entry that is not there yet. At capacity, one of a few entries that `may_go` makes
    /// room and is given back; if none may, or the partition's name is too long to keep, nothing is
    /// added.
    pub(crate) fn insert(
        &mut self,
        key: K,
        value: V,
        may_go: impl Fn(&V) -> bool,
    ) -> Result<Option<V>, NoRoom> {
        if !shard::is_keepable(self.partition) {
            return Err(NoRoom);
        }
        let mut gone = None;
        if !self.table.reserve() {
            gone = self.sweep(LOOKS_FOR_ROOM, may_go);
            if gone.is_none() || !self.table.reserve() {
                return Err(NoRoom);
            }
        }
        self.shard.insert(self.hash, self.partition, key, value);
        Ok(gone)
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        let removed = self.shard.remove(self.hash, self.partition, key);
        self.table.note(removed)
    }

    /// Removes one entry of the partition, whatever its key.
    pub(crate) fn remove_any(&mut self) -> Option<V> {
        let key = self.iter().next().map(|(key, _)| key)?;
        self.remove(key)
    }

    /// Looks at the next entries of the shard for one that may go, removes it and gives it back.
    pub(crate) fn sweep(&mut self, looks: usize, may_go: impl Fn(&V) -> bool) -> Option<V> {
        let removed = self.shard.sweep(looks, may_go);
        self.table.note(removed)
    }
}

/// The table is full, or the partition's name is longer than any real one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

impl<K, V> fmt::Debug for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("len", &self.len.load(Ordering::Relaxed))
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
