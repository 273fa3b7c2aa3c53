//! One shard: its entries side by side, and an index of their places.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashTable;

use crate::sync::Keys;
use crate::{Partition, RangeId};

/// The longest link of a container that is kept: two ids of 255 characters, and what is around.
const LONGEST_LINK: usize = 2 * 255 * 4 + 16;

/// The longest id of a range that is kept. Real ones are numbers.
const LONGEST_RANGE: usize = 256;

/// A container, shared by its entries.
pub(crate) struct Container {
    link: Arc<str>,
    // Only changed under the shard's lock.
    alive: AtomicBool,
}

/// An entry of a partition.
pub(crate) struct Slot<K, V> {
    hash: u32,
    pub(crate) key: K,
    // An optional id would take eight bytes more.
    has_range: bool,
    range: RangeId,
    container: Arc<Container>,
    pub(crate) value: V,
}

/// The entries of a shard. They lie dense, so that a full shard wastes little and sweeping is a
/// walk.
pub(super) struct Shard<K, V> {
    pub(super) index: HashTable<u32>,
    pub(super) slots: Vec<Slot<K, V>>,
    pub(super) containers: HashSet<ByLink, Keys>,
    // Where the next sweep begins.
    hand: usize,
}

/// Whether a partition's name is one that the service can have given.
pub(super) fn is_keepable(partition: Partition<'_>) -> bool {
    partition.container.len() <= LONGEST_LINK
        && partition
            .range
            .is_none_or(|range| range.text_len() <= LONGEST_RANGE)
}

impl<K, V> Slot<K, V> {
    pub(crate) fn link(&self) -> &Arc<str> {
        &self.container.link
    }

    pub(crate) fn range(&self) -> Option<&RangeId> {
        self.has_range.then_some(&self.range)
    }

    fn is_alive(&self) -> bool {
        self.container.alive.load(Ordering::Relaxed)
    }

    fn is_of(&self, hash: u32, partition: Partition<'_>) -> bool {
        self.hash == hash
            && self.range() == partition.range
            && self.is_alive()
            && *self.container.link == *partition.container
    }
}

impl<K: Copy + Eq, V> Shard<K, V> {
    pub(super) fn new() -> Self {
        Self {
            index: HashTable::new(),
            slots: Vec::new(),
            containers: HashSet::default(),
            hand: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Every entry of a container that is not forgotten.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot<K, V>> {
        self.slots.iter().filter(|slot| slot.is_alive())
    }

    pub(super) fn of_partition(
        &self,
        hash: u32,
        partition: Partition<'_>,
    ) -> impl Iterator<Item = (K, &V)> {
        self.index
            .iter_hash(spread(hash))
            .filter_map(|place| self.slots.get(*place as usize))
            .filter(move |slot| slot.is_of(hash, partition))
            .map(|slot| (slot.key, &slot.value))
    }

    pub(super) fn get_mut(
        &mut self,
        hash: u32,
        partition: Partition<'_>,
        key: K,
    ) -> Option<&mut V> {
        let place = self.find(hash, partition, key)?;
        self.slots.get_mut(place).map(|slot| &mut slot.value)
    }

    pub(super) fn insert(&mut self, hash: u32, partition: Partition<'_>, key: K, value: V) {
        let container = self.intern(partition.container);
        // By an eighth: doubling would leave half of a large table empty.
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve_exact((self.slots.len() / 8).max(4));
        }
        // The table's capacity is a u32.
        #[allow(clippy::cast_possible_truncation)]
        let place = self.slots.len() as u32;
        self.slots.push(Slot {
            hash,
            key,
            container,
            has_range: partition.range.is_some(),
            range: partition.range.cloned().unwrap_or(RangeId::from(0)),
            value,
        });
        let slots = &self.slots;
        self.index
            .insert_unique(spread(hash), place, |place| rehash(slots, *place));
    }

    pub(super) fn remove(&mut self, hash: u32, partition: Partition<'_>, key: K) -> Option<V> {
        let place = self.find(hash, partition, key)?;
        Some(self.remove_at(place))
    }

    /// Looks at the next `looks` entries for one that may go, or whose container is forgotten.
    pub(super) fn sweep(&mut self, looks: usize, may_go: impl Fn(&V) -> bool) -> Option<V> {
        for _ in 0..looks.min(self.slots.len()) {
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            let slot = &self.slots[self.hand];
            if !slot.is_alive() || may_go(&slot.value) {
                // Another entry takes its place, and is looked at next.
                return Some(self.remove_at(self.hand));
            }
            self.hand += 1;
        }
        None
    }

    pub(super) fn forget_container(&mut self, link: &str) {
        if let Some(ByLink(container)) = self.containers.take(link) {
            container.alive.store(false, Ordering::Relaxed);
        }
    }

    fn find(&self, hash: u32, partition: Partition<'_>, key: K) -> Option<usize> {
        let is_it = |place: &u32| {
            let slot = &self.slots[*place as usize];
            slot.key == key && slot.is_of(hash, partition)
        };
        self.index
            .find(spread(hash), is_it)
            .map(|place| *place as usize)
    }

    fn intern(&mut self, link: &str) -> Arc<Container> {
        if let Some(ByLink(known)) = self.containers.get(link) {
            return Arc::clone(known);
        }
        let container = Arc::new(Container {
            link: link.into(),
            alive: AtomicBool::new(true),
        });
        self.containers.insert(ByLink(Arc::clone(&container)));
        container
    }

    fn remove_at(&mut self, place: usize) -> V {
        self.unlink(place);
        let last = self.slots.len() - 1;
        let slot = self.slots.swap_remove(place);
        if place != last {
            self.relink(last, place);
        }
        // The set and this entry: nothing else refers to the container.
        if slot.is_alive() && Arc::strong_count(&slot.container) == 2 {
            self.containers.remove(&*slot.container.link);
        }
        self.shrink();
        slot.value
    }

    /// Takes an entry's place out of the index.
    fn unlink(&mut self, place: usize) {
        let hash = self.slots[place].hash;
        let found = self
            .index
            .find_entry(spread(hash), |other| *other as usize == place);
        if let Ok(entry) = found {
            entry.remove();
        }
    }

    /// Corrects the index after an entry has moved.
    #[allow(clippy::cast_possible_truncation)]
    fn relink(&mut self, from: usize, to: usize) {
        let hash = self.slots[to].hash;
        let found = self
            .index
            .find_mut(spread(hash), |other| *other as usize == from);
        if let Some(place) = found {
            *place = to as u32;
        }
    }

    /// Gives memory back once half of it is unused.
    fn shrink(&mut self) {
        let len = self.slots.len();
        if len == 0 {
            *self = Self::new();
        } else if self.slots.capacity() > 16 && len < self.slots.capacity() / 2 {
            self.slots.shrink_to(len + len / 8);
            let slots = &self.slots;
            self.index.shrink_to(len, |place| rehash(slots, *place));
            self.containers.shrink_to(self.containers.len());
        }
    }
}

fn rehash<K, V>(slots: &[Slot<K, V>], place: u32) -> u64 {
    spread(slots[place as usize].hash)
}

/// The index looks at both ends of a hash.
pub(super) fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// A container in a set by its link.
pub(super) struct ByLink(Arc<Container>);

impl Borrow<str> for ByLink {
    fn borrow(&self) -> &str {
        &self.0.link
    }
}

impl Hash for ByLink {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.link.hash(state);
    }
}

impl PartialEq for ByLink {
    fn eq(&self, other: &Self) -> bool {
        self.0.link == other.0.link
    }
}

impl Eq for ByLink {}
