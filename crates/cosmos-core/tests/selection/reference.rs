//! A second opinion on every choice, naive and made from the prose: regions are small numbers,
//! lists are built anew for each question, and nothing of the crate's own decisions is used.

use cosmos_core::selection::{Choice, Standing};
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

    fn is_failure_of_the_region(self, kind: Kind) -> bool {
        match self {
            Self::Busy | Self::Throttled | Self::NoCredential => false,
            Self::WriteForbidden => !kind.reads(),
            _ => true,
        }
    }
}

/// One question.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    readable: Vec<usize>,
    writable: Vec<usize>,
    multi: bool,
    preferred: Vec<usize>,
    /// Whether the account had all eight regions before, so that those not listed are known.
    known_before: bool,
    pub(crate) excluded: Vec<usize>,
    strict: bool,
    pub(crate) pin: Option<usize>,
    first: Option<usize>,
    made: Vec<(usize, End)>,
    marks: Vec<(usize, bool, Standing)>,
    circuits: Option<Vec<(usize, bool, Standing)>>,
}

fn number(region: usize) -> Region {
    if region == GLOBAL {
        Region::GLOBAL
    } else {
        self::region(NAMES[region])
    }
}

fn stands(list: &[(usize, bool, Standing)]) -> Stands {
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

    fn hub(&self) -> usize {
        if self.writable.is_empty() {
            self.readable[0]
        } else {
            self.writable[0]
        }
    }

    /// Preferred regions that the list has, then the rest of it.
    fn arranged(&self, list: &[usize], by_preference: bool) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        if by_preference {
            order.extend(self.preferred.iter().filter(|region| list.contains(region)));
        }
        order.extend(list);
        let mut seen = Vec::new();
        order.retain(|region| {
            let new = !seen.contains(region);
            seen.push(*region);
            new
        });
        order
    }

    fn write_order(&self) -> Vec<usize> {
        let list = if self.writable.is_empty() {
            &self.readable
        } else {
            &self.writable
        };
        self.arranged(list, self.multi)
    }

    pub(crate) fn candidates(&self) -> Vec<usize> {
        match self.kind {
            Kind::Read | Kind::MetadataRead => {
                let list = if self.readable.is_empty() {
                    &self.writable
                } else {
                    &self.readable
                };
                self.arranged(list, true)
            }
            Kind::Write | Kind::Sproc => self.write_order(),
            Kind::MetadataWrite => vec![self.hub()],
        }
    }

    fn last_resort(&self) -> usize {
        if self.multi {
            self.write_order()[0]
        } else {
            self.hub()
        }
    }

    pub(crate) fn allowed(&self) -> Vec<usize> {
        let mut left = self.candidates();
        left.retain(|region| !self.excluded.contains(region));
        left
    }

    fn untried(&self, region: usize) -> bool {
        !self
            .made
            .iter()
            .any(|(r, end)| *r == region && end.is_failure_of_the_region(self.kind))
    }

    /// How often it was attempted, and how long ago: the smallest goes first.
    fn least(&self, regions: &[usize]) -> usize {
        *regions
            .iter()
            .min_by_key(|region| {
                let times = self.made.iter().filter(|(r, _)| r == *region).count();
                (times, self.made.iter().rposition(|(r, _)| r == *region))
            })
            .unwrap()
    }

    fn standing(&self, list: &[(usize, bool, Standing)], region: usize) -> Standing {
        list.iter()
            .find(|(r, read, _)| *r == region && *read == self.kind.reads())
            .map_or(Standing::Good, |(_, _, standing)| *standing)
    }

    /// The flags (trial, probe) that a request to the region takes, if it may go there.
    fn available(&self, region: usize) -> Option<(bool, bool)> {
        let mark = self.standing(&self.marks, region);
        let circuit = self
            .circuits
            .as_ref()
            .map_or(Standing::Good, |c| self.standing(c, region));
        if mark == Standing::Bad || circuit == Standing::Bad {
            return None;
        }
        if circuit == Standing::Due && self.kind == Kind::Sproc {
            return None;
        }
        Some((mark == Standing::Due, circuit == Standing::Due))
    }

    /// The region, the flags (trial, probe), and whether it is the only request.
    pub(crate) fn answer(&self) -> Result<(usize, bool, bool, bool), FailureKind> {
        let allowed = self.allowed();
        if allowed.is_empty() {
            return self.answer_if_all_are_excluded();
        }
        if let Some(pin) = self.pin {
            let there = self.listed(pin) || pin == GLOBAL && self.kind.metadata();
            if there && !self.excluded.contains(&pin) {
                return Ok((pin, false, false, false));
            }
        }
        if let Some(first) = self.first
            && allowed.contains(&first)
            && self.untried(first)
            && let Some((trial, probe)) = self.available(first)
        {
            return Ok((first, trial, probe, false));
        }
        let available: Vec<usize> = allowed
            .iter()
            .copied()
            .filter(|r| self.available(*r).is_some())
            .collect();
        let untried = |list: &[usize]| list.iter().copied().find(|r| self.untried(*r));
        if !available.is_empty() {
            let region = untried(&available).unwrap_or_else(|| self.least(&available));
            let (trial, probe) = self.available(region).unwrap();
            return Ok((region, trial, probe, false));
        }
        if self.kind.metadata() {
            return Ok((GLOBAL, false, false, false));
        }
        let last = self.last_resort();
        let region = if allowed.contains(&last) && self.untried(last) {
            last
        } else {
            untried(&allowed).unwrap_or_else(|| self.least(&allowed))
        };
        Ok((region, false, false, false))
    }

    fn answer_if_all_are_excluded(&self) -> Result<(usize, bool, bool, bool), FailureKind> {
        if let Some((last, _)) = self.made.last() {
            let reachable = *last != GLOBAL && (self.listed(*last) || self.known_before);
            if reachable && !self.excluded.contains(last) {
                return Ok((*last, false, false, false));
            }
            return Err(FailureKind::Excluded);
        }
        if self.strict {
            return Err(FailureKind::Excluded);
        }
        let region = if self.kind.metadata() {
            GLOBAL
        } else {
            self.last_resort()
        };
        Ok((region, false, false, true))
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
fn standings() -> impl Strategy<Value = Vec<(usize, bool, Standing)>> {
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
    let asked = (select(kinds), some(), any::<bool>(), target(), target());
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
        let (kind, excluded, strict, pin, first) = asked;
        let (made, marks, circuits) = state;
        Case {
            kind,
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_choice_is_the_one_that_the_prose_describes(case in case()) {
        let expected = case.answer().map(|(region, trial, probe, sole)| {
            (number(region), trial, probe, sole)
        });
        let chosen = case.choose().map(|c| (c.region, c.trial, c.probe, c.sole));
        prop_assert_eq!(chosen, expected);
    }
}
