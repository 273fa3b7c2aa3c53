//! Questions to ask: regions are small numbers here, everything else is as random as it gets.

use cosmos_core::selection::{Choice, Scope, Standing};
use cosmos_core::{Access, FailureKind, Operation, Outcome, Region, Status, Topology};
use proptest::prelude::*;
use proptest::sample::select;

use crate::{Ask, METADATA_READ, METADATA_WRITE, READ, SPROC, Stands, WRITE, region, topology};

pub(crate) const NAMES: [&str; 8] = [
    "eastus",
    "westus3",
    "northeurope",
    "japaneast",
    "uksouth",
    "francecentral",
    "brazilsouth",
    "koreacentral",
];

/// Stands for the global endpoint among the numbers.
pub(crate) const GLOBAL: usize = 99;

/// What is asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Sproc,
    MetadataRead,
    MetadataWrite,
}

impl Kind {
    fn operation(self) -> Operation {
        match self {
            Self::Read => READ,
            Self::Write => WRITE,
            Self::Sproc => SPROC,
            Self::MetadataRead => METADATA_READ,
            Self::MetadataWrite => METADATA_WRITE,
        }
    }

    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Read | Self::MetadataRead)
    }

    pub(crate) fn metadata(self) -> bool {
        matches!(self, Self::MetadataRead | Self::MetadataWrite)
    }
}

/// How an attempt ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Busy,
    Throttled,
    NoSession,
    WriteForbidden,
    Unavailable,
    Refused,
    Reset,
    NoCredential,
    Dropped,
}

impl End {
    const ALL: [Self; 9] = [
        Self::Busy,
        Self::Throttled,
        Self::NoSession,
        Self::WriteForbidden,
        Self::Unavailable,
        Self::Refused,
        Self::Reset,
        Self::NoCredential,
        Self::Dropped,
    ];

    fn outcome(self) -> Outcome {
        match self {
            Self::Busy => Outcome::InFlight,
            Self::Throttled => Outcome::Answered(Status::new(429, 3200)),
            Self::NoSession => Outcome::Answered(Status::new(404, 1002)),
            Self::WriteForbidden => Outcome::Answered(Status::new(403, 3)),
            Self::Unavailable => Outcome::Answered(Status::new(503, 0)),
            Self::Refused => Outcome::Failed(FailureKind::Refused),
            Self::Reset => Outcome::Failed(FailureKind::Reset),
            Self::NoCredential => Outcome::Failed(FailureKind::Credential),
            Self::Dropped => Outcome::Abandoned,
        }
    }

    /// 403/3 is one for reads, too: a read that asks for the hub is told so that this is not it.
    pub(crate) fn is_failure_of_the_region(self) -> bool {
        !matches!(self, Self::Busy | Self::Throttled | Self::NoCredential)
    }
}

/// How one side (`true` for reads) of a region stands.
pub(crate) type Side = (usize, bool, Standing);

/// Good, unless a side is listed.
pub(crate) type Standings = Vec<Side>;

/// One question.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    /// Whether a write may go to every region.
    pub(crate) everywhere: bool,
    pub(crate) readable: Vec<usize>,
    pub(crate) writable: Vec<usize>,
    pub(crate) multi: bool,
    pub(crate) preferred: Vec<usize>,
    /// Whether the account had all eight regions before, so that those not listed are known.
    pub(crate) known_before: bool,
    pub(crate) excluded: Vec<usize>,
    pub(crate) strict: bool,
    pub(crate) pin: Option<usize>,
    pub(crate) first: Option<usize>,
    pub(crate) made: Vec<(usize, End)>,
    pub(crate) marks: Standings,
    pub(crate) circuits: Option<Standings>,
}

pub(crate) fn number(region: usize) -> Region {
    if region == GLOBAL {
        Region::GLOBAL
    } else {
        self::region(NAMES[region])
    }
}

fn stands(list: &[Side]) -> Stands {
    let side = |read| if read { Access::Read } else { Access::Write };
    Stands(
        list.iter()
            .map(|&(r, read, standing)| (number(r), side(read), standing))
            .collect(),
    )
}

impl Case {
    pub(crate) fn topology(&self) -> Topology {
        let names = |list: &[usize]| list.iter().map(|&r| NAMES[r]).collect::<Vec<_>>();
        let now = topology(
            &names(&self.readable),
            &names(&self.writable),
            self.multi,
            &names(&self.preferred),
        );
        if self.known_before {
            now.succeeding(&topology(&NAMES, &[], false, &[]))
        } else {
            now
        }
    }

    pub(crate) fn choose(&self) -> Result<Choice, FailureKind> {
        let mut ask = Ask::new(&self.topology(), self.kind.operation());
        ask.excluded = self.excluded.iter().map(|&r| number(r)).collect();
        ask.strict = self.strict;
        if self.everywhere && matches!(self.kind, Kind::Write | Kind::Sproc) {
            ask.scope = Scope::Everywhere;
        }
        ask.steering.pin = self.pin.map(number);
        ask.steering.first_choice = self.first.map(number);
        ask.made = self
            .made
            .iter()
            .map(|&(r, end)| (number(r), end.outcome()))
            .collect();
        ask.marks = stands(&self.marks);
        ask.circuits = self.circuits.as_deref().map(stands);
        ask.choose()
    }

    pub(crate) fn listed(&self, region: usize) -> bool {
        self.readable.contains(&region) || self.writable.contains(&region)
    }
}

/// Some of the eight regions, in any order.
fn some() -> impl Strategy<Value = Vec<usize>> {
    (Just((0..8).collect::<Vec<_>>()).prop_shuffle(), 0..=8_usize).prop_map(|(mut all, count)| {
        all.truncate(count);
        all
    })
}

fn standing() -> impl Strategy<Value = Standing> {
    select(vec![Standing::Good, Standing::Due, Standing::Bad])
}

/// Few are marked, or many.
fn standings() -> impl Strategy<Value = Standings> {
    let one = || (0..8_usize, any::<bool>(), standing());
    prop_oneof![
        prop::collection::vec(one(), 0..4),
        prop::collection::vec(one(), 8..30),
        Just(
            (0..16)
                .map(|n| (n / 2, n % 2 == 0, Standing::Bad))
                .collect()
        ),
    ]
}

pub(crate) fn case() -> impl Strategy<Value = Case> {
    let kinds = vec![
        Kind::Read,
        Kind::Write,
        Kind::Sproc,
        Kind::MetadataRead,
        Kind::MetadataWrite,
    ];
    let lists = (some(), some()).prop_filter("an account has a region", |(readable, writable)| {
        !readable.is_empty() || !writable.is_empty()
    });
    let account = (lists, any::<bool>(), some(), any::<bool>());
    let target = || prop::option::of(prop_oneof![9 => 0..8_usize, 1 => Just(GLOBAL)]);
    let kind = (select(kinds), prop::bool::weighted(0.3));
    let asked = (kind, some(), any::<bool>(), target(), target());
    let attempt = (
        prop_oneof![9 => 0..8_usize, 1 => Just(GLOBAL)],
        select(End::ALL.to_vec()),
    );
    let state = (
        prop::collection::vec(attempt, 0..12),
        standings(),
        prop::option::of(standings()),
    );
    (account, asked, state).prop_map(|(account, asked, state)| {
        let ((readable, writable), multi, preferred, known_before) = account;
        let ((kind, everywhere), excluded, strict, pin, first) = asked;
        let (made, marks, circuits) = state;
        Case {
            kind,
            everywhere,
            readable,
            writable,
            multi,
            preferred,
            known_before,
            excluded,
            strict,
            pin,
            first,
            made,
            marks,
            circuits,
        }
    })
}
