//! Endpoint marks: which regions to avoid for reads or writes, until when and why.
//!
//! A mark holds for its duration, lengthened by up to a quarter so that clients that lost a region
//! together do not come back together; then one request at a time may try the region, until an outcome
//! clears the mark or sets it anew. Reading is lock-free while a region has never been marked.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cosmos_core::policy::Jitter;
use cosmos_core::policy::marking::{Cause, Effect};
use cosmos_core::region::MAX_REGIONS;
use cosmos_core::selection::{Standing, Standings};
use cosmos_core::{Access, Attempt, Region};
use parking_lot::Mutex;

/// The marks of an account.
pub(crate) struct Marks {
    duration: Duration,
    jitter: Jitter,
    trials: AtomicU64,
    regions: Box<[Marked]>,
}

/// The marks of a region. Most are never marked, so the flag is all that a choice looks at.
#[derive(Default)]
struct Marked {
    any: AtomicBool,
    sides: Mutex<[Side; 2]>,
}

/// One side (reads or writes) of an endpoint.
#[derive(Copy, Clone, Default)]
struct Side {
    mark: Option<Mark>,
    // The beginning of the attempt that last cleared a mark.
    cleared: Option<Instant>,
}

#[derive(Copy, Clone)]
struct Mark {
    cause: Cause,
    // The beginning of the latest attempt that set it.
    since: Instant,
    until: Instant,
    trial: Option<u64>,
}

impl Mark {
    /// Whether both marks say that the endpoint cannot be reached: then one trial serves both.
    fn shares_trial(&self, other: &Self) -> bool {
        self.cause == Cause::Unreachable && other.cause == Cause::Unreachable
    }
}

/// How one side of an endpoint stands, given both.
fn standing(sides: &[Side; 2], access: Access, now: Instant) -> Standing {
    let Some(own) = &sides[access as usize].mark else {
        return Standing::Good;
    };
    let other = sides[1 - access as usize].mark.as_ref();
    let tried_by_other =
        other.is_some_and(|other| own.shares_trial(other) && other.trial.is_some());
    if now < own.until || own.trial.is_some() || tried_by_other {
        Standing::Bad
    } else {
        Standing::Due
    }
}

impl Marks {
    pub(super) fn new(duration: Duration, jitter: Jitter) -> Self {
        let regions = std::iter::repeat_with(Marked::default)
            .take(MAX_REGIONS)
            .collect();
        Self {
            duration,
            jitter,
            trials: AtomicU64::new(0),
            regions,
        }
    }

    /// The marks as they stand at an instant.
    pub(super) fn at(&self, now: Instant) -> MarksAt<'_> {
        MarksAt { marks: self, now }
    }

    fn of(&self, region: Region) -> &Marked {
        &self.regions[region.index()]
    }

    /// Takes the one trial of an endpoint whose mark has expired. An endpoint that could not be
    /// reached has one trial for both its sides.
    pub(super) fn take_trial(
        marks: &Arc<Self>,
        region: Region,
        access: Access,
        now: Instant,
    ) -> Option<Trial> {
        let mut sides = marks.of(region).sides.lock();
        // The same rule as for choosing, so that a region never stands as due and refuses.
        if standing(&sides, access, now) != Standing::Due {
            return None;
        }
        let own = sides[access as usize].mark?;
        let id = marks.trials.fetch_add(1, Ordering::Relaxed);
        for (index, side) in sides.iter_mut().enumerate() {
            if let Some(mark) = &mut side.mark
                && (index == access as usize || own.shares_trial(mark))
            {
                mark.trial = Some(id);
            }
        }
        drop(sides);
        Some(Trial {
            marks: Arc::clone(marks),
            region,
            id,
        })
    }

    /// What an attempt's outcome does to the marks of its region.
    pub(super) fn apply(&self, attempt: &Attempt, effect: Effect, now: Instant) {
        let marked = self.of(attempt.region);
        // Nothing to clear: the usual case.
        if !matches!(effect, Effect::Mark { .. }) && !marked.any.load(Ordering::Acquire) {
            return;
        }
        let mut sides = marked.sides.lock();
        match effect {
            Effect::None => {}
            Effect::Mark { cause, read, write } => {
                // The same for both sides: an endpoint that could not be reached has one trial.
                let until = now + self.jitter.lengthen(self.duration);
                for (side, wanted) in sides.iter_mut().zip([read, write]) {
                    if wanted {
                        side.set(cause, attempt.began, until);
                    }
                }
            }
            Effect::Clear(access) => {
                for (index, side) in sides.iter_mut().enumerate() {
                    side.clear(attempt.began, |mark| {
                        mark.cause == Cause::Unreachable || index == access as usize
                    });
                }
            }
            Effect::Reached => {
                for side in &mut *sides {
                    side.clear(attempt.began, |mark| mark.cause == Cause::Unreachable);
                }
            }
        }
        marked.note(&sides, attempt.region);
    }

    /// A refresh changed the list of an access: what answers said of it is old.
    pub(super) fn list_changed(&self, access: Access, now: Instant) {
        for marked in &self.regions {
            if marked.any.load(Ordering::Acquire) {
                let mut sides = marked.sides.lock();
                sides[access as usize].clear(now, |mark| mark.cause == Cause::Answer);
                marked.any.store(
                    sides.iter().any(|side| side.mark.is_some()),
                    Ordering::Release,
                );
            }
        }
    }
}

impl Marked {
    fn note(&self, sides: &[Side; 2], region: Region) {
        let any = sides.iter().any(|side| side.mark.is_some());
        if self.any.swap(any, Ordering::AcqRel) != any {
            tracing::info!(
                cosmos.region = region.name(),
                cosmos.marked = any,
                "endpoint"
            );
        }
    }
}

/// Of two attempts, the one that began later tells more of how the region is: a slow failure from
/// before it healed must not mark it again, nor a slow success from before it failed clear it.
impl Side {
    fn set(&mut self, cause: Cause, began: Instant, until: Instant) {
        if self.cleared.is_some_and(|cleared| began < cleared) {
            return;
        }
        let since = self
            .mark
            .as_ref()
            .map_or(began, |mark| mark.since.max(began));
        self.mark = Some(Mark {
            cause,
            since,
            until,
            trial: None,
        });
    }

    fn clear(&mut self, began: Instant, clears: impl Fn(&Mark) -> bool) {
        if self
            .mark
            .as_ref()
            .is_some_and(|mark| mark.since <= began && clears(mark))
        {
            *self = Self {
                mark: None,
                cleared: Some(began),
            };
        }
    }
}

/// The marks of an account at an instant.
#[derive(Copy, Clone, Debug)]
pub(super) struct MarksAt<'a> {
    marks: &'a Marks,
    now: Instant,
}

impl Standings for MarksAt<'_> {
    fn standing(&self, region: Region, access: Access) -> Standing {
        let marked = self.marks.of(region);
        if !marked.any.load(Ordering::Acquire) {
            return Standing::Good;
        }
        standing(&marked.sides.lock(), access, self.now)
    }
}

/// The one trial of a marked endpoint. Dropped without an outcome, it leaves the mark as it was,
/// so that the next request may try.
#[must_use]
pub(crate) struct Trial {
    marks: Arc<Marks>,
    region: Region,
    id: u64,
}

impl Drop for Trial {
    fn drop(&mut self) {
        for side in &mut *self.marks.of(self.region).sides.lock() {
            if let Some(mark) = &mut side.mark
                && mark.trial == Some(self.id)
            {
                mark.trial = None;
            }
        }
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Trial").field(&self.region).finish()
    }
}

impl fmt::Debug for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Marks")
            .field("duration", &self.duration)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use cosmos_core::{Action, Begin, FailureKind, Operation, Outcome, Resource, Route};

    use super::*;

    const UNREACHABLE: Effect = Effect::Mark {
        cause: Cause::Unreachable,
        read: true,
        write: true,
    };

    fn attempt(region: Region, start: Instant) -> Attempt {
        let route = Route::new(Operation::new(Action::Read, Resource::Item), None, start);
        let begin = Begin::new(region);
        let id = route.begin(start, begin).unwrap();
        route.end(id, start, Outcome::Failed(FailureKind::Refused));
        route.attempt(id).unwrap()
    }

    fn marks() -> (Arc<Marks>, Region, Instant) {
        let marks = Arc::new(Marks::new(Duration::from_secs(60), Jitter::None));
        (marks, Region::named("A").unwrap(), crate::clock::now())
    }

    #[test]
    fn a_region_never_stands_as_due_and_refuses_its_trial() {
        let (marks, a, start) = marks();
        let later = |seconds| start + Duration::from_secs(seconds);
        // The read side is cleared, so that old news marks the write side alone, then both differ.
        marks.apply(&attempt(a, start), UNREACHABLE, start);
        marks.apply(&attempt(a, later(1)), Effect::Clear(Access::Read), later(1));
        marks.apply(&attempt(a, later(2)), UNREACHABLE, later(2));
        let trial = Marks::take_trial(&marks, a, Access::Read, later(70)).unwrap();
        for access in [Access::Read, Access::Write] {
            let stands = marks.at(later(70)).standing(a, access);
            assert_eq!(stands, Standing::Bad);
            assert!(Marks::take_trial(&marks, a, access, later(70)).is_none());
        }
        drop(trial);
        assert_eq!(
            marks.at(later(70)).standing(a, Access::Write),
            Standing::Due
        );
    }

    #[test]
    fn a_failure_that_began_before_the_mark_was_cleared_is_old_news() {
        let (marks, a, start) = marks();
        let later = |seconds| start + Duration::from_secs(seconds);
        let slow = attempt(a, start);
        marks.apply(&attempt(a, later(1)), UNREACHABLE, later(1));
        marks.apply(&attempt(a, later(2)), Effect::Clear(Access::Read), later(2));
        marks.apply(&slow, UNREACHABLE, later(6));
        assert_eq!(marks.at(later(6)).standing(a, Access::Read), Standing::Good);
    }

    #[test]
    fn a_success_that_began_before_the_failure_does_not_clear_the_mark() {
        let (marks, a, start) = marks();
        let later = |seconds| start + Duration::from_secs(seconds);
        let slow = attempt(a, start);
        marks.apply(&attempt(a, later(1)), UNREACHABLE, later(1));
        marks.apply(&slow, Effect::Clear(Access::Read), later(2));
        assert_eq!(marks.at(later(2)).standing(a, Access::Read), Standing::Bad);
        // A late failure of an older attempt does not make the trial's success old news.
        let trial = attempt(a, later(70));
        marks.apply(&slow, UNREACHABLE, later(71));
        marks.apply(&trial, Effect::Clear(Access::Read), later(72));
        assert_eq!(
            marks.at(later(72)).standing(a, Access::Read),
            Standing::Good
        );
    }

    #[test]
    fn a_dropped_trial_does_not_free_a_later_one() {
        let (marks, a, start) = marks();
        let later = |seconds| start + Duration::from_secs(seconds);
        marks.apply(&attempt(a, start), UNREACHABLE, start);
        let first = Marks::take_trial(&marks, a, Access::Read, later(61)).unwrap();
        marks.apply(&attempt(a, later(61)), UNREACHABLE, later(62));
        let second = Marks::take_trial(&marks, a, Access::Write, later(130)).unwrap();
        drop(first);
        assert!(Marks::take_trial(&marks, a, Access::Read, later(130)).is_none());
        drop(second);
        assert!(Marks::take_trial(&marks, a, Access::Read, later(130)).is_some());
    }
}
