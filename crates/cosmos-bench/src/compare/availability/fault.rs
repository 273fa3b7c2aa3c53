//! What the preferred region suffers, and whose operations.

use std::time::Duration;

use clap::ValueEnum;
use cosmos_testbed::embedded::{FaultKind, FaultRule, FaultedRequests};

use super::scene::PREFERRED;

/// What goes wrong in the preferred region.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fault {
    /// Requests are read and never answered.
    Hang,
    /// Connections are closed, and new ones refused.
    Refuse,
    /// Connections are reset once a request was read.
    Reset,
    /// Answers break off in the middle of their bodies.
    CutBody,
    /// 503.
    Unavailable,
    /// 429/3092: the region has no capacity left.
    Throttled,
    /// 404/1002 to reads: the region lags behind the session.
    SessionLag,
    /// 403/3 to writes, though the account document lists the region as one that writes.
    WriteForbidden,
    /// 503, one partition alone.
    PartitionUnavailable,
    /// A hang, one partition alone.
    PartitionHangs,
}

impl Fault {
    /// All of them, in the order of the table.
    pub(super) const ALL: [Self; 10] = [
        Self::Hang,
        Self::Refuse,
        Self::Reset,
        Self::CutBody,
        Self::Unavailable,
        Self::Throttled,
        Self::SessionLag,
        Self::WriteForbidden,
        Self::PartitionUnavailable,
        Self::PartitionHangs,
    ];

    /// What the table calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hang => "hang",
            Self::Refuse => "refused",
            Self::Reset => "reset",
            Self::CutBody => "body cut",
            Self::Unavailable => "503",
            Self::Throttled => "429/3092",
            Self::SessionLag => "404/1002 on reads",
            Self::WriteForbidden => "403/3 on writes",
            Self::PartitionUnavailable => "one partition 503",
            Self::PartitionHangs => "one partition hangs",
        }
    }

    /// The rule to set; `sick` is the partition that is sick where only one is.
    pub(super) fn rule(self, sick: &str) -> FaultRule {
        let status = |status, substatus| FaultKind::Status {
            status,
            substatus,
            retry_after_ms: None,
        };
        let rule = |kind| FaultRule::at(PREFERRED, kind);
        match self {
            Self::Hang => rule(FaultKind::Hang),
            Self::Refuse => rule(FaultKind::RefuseConnections),
            Self::Reset => rule(FaultKind::ResetAfterRequest),
            Self::CutBody => rule(FaultKind::CutBody),
            Self::Unavailable => rule(status(503, None)),
            Self::Throttled => rule(status(429, Some(3092))),
            Self::SessionLag => rule(status(404, Some(1002))).requests(FaultedRequests::Reads),
            Self::WriteForbidden => rule(status(403, Some(3))).requests(FaultedRequests::Writes),
            Self::PartitionUnavailable => rule(status(503, None)).range(sick),
            Self::PartitionHangs => rule(FaultKind::Hang).range(sick),
        }
    }

    /// Whether an operation meets the fault in the preferred region.
    pub(super) fn affects(self, write: bool, sick: bool) -> bool {
        match self {
            Self::SessionLag => !write,
            Self::WriteForbidden => write,
            Self::PartitionUnavailable | Self::PartitionHangs => sick,
            _ => true,
        }
    }

    /// What the specification has a client wait for: the account document, before it writes elsewhere.
    pub(super) fn allowance(self) -> Duration {
        match self {
            Self::WriteForbidden => Duration::from_secs(1),
            _ => Duration::ZERO,
        }
    }
}
