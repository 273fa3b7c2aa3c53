//! How the partition is, and when: shares of the whole run.

use std::ops::Range;
use std::time::Duration;

use cosmos_examples::frame::{self, Frame};
use cosmos_testbed::embedded::FaultKind;

/// One state of the sick partition in the preferred region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Healthy,
    Unavailable,
    Healed,
    Hanging,
    HealedAgain,
}

/// The phases in their order, and what share of the run each takes, in per cent.
const PHASES: [(Phase, u32); 5] = [
    (Phase::Healthy, 10),
    (Phase::Unavailable, 20),
    (Phase::Healed, 20),
    (Phase::Hanging, 25),
    (Phase::HealedAgain, 25),
];

impl Phase {
    /// A few words, short enough to fit above a phase in a plot.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Healthy => "well",
            Self::Unavailable => "one partition answers 503",
            Self::Healed | Self::HealedAgain => "well again",
            Self::Hanging => "one partition never answers",
        }
    }

    /// What the sick partition does in the preferred region.
    pub(crate) fn fault(self) -> Option<FaultKind> {
        match self {
            Self::Unavailable => Some(FaultKind::Status {
                status: 503,
                substatus: Some(21008),
                retry_after_ms: None,
            }),
            Self::Hanging => Some(FaultKind::Hang),
            Self::Healthy | Self::Healed | Self::HealedAgain => None,
        }
    }
}

/// The phases of a run of a certain length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    total: Duration,
}

impl Schedule {
    pub(crate) fn new(total: Duration) -> Self {
        Self { total }
    }

    /// The phases and when they are, counted from the start.
    pub(crate) fn spans(self) -> impl Iterator<Item = (Phase, Range<Duration>)> {
        frame::spans(self.total, PHASES)
    }

    /// The run as plots show it.
    pub(crate) fn frame(self) -> Frame {
        let phases = self.spans().map(|(phase, span)| frame::Phase {
            label: phase.label(),
            class: if phase.fault().is_some() {
                "bad"
            } else {
                "good"
            },
            span,
        });
        Frame::new(self.total, phases.collect())
    }
}
