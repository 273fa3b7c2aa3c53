//! What happens to the regions, and when.

use std::ops::Range;
use std::time::Duration;

use cosmos_testbed::BoundedAccount;
use cosmos_testbed::bounded::Health;

/// The regions, in the order in which the first third of the clients prefers them.
pub(crate) const REGIONS: [&str; 3] = ["A", "B", "C"];

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Healthy,
    OneFails,
    OneHealed,
    AllFail,
    AllHealed,
}

pub(crate) const PHASES: [(Phase, Range<u64>); 5] = [
    (Phase::Healthy, 0..5),
    (Phase::OneFails, 5..25),
    (Phase::OneHealed, 25..105),
    (Phase::AllFail, 105..125),
    (Phase::AllHealed, 125..165),
];

/// Those after which everything has to be as it was.
pub(crate) const HEALED: [Phase; 2] = [Phase::OneHealed, Phase::AllHealed];

impl Phase {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::OneFails => "region A answers 503",
            Self::OneHealed => "A is well again",
            Self::AllFail => "all regions answer 503",
            Self::AllHealed => "all are well again",
        }
    }

    pub(crate) fn span(self) -> Range<Duration> {
        let found = PHASES.into_iter().find(|(phase, _)| *phase == self);
        let span = found.map(|(_, span)| span).unwrap_or_default();
        Duration::from_secs(span.start)..Duration::from_secs(span.end)
    }

    /// How long it is, in seconds.
    pub(crate) fn seconds(self) -> f64 {
        let span = self.span();
        span.end.saturating_sub(span.start).as_secs_f64()
    }

    pub(crate) fn at(moment: Duration) -> Self {
        let found = PHASES
            .into_iter()
            .find(|(phase, _)| phase.span().contains(&moment));
        found.map_or(Self::AllHealed, |(phase, _)| phase)
    }

    pub(crate) fn begin(self, account: &BoundedAccount) {
        for (index, region) in REGIONS.into_iter().enumerate() {
            let sick = self == Self::AllFail || (self == Self::OneFails && index == 0);
            let health = if sick {
                Health::Answers(503)
            } else {
                Health::Well
            };
            account.set(region, health);
        }
    }
}
