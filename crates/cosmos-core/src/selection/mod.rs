//! Which region an attempt goes to: the only place that chooses.
//!
//! In this order, after the excluded regions are removed:
//!
//! 1. the pin: the region whose answer is being repeated;
//! 2. the first choice, if untried, with its circuit closed and its endpoint available;
//! 3. in the order of the candidate list: available and untried;
//! 4. available: the one attempted least, then longest ago;
//! 5. only if none is available: the hub (multi-write accounts: the first preferred write region)
//!    if it is an untried candidate, else an untried one, else the one attempted least. Metadata
//!    operations go to the global endpoint instead.
//!
//! *Available* means that the circuit is closed and the endpoint unmarked. An endpoint whose mark
//! has expired, or a circuit due for a probe, counts as available for the one request that gets
//! the trial or the probe.
//!
//! Exclusions are policy: they hold on every path. Only if *every* candidate is excluded does one
//! request go to the last resort, and none with strict exclusions (retry specification, "Endpoint
//! Exhaustion Fallback").

mod history;
mod standings;

use crate::seeded::{self, Fault};
use crate::{Access, FailureKind, Operation, Region, RegionSet, Steering, Topology};

pub use history::{History, failed_in_region};
pub use standings::{AllGood, Standing, Standings};

/// Which regions an operation may go to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Those that the account lists for its access.
    #[default]
    Listed,
    /// Every region of the account: a single-write account moves the write region of single
    /// partitions, to any region that it replicates to.
    Everywhere,
}

/// What a choice depends on.
#[derive(Copy, Clone, Debug)]
pub struct View<'a> {
    /// The account's regions.
    pub topology: &'a Topology,
    /// What the request does.
    pub operation: Operation,
    /// Which regions it may go to.
    pub scope: Scope,
    /// The regions that the caller or the account's owner excluded.
    pub excluded: RegionSet,
    /// Whether to refuse if every candidate is excluded.
    pub strict: bool,
    /// Where the routing layers want the attempt to go.
    pub steering: Steering,
    /// What the operation's attempts have shown so far.
    pub history: &'a History,
    /// The account's endpoint marks.
    pub marks: &'a dyn Standings,
    /// The breaker's circuits for this operation, if a breaker manages it.
    pub circuits: Option<&'a dyn Standings>,
}

/// Where an attempt goes, and what it must take with it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The region; [`Region::GLOBAL`] for the global endpoint.
    pub region: Region,
    /// The endpoint's mark has expired: the attempt must take the trial, or choose again.
    pub trial: bool,
    /// The circuit is due for a probe: the attempt must take the lease, or choose again.
    pub probe: bool,
    /// Every candidate is excluded: this is the only request that may be sent.
    pub sole: bool,
    /// No candidate was available: whatever comes of it, there was nowhere better to go.
    pub last_resort: bool,
}

impl Choice {
    const fn plain(region: Region) -> Self {
        Self {
            region,
            trial: false,
            probe: false,
            sole: false,
            last_resort: false,
        }
    }
}

/// The candidate regions of an operation, best first, before anything is removed.
///
/// Metadata writes go to the hub alone, even where every region accepts items.
#[must_use]
pub fn candidates(topology: &Topology, operation: Operation, scope: Scope) -> &[Region] {
    if scope == Scope::Everywhere {
        return topology.write_order_everywhere();
    }
    let order = topology.order(access(operation));
    if operation.is_metadata() && operation.is_write() {
        let hub = topology.hub();
        let position = order.iter().position(|region| Some(*region) == hub);
        return position.map_or(order, |position| &order[position..=position]);
    }
    order
}

/// Whether the operation uses the read or the write side of endpoints.
#[must_use]
pub const fn access(operation: Operation) -> Access {
    if operation.is_read() {
        Access::Read
    } else {
        Access::Write
    }
}

/// Chooses the region of the next attempt.
///
/// # Errors
/// [`FailureKind::Excluded`] if every candidate is excluded and nothing may be sent (any more).
pub fn choose(view: &View<'_>) -> Result<Choice, FailureKind> {
    let candidates = view.candidates();
    let mut allowed = candidates
        .iter()
        .copied()
        .filter(|region| view.allows(*region))
        .peekable();
    if allowed.peek().is_none() {
        return view.exhausted();
    }
    if let Some(pin) = view.steering.pin
        && view.allows(pin)
        && view.has(pin)
    {
        return Ok(Choice {
            last_resort: view.circuits.is_some() && !view.any_available(),
            ..Choice::plain(pin)
        });
    }
    if let Some(first) = view.steering.first_choice
        && candidates.contains(&first)
        && view.allows(first)
        && !view.history.tried(first)
        && let Some(choice) = view.if_available(first)
    {
        return Ok(choice);
    }
    let mut least: Option<(Choice, (u32, usize))> = None;
    for region in allowed {
        let Some(choice) = view.if_available(region) else {
            continue;
        };
        if !view.history.tried(region) {
            return Ok(choice);
        }
        let use_so_far = view.history.usage(region);
        if least.is_none_or(|(_, best)| use_so_far < best) {
            least = Some((choice, use_so_far));
        }
    }
    if let Some((choice, _)) = least {
        return Ok(choice);
    }
    Ok(Choice {
        last_resort: true,
        ..Choice::plain(view.none_available(candidates))
    })
}

/// Whether an untried candidate other than `chosen` is available, so that an attempt there should
/// leave some of the operation's time for it.
#[must_use]
pub fn has_alternative(view: &View<'_>, chosen: Region) -> bool {
    view.candidates().iter().any(|region| {
        *region != chosen
            && view.allows(*region)
            && !view.history.tried(*region)
            && view.if_available(*region).is_some()
    })
}

impl View<'_> {
    fn candidates(&self) -> &[Region] {
        candidates(self.topology, self.operation, self.scope)
    }

    fn any_available(&self) -> bool {
        self.candidates()
            .iter()
            .any(|region| self.allows(*region) && self.if_available(*region).is_some())
    }

    fn allows(&self, region: Region) -> bool {
        // The global endpoint is no region, so no exclusion is about it.
        region == Region::GLOBAL
            || !self.excluded.contains(region)
            || seeded::is(Fault::IgnoredExclusion)
    }

    /// Whether the region is one of the account's; the global endpoint is one for metadata only.
    fn has(&self, region: Region) -> bool {
        self.topology.lists(region) || region == Region::GLOBAL && self.operation.is_metadata()
    }

    fn if_available(&self, region: Region) -> Option<Choice> {
        let access = access(self.operation);
        let mark = self.marks.standing(region, access);
        let circuit = self
            .circuits
            .map_or(Standing::Good, |circuits| circuits.standing(region, access));
        // A stored procedure that fails as a probe could not be tried elsewhere.
        let probe_allowed = !self.operation.is_stored_procedure_execution();
        match (mark, circuit) {
            (Standing::Bad, _) | (_, Standing::Bad) => None,
            (_, Standing::Due) if !probe_allowed => None,
            (mark, circuit) => Some(Choice {
                trial: mark == Standing::Due,
                probe: circuit == Standing::Due,
                ..Choice::plain(region)
            }),
        }
    }

    /// No candidate is available, but some are allowed: use those rather than give up.
    fn none_available(&self, candidates: &[Region]) -> Region {
        if self.operation.is_metadata() {
            return Region::GLOBAL;
        }
        let allowed = || {
            candidates
                .iter()
                .copied()
                .filter(|region| self.allows(*region))
        };
        let last_resort = self.topology.last_resort();
        let untried = |region: &Region| !self.history.tried(*region);
        allowed()
            .find(|region| Some(*region) == last_resort && untried(region))
            .or_else(|| allowed().find(untried))
            .or_else(|| allowed().min_by_key(|region| self.history.usage(*region)))
            .unwrap_or(Region::GLOBAL)
    }

    /// Every candidate is excluded, or there is none.
    fn exhausted(&self) -> Result<Choice, FailureKind> {
        // The regions changed under the operation: it stays where it may be until its budget ends,
        // even if that region has left the account. The global endpoint is no such region: no
        // exclusion names it, and it has had the one request.
        let access = access(self.operation);
        if let Some(last) = self.history.last_region()
            && last != Region::GLOBAL
            && self.allows(last)
            && self.topology.endpoint(last, access).is_some()
        {
            return Ok(Choice {
                last_resort: true,
                ..Choice::plain(last)
            });
        }
        if self.strict || self.history.last_region().is_some() {
            return Err(FailureKind::Excluded);
        }
        let region = if self.operation.is_metadata() {
            Region::GLOBAL
        } else {
            self.topology.last_resort().ok_or(FailureKind::NoTopology)?
        };
        Ok(Choice {
            sole: true,
            last_resort: true,
            ..Choice::plain(region)
        })
    }
}
