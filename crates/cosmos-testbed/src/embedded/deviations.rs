//! Deviations from the account's topology that the emulator does not have.

use std::collections::HashSet;

use parking_lot::RwLock;
use serde::{Deserialize, Serialize};

/// A partition key range whose writes moved to another region than the account's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReassignedRange {
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
    /// The partition key range's id.
    pub range: String,
    /// The region that takes the range's writes.
    pub region: String,
}

/// The ranges whose writes moved.
#[derive(Debug, Default)]
pub(crate) struct ReassignedRanges(RwLock<Vec<ReassignedRange>>);

impl ReassignedRanges {
    pub(crate) fn place(&self, moved: ReassignedRange) {
        let mut ranges = self.0.write();
        ranges.retain(|range| !range.is(&moved.database, &moved.container, &moved.range));
        ranges.push(moved);
    }

    pub(crate) fn restore(&self, database: &str, container: &str, range: &str) -> bool {
        let mut ranges = self.0.write();
        let before = ranges.len();
        ranges.retain(|moved| !moved.is(database, container, range));
        ranges.len() != before
    }

    pub(crate) fn any_in(&self, database: &str, container: &str) -> bool {
        let ranges = self.0.read();
        ranges
            .iter()
            .any(|moved| moved.database == database && moved.container == container)
    }

    pub(crate) fn owner(&self, database: &str, container: &str, range: &str) -> Option<String> {
        let ranges = self.0.read();
        let moved = ranges
            .iter()
            .find(|moved| moved.is(database, container, range))?;
        Some(moved.region.clone())
    }

    pub(crate) fn all(&self) -> Vec<ReassignedRange> {
        self.0.read().clone()
    }
}

impl ReassignedRange {
    pub(crate) fn new(database: &str, container: &str, range: &str, region: &str) -> Self {
        Self {
            database: database.to_owned(),
            container: container.to_owned(),
            range: range.to_owned(),
            region: region.to_owned(),
        }
    }

    fn is(&self, database: &str, container: &str, range: &str) -> bool {
        self.database == database && self.container == container && self.range == range
    }
}

/// The regions that answer every data read with 404/1002.
#[derive(Debug, Default)]
pub(crate) struct LaggingSessions(RwLock<HashSet<String>>);

impl LaggingSessions {
    pub(crate) fn set(&self, region: &str, lags: bool) {
        let mut regions = self.0.write();
        if lags {
            regions.insert(region.to_owned());
        } else {
            regions.remove(region);
        }
    }

    pub(crate) fn lags(&self, region: &str) -> bool {
        self.0.read().contains(region)
    }
}
