//! What is known of an account's regions: an immutable snapshot made from the account document.
//!
//! A refresh makes a new snapshot; nothing in an old one ever changes, so an attempt that began
//! with one ends with it.

mod document;

use crate::{Endpoint, Region, RegionSet};

pub use document::TopologyError;

/// Whether an operation reads or writes: endpoints, candidate lists and marks are kept apart.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads, feeds and queries.
    Read,
    /// Everything that changes something.
    Write,
}

/// A region and where it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Location {
    region: Region,
    endpoint: Endpoint,
}

/// The account's regions, in the account's order and in the order to try them.
#[derive(Clone, Debug)]
pub struct Topology {
    generation: u64,
    global: Endpoint,
    readable: Vec<Location>,
    writable: Vec<Location>,
    multi_write: bool,
    per_partition_failover: bool,
    session_consistency: bool,
    read_order: Vec<Region>,
    write_order: Vec<Region>,
    write_order_everywhere: Vec<Region>,
    unknown_preferences: Vec<Region>,
    departed: Vec<Location>,
}

/// How many regions that have left the account are remembered.
const MAX_DEPARTED: usize = 16;

impl Topology {
    /// Reads the account document (`GET /`) and arranges its regions by preference.
    ///
    /// Entries without a name or endpoint are skipped, unknown fields ignored, absent flags false.
    ///
    /// # Errors
    /// [`TopologyError`] if the text is no such document or names no region at all: the caller
    /// then keeps what it had.
    pub fn parse(
        document: &[u8],
        global: &Endpoint,
        preferred: &[Region],
    ) -> Result<Self, TopologyError> {
        let document = document::read(document)?;
        let mut topology = Self {
            generation: 0,
            global: global.clone(),
            multi_write: document.multi_write,
            per_partition_failover: document.per_partition_failover,
            session_consistency: document.session_consistency,
            readable: document.readable,
            writable: document.writable,
            read_order: Vec::new(),
            write_order: Vec::new(),
            write_order_everywhere: Vec::new(),
            unknown_preferences: Vec::new(),
            departed: Vec::new(),
        };
        topology.arrange(preferred);
        Ok(topology)
    }

    /// The topology of an account whose discovery is off: everything goes to the one endpoint.
    #[must_use]
    pub fn fixed(endpoint: &Endpoint) -> Self {
        let only = Location {
            region: Region::GLOBAL,
            endpoint: endpoint.clone(),
        };
        let mut topology = Self {
            generation: 0,
            global: endpoint.clone(),
            readable: vec![only.clone()],
            writable: vec![only],
            multi_write: false,
            per_partition_failover: false,
            session_consistency: true,
            read_order: Vec::new(),
            write_order: Vec::new(),
            write_order_everywhere: Vec::new(),
            unknown_preferences: Vec::new(),
            departed: Vec::new(),
        };
        topology.arrange(&[]);
        topology
    }

    fn arrange(&mut self, preferred: &[Region]) {
        // A failover can leave either list empty for a while. The other list is the best guess:
        // the account orders its readable regions by failover priority.
        let readable = if self.readable.is_empty() {
            &self.writable
        } else {
            &self.readable
        };
        let writable = if self.writable.is_empty() {
            &self.readable
        } else {
            &self.writable
        };
        self.read_order = ordered(readable, preferred);
        // On a single-write account entry 0 is the writer whatever the caller prefers.
        self.write_order = ordered(writable, if self.multi_write { preferred } else { &[] });
        // The account's own order is its failover priority.
        let everywhere = self.write_order.iter().copied().chain(self.readable());
        self.write_order_everywhere = distinct(everywhere);
        self.unknown_preferences = preferred
            .iter()
            .copied()
            .filter(|region| !self.lists(*region))
            .collect();
    }

    /// Makes this the snapshot that follows another one.
    ///
    /// It still knows where the regions were that have left the account meanwhile, for operations
    /// that may go nowhere else; they are no candidates.
    #[must_use]
    pub fn succeeding(mut self, previous: &Self) -> Self {
        self.generation = previous.generation + 1;
        let before = previous
            .readable
            .iter()
            .chain(&previous.writable)
            .chain(&previous.departed);
        for location in before {
            let known = self
                .departed
                .iter()
                .any(|departed| departed.region == location.region);
            if !known && !self.lists(location.region) && self.departed.len() < MAX_DEPARTED {
                self.departed.push(location.clone());
            }
        }
        self
    }

    /// The number of this snapshot: 0 for the first, one more for each that follows.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether every region accepts writes.
    #[must_use]
    pub const fn is_multi_write(&self) -> bool {
        self.multi_write
    }

    /// Whether the account moves write regions partition by partition.
    #[must_use]
    pub const fn has_per_partition_failover(&self) -> bool {
        self.per_partition_failover
    }

    /// Whether the account's default consistency is session. Where nothing is known, it is: a
    /// token too many does no harm, one too few can lose a client its own writes.
    #[must_use]
    pub const fn has_session_consistency(&self) -> bool {
        self.session_consistency
    }

    /// The write region of a single-write account; the first listed one of a multi-write account.
    #[must_use]
    pub fn hub(&self) -> Option<Region> {
        // Never the order of writes: on a multi-write account, that is the caller's preference.
        self.writable
            .first()
            .or(self.readable.first())
            .map(|location| location.region)
    }

    /// Where data goes when nothing better is left: the hub, on a multi-write account the first
    /// preferred write region (retry specification, "Endpoint Exhaustion Fallback").
    #[must_use]
    pub fn last_resort(&self) -> Option<Region> {
        if self.multi_write {
            self.write_order.first().copied()
        } else {
            self.hub()
        }
    }

    /// The regions to try, best first: preferred ones, then the rest in the account's order.
    #[must_use]
    pub fn order(&self, access: Access) -> &[Region] {
        match access {
            Access::Read => &self.read_order,
            Access::Write => &self.write_order,
        }
    }

    /// The regions to try for a write whose partition may have moved to any of them: the write
    /// list, then the others in the account's order.
    #[must_use]
    pub fn write_order_everywhere(&self) -> &[Region] {
        &self.write_order_everywhere
    }

    /// The readable regions in the account's own order, which is its failover priority.
    pub fn readable(&self) -> impl Iterator<Item = Region> + '_ {
        self.readable.iter().map(|location| location.region)
    }

    /// The writable regions in the account's own order.
    pub fn writable(&self) -> impl Iterator<Item = Region> + '_ {
        self.writable.iter().map(|location| location.region)
    }

    /// Every region of the account.
    #[must_use]
    pub fn regions(&self) -> RegionSet {
        self.readable().chain(self.writable()).collect()
    }

    /// Whether the account has the region.
    #[must_use]
    pub fn lists(&self, region: Region) -> bool {
        self.readable()
            .chain(self.writable())
            .any(|listed| listed == region)
    }

    /// The preferred regions that the account does not have: a typing error, or a region removed.
    #[must_use]
    pub fn unknown_preferences(&self) -> &[Region] {
        &self.unknown_preferences
    }

    /// Where the region is reached for this access. [`Region::GLOBAL`] is the global endpoint.
    #[must_use]
    pub fn endpoint(&self, region: Region, access: Access) -> Option<&Endpoint> {
        if region == Region::GLOBAL {
            return Some(&self.global);
        }
        let (first, second) = match access {
            Access::Read => (&self.readable, &self.writable),
            Access::Write => (&self.writable, &self.readable),
        };
        first
            .iter()
            .chain(second)
            .chain(&self.departed)
            .find(|location| location.region == region)
            .map(|location| &location.endpoint)
    }

    /// Whether an absolute URI names one of the account's endpoints.
    #[must_use]
    pub fn owns(&self, uri: &http::Uri) -> bool {
        self.global.is_of(uri)
            || self
                .readable
                .iter()
                .chain(&self.writable)
                .any(|l| l.endpoint.is_of(uri))
    }

    /// Whether an absolute URI names an endpoint that has left the account.
    #[must_use]
    pub fn owned(&self, uri: &http::Uri) -> bool {
        self.departed.iter().any(|l| l.endpoint.is_of(uri))
    }

    /// The distinct regional endpoints, to read the account document from when the global one
    /// fails.
    #[must_use]
    pub fn regional_endpoints(&self) -> Vec<Endpoint> {
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for region in self.read_order.iter().chain(&self.write_order) {
            if let Some(endpoint) = self.endpoint(*region, Access::Read)
                && *endpoint != self.global
                && !endpoints.contains(endpoint)
            {
                endpoints.push(endpoint.clone());
            }
        }
        endpoints
    }

    /// Whether the account's list for this access differs from another snapshot's.
    #[must_use]
    pub fn list_differs(&self, other: &Self, access: Access) -> bool {
        match access {
            Access::Read => self.readable != other.readable,
            Access::Write => {
                self.writable != other.writable || self.multi_write != other.multi_write
            }
        }
    }
}

fn ordered(account: &[Location], preferred: &[Region]) -> Vec<Region> {
    let listed = |region: &Region| account.iter().any(|location| location.region == *region);
    let wanted = preferred.iter().copied().filter(listed);
    distinct(wanted.chain(account.iter().map(|location| location.region)))
}

fn distinct(regions: impl Iterator<Item = Region>) -> Vec<Region> {
    let mut distinct = Vec::new();
    for region in regions {
        if !distinct.contains(&region) {
            distinct.push(region);
        }
    }
    distinct
}
