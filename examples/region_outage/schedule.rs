//! What happens to the preferred region, and when: shares of the whole run.

use std::ops::Range;
use std::time::Duration;

use cosmos_examples::frame::{self, Frame};

/// One state of the preferred region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing is wrong.
    Healthy,
    /// It answers 300 ms late.
    Slow,
    /// It answers everything with 503.
    Unavailable,
    /// It closes every connection and refuses new ones.
    Refusing,
    /// It reads requests and never answers them.
    Hanging,
    /// It is healthy again, and another region becomes the hub.
    Failover,
    /// Nothing is wrong any more.
    Healed,
}

/// The phases in their order, and what share of the run each takes, in per cent.
pub(crate) const PHASES: [(Phase, u32); 7] = [
    (Phase::Healthy, 15),
    (Phase::Slow, 15),
    (Phase::Unavailable, 15),
    (Phase::Refusing, 15),
    (Phase::Hanging, 15),
    (Phase::Failover, 10),
    (Phase::Healed, 15),
];

impl Phase {
    /// A word for tables and plots.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Slow => "slow",
            Self::Unavailable => "503",
            Self::Refusing => "refusing",
            Self::Hanging => "hanging",
            Self::Failover => "failover",
            Self::Healed => "healed",
        }
    }

    /// A few words, short enough to fit above a phase in a plot.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Slow => "300 ms slow",
            Self::Unavailable => "answers 503",
            Self::Refusing => "refuses connections",
            Self::Hanging => "never answers",
            Self::Failover => "hub moves",
            Self::Healed => "healed",
        }
    }

    /// What the preferred region does, in a few words.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Healthy => "all regions answer",
            Self::Slow => "answers 300 ms late",
            Self::Unavailable => "answers everything with 503",
            Self::Refusing => "closes and refuses connections",
            Self::Hanging => "accepts requests, never answers",
            Self::Failover => "answers again; another region becomes the hub",
            Self::Healed => "all regions answer",
        }
    }
}

/// When a single-write account moves its hub. While both regions are listed as writable, the old
/// one first still accepts writes (announced) and then answers them with 403/3 (begun).
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailoverSteps {
    /// Both regions are listed as writable.
    pub(crate) announced: Duration,
    /// The old region answers writes with 403/3.
    pub(crate) begun: Duration,
    /// Only the new region is listed as writable.
    pub(crate) completed: Duration,
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

    pub(crate) fn total(self) -> Duration {
        self.total
    }

    /// The phases and when they are, counted from the start.
    pub(crate) fn spans(self) -> impl Iterator<Item = (Phase, Range<Duration>)> {
        frame::spans(self.total, PHASES)
    }

    /// Which phase a moment is in, as an index into [`PHASES`]. What is after the end is in the
    /// last one.
    pub(crate) fn phase_at(self, moment: Duration) -> usize {
        self.spans()
            .position(|(_, span)| moment < span.end)
            .unwrap_or(PHASES.len() - 1)
    }

    /// The run as plots show it.
    pub(crate) fn frame(self) -> Frame {
        let phases = self.spans().map(|(phase, span)| frame::Phase {
            label: phase.label(),
            class: match phase {
                Phase::Healthy | Phase::Healed => "good",
                Phase::Failover => "moving",
                _ => "bad",
            },
            span,
        });
        Frame::new(self.total, phases.collect())
    }

    /// The steps of the failover: a third of its phase each.
    pub(crate) fn failover(self) -> FailoverSteps {
        let span = self
            .spans()
            .find(|(phase, _)| *phase == Phase::Failover)
            .map_or(self.total..self.total, |(_, span)| span);
        let third = span.end.saturating_sub(span.start) / 3;
        FailoverSteps {
            announced: span.start,
            begun: span.start + third,
            completed: span.start + 2 * third,
        }
    }
}
