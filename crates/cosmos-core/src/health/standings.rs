//! How the regions of one partition stand.

use crate::selection::{Standing, Standings};
use crate::{Access, Region, RegionSet};

/// How a partition stands in each region, at the instant it was asked for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionStandings {
    pub(super) bad: RegionSet,
    pub(super) due: RegionSet,
}

impl PartitionStandings {
    /// The regions to avoid.
    #[must_use]
    pub const fn bad(&self) -> RegionSet {
        self.bad
    }

    /// The regions that one request may probe.
    #[must_use]
    pub const fn due(&self) -> RegionSet {
        self.due
    }

    /// Whether no circuit speaks against any region.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.bad.is_empty() && self.due.is_empty()
    }
}

impl Standings for PartitionStandings {
    // A partition that is sick in a region is so for reads and writes.
    fn standing(&self, region: Region, _: Access) -> Standing {
        if self.bad.contains(region) {
            Standing::Bad
        } else if self.due.contains(region) {
            Standing::Due
        } else {
            Standing::Good
        }
    }
}
