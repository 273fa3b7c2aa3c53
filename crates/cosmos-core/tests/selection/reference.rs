//! A second opinion on every choice, naive and made from the prose: lists are built anew for each
//! question, and nothing of the crate's own decisions is used.

use cosmos_core::FailureKind;
use cosmos_core::selection::Standing;
use proptest::prelude::*;

use crate::case::{Case, GLOBAL, Kind, Side, case, number};

impl Case {
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
            Kind::Write | Kind::Sproc if self.everywhere => {
                let mut all = self.write_order();
                all.extend(self.readable.iter().filter(|r| !self.writable.contains(r)));
                let mut seen = Vec::new();
                all.retain(|r| {
                    !seen.contains(r) && {
                        seen.push(*r);
                        true
                    }
                });
                all
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
            .any(|(r, end)| *r == region && end.is_failure_of_the_region())
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

    fn standing(&self, list: &[Side], region: usize) -> Standing {
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

    /// Whether the request goes out although nothing speaks for any region.
    fn nowhere_better(&self) -> bool {
        let allowed = self.allowed();
        let pinned = self.pin.is_some_and(|pin| {
            let there = self.listed(pin) || pin == GLOBAL && self.kind.metadata();
            there && !self.excluded.contains(&pin)
        });
        let none = allowed.iter().all(|r| self.available(*r).is_none());
        allowed.is_empty() || none && !(pinned && self.circuits.is_none())
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_choice_is_the_one_that_the_prose_describes(case in case()) {
        let expected = case.answer().map(|(region, trial, probe, sole)| {
            (number(region), trial, probe, sole, case.nowhere_better())
        });
        let chosen = case
            .choose()
            .map(|c| (c.region, c.trial, c.probe, c.sole, c.last_resort));
        prop_assert_eq!(chosen, expected);
    }
}
