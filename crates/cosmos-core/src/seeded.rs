//! Faults of our own making, one for each safety rule, so that the checks are seen to find them.
//!
//! They exist only where the project is built with `--cfg cosmos_faults`, and then only one at a
//! time, once it is planted. Otherwise [`is`] is `false` when compiled.

/// A fault, named after what it does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// Rule 1: the regions that the caller excluded are used.
    IgnoredExclusion = 1,
    /// Rule 2: moves to another region are not entered into the journal's budget.
    BudgetOutsideJournal,
    /// Rule 3: the deadline stops neither a wait nor an attempt.
    SendAfterDeadline,
    /// Rule 4: a stored procedure that may have run is sent again.
    ProcedureTwice,
    /// Rule 5: retries go without the session token.
    DroppedToken,
    /// Rule 6: a layer answers with something that no region sent.
    MadeUpResponse,
    /// Rule 7: each retry adds a value to a header.
    GrowingHeader,
    /// Rule 8: a probe that is dropped keeps its lease.
    LeakedLease,
    /// Rule 9: a service that was readied and not called keeps its permit.
    LeakedPermit,
    /// Rule 10: an open circuit is never due for a probe.
    NeverProbes,
}

impl Fault {
    /// All of them, in the order of the rules.
    pub const ALL: [Self; 10] = [
        Self::IgnoredExclusion,
        Self::BudgetOutsideJournal,
        Self::SendAfterDeadline,
        Self::ProcedureTwice,
        Self::DroppedToken,
        Self::MadeUpResponse,
        Self::GrowingHeader,
        Self::LeakedLease,
        Self::LeakedPermit,
        Self::NeverProbes,
    ];
}

/// Whether this fault is planted.
#[inline]
#[must_use]
pub fn is(fault: Fault) -> bool {
    #[cfg(cosmos_faults)]
    return planted::is(fault);
    #[cfg(not(cosmos_faults))]
    {
        let _ = fault;
        false
    }
}

#[cfg(cosmos_faults)]
pub use planted::plant;

#[cfg(cosmos_faults)]
mod planted {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::Fault;

    static PLANTED: AtomicU8 = AtomicU8::new(0);

    /// Plants a fault, for the whole process, in place of any other.
    pub fn plant(fault: Option<Fault>) {
        PLANTED.store(fault.map_or(0, |fault| fault as u8), Ordering::Relaxed);
    }

    pub(super) fn is(fault: Fault) -> bool {
        PLANTED.load(Ordering::Relaxed) == fault as u8
    }
}
