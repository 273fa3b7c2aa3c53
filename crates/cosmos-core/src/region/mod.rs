//! Azure regions: names that users write in many ways, interned to one small number each.
//!
//! Interning is process-wide, so an [`OperationOptions`](crate::OperationOptions) can exclude a
//! region before any account is known, and a [`RegionSet`] is a plain bit set. There is room for
//! [`MAX_REGIONS`] names. A name that does not fit is an error where a user wrote it (an exclusion
//! is never silently lost) and a skipped entry where a server sent it.

mod names;
mod set;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use parking_lot::RwLock;

pub use set::RegionSet;

/// How many distinct region names one process can hold, the known Azure names included.
pub const MAX_REGIONS: usize = 256;

/// The longest region name accepted, in bytes after normalisation.
const MAX_NAME: usize = 64;

/// A region of an account.
///
/// Two spellings of one name (`"West US 3"`, `"westus3"`, `"west-us_3"`) are the same region.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region(u8);

/// Why a text cannot name a region.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// Nothing is left of the name once blanks, `-` and `_` are dropped.
    #[error("a region's name is blank")]
    Blank,
    /// The name is longer than any region's name.
    #[error("a region's name has more than {MAX_NAME} characters")]
    TooLong,
    /// The process already knows [`MAX_REGIONS`] names.
    #[error("no room for another region's name: {MAX_REGIONS} are known already")]
    Full,
}

impl Region {
    /// The global endpoint, or the only one when discovery is off. Not a region of any account:
    /// no text parses to it and no exclusion can name it.
    pub const GLOBAL: Self = Self(0);

    /// The region of this name, however it is spelled: case, blanks, `-` and `_` do not matter.
    ///
    /// # Errors
    /// [`RegionError`] if the name is blank, too long, or the 257th distinct one.
    pub fn named(name: &str) -> Result<Self, RegionError> {
        let normal = normalise(name)?;
        if let Some(&known) = INTERNED.read().by_name.get(normal.as_str()) {
            return Ok(known);
        }
        INTERNED.write().insert(&normal)
    }

    /// The normalised name: lower case without blanks, such as `westus3`.
    #[must_use]
    pub fn name(self) -> &'static str {
        INTERNED.read().names[usize::from(self.0)]
    }

    /// Whether the name is one of the Azure regions known when this library was released. A new
    /// region works all the same; a typing error does not, and this tells them apart.
    #[must_use]
    pub fn is_known(self) -> bool {
        usize::from(self.0) <= names::KNOWN.len()
    }

    /// A number below [`MAX_REGIONS`], fixed for the life of the process, to index tables by.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Region {
    type Err = RegionError;

    fn from_str(name: &str) -> Result<Self, RegionError> {
        Self::named(name)
    }
}

struct Interned {
    names: Vec<&'static str>,
    by_name: HashMap<&'static str, Region>,
}

static INTERNED: LazyLock<RwLock<Interned>> = LazyLock::new(|| {
    let mut interned = Interned {
        names: vec!["global"],
        by_name: HashMap::new(),
    };
    for name in names::KNOWN {
        interned.add(name);
    }
    RwLock::new(interned)
});

impl Interned {
    fn insert(&mut self, name: &str) -> Result<Region, RegionError> {
        // Looked up again: another thread may have added it between the two locks.
        if let Some(&known) = self.by_name.get(name) {
            return Ok(known);
        }
        if self.names.len() == MAX_REGIONS {
            return Err(RegionError::Full);
        }
        // Leaked on purpose: at most 256 short names per process, so that a region is a number.
        Ok(self.add(Box::leak(name.to_owned().into_boxed_str())))
    }

    fn add(&mut self, name: &'static str) -> Region {
        // The callers keep the table within MAX_REGIONS, which a u8 numbers exactly.
        #[allow(clippy::cast_possible_truncation)]
        let region = Region(self.names.len() as u8);
        self.names.push(name);
        self.by_name.insert(name, region);
        region
    }
}

fn normalise(name: &str) -> Result<String, RegionError> {
    let mut normal = String::with_capacity(name.len().min(MAX_NAME));
    for c in name
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_'))
    {
        if normal.len() >= MAX_NAME {
            return Err(RegionError::TooLong);
        }
        normal.extend(c.to_lowercase());
    }
    if normal.is_empty() {
        Err(RegionError::Blank)
    } else {
        Ok(normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_name_is_the_same_region() {
        let region = Region::named("West US 3").unwrap();
        for spelling in [
            "westus3",
            "WESTUS3",
            "west-us-3",
            "West_US_3",
            " west us 3 ",
        ] {
            assert_eq!(Region::named(spelling).unwrap(), region, "{spelling}");
        }
        assert_eq!(region.name(), "westus3");
        assert!(region.is_known());
        assert!(!Region::named("Wset US 3").unwrap().is_known());
    }

    #[test]
    fn the_global_endpoint_cannot_be_named() {
        assert_ne!(Region::named("global").unwrap(), Region::GLOBAL);
    }

    #[test]
    fn a_name_that_is_blank_or_endless_is_an_error() {
        assert_eq!(Region::named(" -_ "), Err(RegionError::Blank));
        assert_eq!(
            Region::named(&"x".repeat(10_000)),
            Err(RegionError::TooLong)
        );
    }
}
