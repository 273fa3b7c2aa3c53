//! What regions do wrong.

use std::time::Duration;

use cosmos_core::{Access, FailureKind};
use cosmos_testbed::scripted::Step;
use cosmos_tests::ms;
use fastrand::Rng;

use super::operations::PARTITIONS;
use super::{NAMES, Regions, time};

/// A region does something wrong for a while.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The region, or `global`.
    pub region: &'static str,
    /// From when on.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
    /// With which requests.
    pub of: Of,
    /// With every such request, every second one ...
    pub every: usize,
    /// What it does.
    pub does: Does,
    /// How long after the request arrived.
    pub after: Duration,
}

/// Which requests meet a fault.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// Every request.
    Everything,
    /// Operations: of one access, or of one partition, if that is said.
    Data(Option<Access>, Option<usize>),
    /// Reads of the account document.
    AccountReads,
    /// Reads of the container and its ranges.
    ContainerReads,
}

/// What a region does instead of answering well.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// An answer: status, substatus (0: none), and for how long it asks to stay away.
    Answer(u16, u32, Option<&'static str>),
    /// No answer.
    Fail(FailureKind),
    /// Nothing, ever.
    Hang,
    /// The head of an answer, and no end of its body.
    Stall,
    /// The head of an answer, and a broken body.
    Break,
    /// A good answer, late.
    Slow,
}

impl Does {
    /// For how long it asks to stay away, if that can be waited for.
    #[must_use]
    pub fn hint(self) -> Option<Duration> {
        match self {
            Self::Answer(429, _, Some(hint)) => hint.parse().ok().map(ms),
            _ => None,
        }
    }

    /// The script's step for it. What is slow answers well.
    #[must_use]
    pub fn step(self) -> Option<Step> {
        Some(match self {
            Self::Answer(code, substatus, None) => Step::status(code, substatus),
            Self::Answer(code, substatus, Some(hint)) => Step::status(code, substatus).hint(hint),
            Self::Fail(kind) => Step::fail(kind),
            Self::Hang => Step::hang(),
            Self::Stall => Step::status(200, 0).stalling(),
            Self::Break => Step::status(200, 0).breaking(),
            Self::Slow => return None,
        })
    }
}

const ANSWERS: [(u16, u32); 24] = [
    (200, 0),
    (304, 0),
    (400, 0),
    (403, 0),
    (403, 3),
    (403, 3),
    (403, 1008),
    (404, 0),
    (404, 1002),
    (404, 1002),
    (408, 0),
    (408, 20008),
    (410, 0),
    (410, 1002),
    (410, 1007),
    (412, 0),
    (429, 3092),
    (429, 3200),
    (449, 0),
    (500, 0),
    (503, 0),
    (503, 0),
    (503, 21008),
    (999, 4_294_967_295),
];

const FAILURES: [FailureKind; 12] = [
    FailureKind::Dns,
    FailureKind::Refused,
    FailureKind::ConnectTimeout,
    FailureKind::Tls,
    FailureKind::PoolLimit,
    FailureKind::NotProcessed,
    FailureKind::Reset,
    FailureKind::Closed,
    FailureKind::Io,
    FailureKind::BodyCut,
    FailureKind::Other,
    FailureKind::ClientClosed,
];

const HINTS: [&str; 8] = ["0", "1", "250", "4000", "29999", "1e400", "-1", "soon"];

impl Fault {
    pub(super) fn random(
        rng: &mut Rng,
        horizon: Duration,
        regions: &Regions,
        moves_on: bool,
    ) -> Self {
        let region = match rng.u8(..20) {
            0 => "global",
            // A region that is not asked does nobody harm.
            1..=16 => regions.readable[rng.usize(..regions.readable.len())],
            _ => NAMES[rng.usize(..NAMES.len())],
        };
        let from = time(rng, horizon);
        let lasts = match rng.u8(..3) {
            0 => ms(rng.u64(1..3000)),
            1 => ms(rng.u64(1..60_000)),
            _ => ms(rng.u64(1..400_000)),
        };
        Self {
            region,
            from,
            until: from + lasts,
            of: of(rng),
            every: if rng.u8(..4) == 0 { rng.usize(2..5) } else { 1 },
            does: if moves_on { sent_on(rng) } else { does(rng) },
            after: if rng.u8(..3) == 0 {
                ms(rng.u64(..3000))
            } else {
                Duration::ZERO
            },
        }
    }
}

fn of(rng: &mut Rng) -> Of {
    match rng.u8(..10) {
        0 | 1 => Of::Everything,
        2 => Of::AccountReads,
        3 => Of::ContainerReads,
        4..=6 => Of::Data(None, None),
        _ => Of::Data(
            [None, Some(Access::Read), Some(Access::Write)][rng.usize(..3)],
            rng.bool().then(|| rng.usize(..PARTITIONS)),
        ),
    }
}

/// What the specification answers with another region, for most operations.
fn sent_on(rng: &mut Rng) -> Does {
    match rng.u8(..8) {
        0 | 1 => {
            let answers = [
                (503, 0),
                (500, 0),
                (410, 0),
                (408, 0),
                (429, 3092),
                (403, 1008),
            ];
            let (code, substatus) = answers[rng.usize(..answers.len())];
            Does::Answer(code, substatus, None)
        }
        2 | 3 => Does::Fail(FAILURES[rng.usize(..FAILURES.len() - 1)]),
        4 | 5 => Does::Hang,
        6 => [Does::Stall, Does::Break][rng.usize(..2)],
        _ => does(rng),
    }
}

fn does(rng: &mut Rng) -> Does {
    match rng.u8(..12) {
        0..=4 => {
            let (code, substatus) = ANSWERS[rng.usize(..ANSWERS.len())];
            Does::Answer(code, substatus, None)
        }
        5 => Does::Answer(429, 3200, Some(HINTS[rng.usize(..HINTS.len())])),
        6 | 7 => Does::Fail(FAILURES[rng.usize(..FAILURES.len())]),
        8 | 9 => Does::Hang,
        10 => [Does::Stall, Does::Break][rng.usize(..2)],
        _ => Does::Slow,
    }
}
