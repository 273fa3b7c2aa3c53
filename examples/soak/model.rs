//! What may be true of the items of one partition key.
//!
//! Only one worker uses a partition key, one operation at a time. A write that was acknowledged leaves
//! one possibility; one of which nobody knows whether it was done leaves what was possible, and
//! what it would have made of it.

use std::collections::{BTreeMap, BTreeSet};

/// How many items a partition key has at most.
pub(crate) const IDS: usize = 4;

/// What an item holds; `None`: there is no such item.
pub(crate) type Held = Option<u64>;

/// What each item of a partition key may hold.
#[derive(Clone, Debug)]
pub(crate) struct Model([BTreeSet<Held>; IDS]);

impl Default for Model {
    /// There are no items.
    fn default() -> Self {
        Self(std::array::from_fn(|_| BTreeSet::from([None])))
    }
}

impl Model {
    /// An item holds this for certain.
    pub(crate) fn is(&mut self, item: usize, held: Held) {
        self.0[item] = BTreeSet::from([held]);
    }

    /// An item may hold this, too.
    pub(crate) fn may_be(&mut self, item: usize, held: Held) {
        self.0[item].insert(held);
    }

    pub(crate) fn may_be_absent(&self, item: usize) -> bool {
        self.0[item].contains(&None)
    }

    pub(crate) fn may_be_present(&self, item: usize) -> bool {
        self.0[item].iter().any(Option::is_some)
    }

    /// What is wrong with an item that was found to hold this.
    pub(crate) fn check(&self, item: usize, held: Held) -> Result<(), String> {
        let possible = &self.0[item];
        if possible.contains(&held) {
            Ok(())
        } else {
            Err(format!("item {item} is {held:?}, not one of {possible:?}"))
        }
    }

    /// What is wrong with everything that was found of a partition key.
    pub(crate) fn check_all(&self, found: &BTreeMap<usize, u64>) -> Result<(), String> {
        (0..IDS).try_for_each(|item| self.check(item, found.get(&item).copied()))
    }
}
