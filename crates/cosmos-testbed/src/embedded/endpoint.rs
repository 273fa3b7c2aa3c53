//! What the account's listeners are called.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// One listener of the account: the global endpoint or one region's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Endpoint {
    /// The global endpoint, which hands requests to the hub.
    Global,
    /// A region's endpoint, by the region's display name.
    Region(Arc<str>),
}

impl Endpoint {
    /// The endpoint of the region called `name`.
    #[must_use]
    pub fn region(name: &str) -> Self {
        Self::Region(name.into())
    }

    /// The region's display name, if this is a region's endpoint.
    #[must_use]
    pub fn region_name(&self) -> Option<&str> {
        match self {
            Self::Global => None,
            Self::Region(name) => Some(name),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.region_name().unwrap_or("global"))
    }
}

impl Serialize for Endpoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
