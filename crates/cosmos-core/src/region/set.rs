//! A set of regions that copies like a number.

use std::fmt;

use super::{MAX_REGIONS, Region};

const WORDS: usize = MAX_REGIONS / 64;

/// A set of regions. `Copy`, 32 bytes, no allocation.
#[derive(Copy, Clone, Default, PartialEq, Eq, Hash)]
pub struct RegionSet([u64; WORDS]);

impl RegionSet {
    /// The empty set.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Adds a region.
    pub fn insert(&mut self, region: Region) {
        self.0[region.index() / 64] |= 1 << (region.index() % 64);
    }

    /// Whether the region is in the set.
    #[must_use]
    pub const fn contains(&self, region: Region) -> bool {
        self.0[region.index() / 64] & (1 << (region.index() % 64)) != 0
    }

    /// Whether no region is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// The regions of either set.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
        self
    }

    /// The regions in the set, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = Region> + use<> {
        let set = *self;
        (0..=u8::MAX)
            .map(Region)
            .filter(move |region| set.contains(*region))
    }
}

impl FromIterator<Region> for RegionSet {
    fn from_iter<I: IntoIterator<Item = Region>>(regions: I) -> Self {
        let mut set = Self::EMPTY;
        for region in regions {
            set.insert(region);
        }
        set
    }
}

impl Extend<Region> for RegionSet {
    fn extend<I: IntoIterator<Item = Region>>(&mut self, regions: I) {
        for region in regions {
            self.insert(region);
        }
    }
}

impl fmt::Debug for RegionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_was_put_in_and_nothing_else() {
        let a = Region::named("East US").unwrap();
        let b = Region::named("West US 3").unwrap();
        let mut set: RegionSet = [a].into_iter().collect();
        assert!(set.contains(a) && !set.contains(b) && !set.is_empty());
        set.extend([b]);
        assert_eq!(set.iter().collect::<Vec<_>>().len(), 2);
        assert_eq!(set, RegionSet::EMPTY.union([b, a].into_iter().collect()));
    }
}
