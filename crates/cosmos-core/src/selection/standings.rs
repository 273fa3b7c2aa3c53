//! How regions stand.

use crate::{Access, Region};

/// Whether something that keeps a state per region lets a request through.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Nothing speaks against the region.
    Good,
    /// The region is to be tried by one request at a time.
    Due,
    /// The region is to be avoided.
    Bad,
}

/// Answers how a region stands: the account's endpoint marks do, and a breaker's circuits.
pub trait Standings: std::fmt::Debug {
    /// How the region stands for this access.
    fn standing(&self, region: Region, access: Access) -> Standing;
}

/// Everything is good: an account without marks, an operation without a breaker.
#[derive(Copy, Clone, Debug, Default)]
pub struct AllGood;

impl Standings for AllGood {
    fn standing(&self, _: Region, _: Access) -> Standing {
        Standing::Good
    }
}
