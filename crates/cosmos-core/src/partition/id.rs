//! The names of partitions.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The id of a partition key range, such as `0` or `17`: a physical partition of a container.
///
/// Ids are text to the service. In practice they are numbers, and are kept as such, so that tables
/// of many partitions stay small.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RangeId(Repr);

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Repr {
    Number(u32),
    Text(Arc<str>),
}

impl RangeId {
    /// The range of this id.
    #[must_use]
    pub fn new(id: &str) -> Self {
        let leads = id.starts_with(['0', '+']);
        match id.parse() {
            Ok(number) if !leads || id == "0" => Self(Repr::Number(number)),
            _ => Self(Repr::Text(id.into())),
        }
    }

    /// How long the text is that is kept for the id, in bytes: nothing for a number.
    pub(crate) fn text_len(&self) -> usize {
        match &self.0 {
            Repr::Number(_) => 0,
            Repr::Text(text) => text.len(),
        }
    }
}

impl From<u32> for RangeId {
    fn from(number: u32) -> Self {
        Self(Repr::Number(number))
    }
}

impl From<&str> for RangeId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl FromStr for RangeId {
    type Err = Infallible;

    fn from_str(id: &str) -> Result<Self, Infallible> {
        Ok(Self::new(id))
    }
}

impl fmt::Display for RangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Number(number) => number.fmt(f),
            Repr::Text(text) => text.fmt(f),
        }
    }
}

impl fmt::Debug for RangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What state per partition is kept for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partition<'a> {
    /// The container's link, such as `dbs/shop/colls/carts`; empty for the account's metadata.
    pub container: &'a str,
    /// The partition key range; `None` for the container as a whole, where the range of an
    /// operation is not known.
    pub range: Option<&'a RangeId>,
}

impl Partition<'_> {
    /// No partition at all: the account's metadata.
    pub const METADATA: Partition<'static> = Partition {
        container: "",
        range: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_comes_back_as_it_was() {
        let odd = ["", "00", "007", "+1", "-1", "4294967296", "a", "1 ", "é"];
        for id in ["0", "7", "17", "4294967295"].iter().chain(&odd) {
            assert_eq!(RangeId::new(id).to_string(), *id);
        }
        assert_ne!(RangeId::new("7"), RangeId::new("07"));
        assert_eq!(RangeId::new("7"), RangeId::from(7));
    }

    #[test]
    fn it_is_small() {
        assert_eq!(size_of::<RangeId>(), 16);
    }
}
