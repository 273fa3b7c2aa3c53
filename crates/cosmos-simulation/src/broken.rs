//! A rule that did not hold.

use std::fmt;

use cosmos_tests::rules::Check;

/// What must hold in every run: the safety rules, and a few more.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// 1: an excluded region sees no data request while another candidate exists.
    Exclusions,
    /// 2: every kind of retry stays within its budget, and all of them within theirs.
    Budgets,
    /// 3: nothing is sent after the deadline, or after the caller left.
    Deadline,
    /// 4: a stored procedure that may have run is not sent again.
    Procedures,
    /// 5: the session token is the same on every attempt.
    SessionToken,
    /// 6: every response was sent by a region.
    Responses,
    /// 7: requests that are repeated are the same, and no header grows.
    Replays,
    /// 8: one probe of a partition in a region at a time; a dropped one frees its lease.
    Probes,
    /// 9: every operation ends, and leaves nothing behind.
    Ends,
    /// 10: once faults end, traffic is back in the preferred region.
    Returns,
    /// An operation that a healthy region could have answered is answered.
    Availability,
    /// Each further try follows what asks for it, goes where it should, and waits as it was told.
    Tries,
    /// The account document is read once in an interval at most.
    Refreshes,
    /// What is kept of partitions and regions goes again.
    Memory,
    /// The journal tells what the wire saw.
    Journal,
    /// No secret shows, and a foreign host sees nothing of ours.
    Secrets,
}

/// A rule that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub rule: Rule,
    /// What was seen.
    pub what: String,
}

impl Broken {
    pub(crate) fn new(rule: Rule, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { rule, what }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.what)
    }
}

/// Says which rule a check is for.
pub(crate) trait Of {
    fn of(self, rule: Rule) -> Result<(), Broken>;
}

impl Of for Check {
    fn of(self, rule: Rule) -> Result<(), Broken> {
        self.map_err(|what| Broken::new(rule, what))
    }
}
