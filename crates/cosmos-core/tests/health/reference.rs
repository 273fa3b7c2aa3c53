//! A second opinion on a circuit, naive and made from the prose: a log that only grows, and every
//! question answered by reading it from the beginning. Nothing of the machine is used.

use std::time::{Duration, Instant};

use cosmos_core::Access;
use cosmos_core::health::{BreakerSettings, Event, Role, Signal, State};

/// What has happened to a circuit, as it was understood at the time.
#[derive(Copy, Clone, Debug)]
enum Mark {
    Failed(Instant, Access),
    Succeeded(Access),
    TakenBack(Access),
    Tripped(Instant, Trip),
    Leased(Instant, u64),
    GivenBack(Instant, u64),
    ProbeFailed(Instant),
    /// All that came before is forgotten.
    Healthy,
    /// Written after that if a success did it: who succeeded, and of which trip it was the end.
    Closed(Instant, u64, Trip),
}

#[derive(Copy, Clone, Debug)]
struct Trip {
    newest: u64,
    cause: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Reference {
    settings: BreakerSettings,
    log: Vec<Mark>,
}

impl Reference {
    pub(crate) fn new(settings: BreakerSettings) -> Self {
        Self {
            settings,
            log: Vec::new(),
        }
    }

    /// What still matters.
    fn memory(&self) -> &[Mark] {
        let healed = self
            .log
            .iter()
            .rposition(|mark| matches!(mark, Mark::Healthy));
        &self.log[healed.map_or(0, |at| at + 1)..]
    }

    fn trip(&self) -> Option<Trip> {
        self.memory().iter().find_map(|mark| match mark {
            Mark::Tripped(_, trip) => Some(*trip),
            _ => None,
        })
    }

    fn probe_has_failed(&self) -> bool {
        let failed = |mark: &Mark| matches!(mark, Mark::ProbeFailed(_));
        self.memory().iter().any(failed)
    }

    /// Who took the lease last and has neither given it back nor a verdict.
    fn holder(&self) -> Option<u64> {
        match self.memory().last() {
            Some(Mark::Leased(_, holder)) => Some(*holder),
            _ => None,
        }
    }

    /// Whether that one is still in time.
    fn is_leased(&self, now: Instant) -> bool {
        match self.memory().last() {
            Some(Mark::Leased(at, _)) => now < *at + self.settings.lease_limit(),
            _ => false,
        }
    }

    /// Whether an attempt began before the circuit closed, as far as anybody remembers that.
    fn is_from_before_it_closed(&self, sequence: u64) -> bool {
        self.memory().iter().any(|mark| match mark {
            Mark::Closed(_, closer, trip) => sequence < *closer || sequence <= trip.newest,
            _ => false,
        })
    }

    fn has_closed(&self) -> bool {
        matches!(self.memory().first(), Some(Mark::Closed(..)))
    }

    fn close(&mut self, closer: u64, trip: Trip, now: Instant) {
        self.log.push(Mark::Healthy);
        self.log.push(Mark::Closed(now, closer, trip));
    }

    fn window_began(&self) -> Option<Instant> {
        self.memory().iter().find_map(|mark| match mark {
            Mark::Failed(at, _) | Mark::Closed(at, ..) => Some(*at),
            _ => None,
        })
    }

    fn window_has_passed(&self, now: Instant) -> bool {
        self.window_began()
            .is_some_and(|began| now >= began + self.settings.window())
    }

    pub(crate) fn state(&self, now: Instant) -> State {
        match self.trip() {
            None => State::Healthy,
            Some(_) if self.is_leased(now) => State::HealthyTentative,
            Some(_) if self.probe_has_failed() => State::Unhealthy,
            Some(_) => State::UnhealthyTentative,
        }
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        self.memory().iter().fold(None, |due, mark| match mark {
            Mark::Tripped(at, _) => Some(*at + self.settings.first_wait()),
            Mark::ProbeFailed(at) => Some(*at + self.settings.next_wait()),
            Mark::Leased(at, _) => Some(*at + self.settings.lease_limit()),
            // Nobody who may probe already has to wait because of it.
            Mark::GivenBack(at, _) => due.min(Some(*at)),
            _ => due,
        })
    }

    pub(crate) fn since(&self) -> Option<Instant> {
        if self.trip().is_none() {
            return self.window_began();
        }
        self.memory().iter().rev().find_map(|mark| match mark {
            Mark::Tripped(at, _) | Mark::ProbeFailed(at) => Some(*at),
            _ => None,
        })
    }

    /// Success, failure, consecutive.
    pub(crate) fn counts(&self, access: Access) -> (usize, usize, usize) {
        if self.trip().is_some() {
            return (0, 0, 0);
        }
        let own: Vec<&Mark> = self
            .memory()
            .iter()
            .filter(|mark| match mark {
                Mark::Failed(_, of) | Mark::Succeeded(of) | Mark::TakenBack(of) => *of == access,
                _ => false,
            })
            .collect();
        let successes = own
            .iter()
            .filter(|mark| matches!(mark, Mark::Succeeded(_)))
            .count();
        let less_what_was_taken_back = |marks: &[&Mark]| {
            marks.iter().fold(0_usize, |sum, mark| match mark {
                Mark::Failed(..) => sum + 1,
                Mark::TakenBack(_) => sum.saturating_sub(1),
                _ => sum,
            })
        };
        let run = own
            .rsplit(|mark| matches!(mark, Mark::Succeeded(_)))
            .next()
            .unwrap_or_default();
        (
            successes,
            less_what_was_taken_back(&own),
            less_what_was_taken_back(run),
        )
    }

    /// Nothing to remember.
    pub(crate) fn is_blank(&self) -> bool {
        self.memory().is_empty()
    }

    pub(crate) fn take_probe(&mut self, sequence: u64, now: Instant) -> bool {
        let due = self.due().is_some_and(|due| due <= now);
        if due {
            self.log.push(Mark::Leased(now, sequence));
        }
        due
    }

    pub(crate) fn renew(&mut self, sequence: u64, now: Instant) {
        if self.holder() == Some(sequence) {
            self.log.push(Mark::Leased(now, sequence));
        }
    }

    pub(crate) fn release(&mut self, sequence: u64, now: Instant) {
        if self.holder() == Some(sequence) {
            self.log.push(Mark::GivenBack(now, sequence));
        }
    }

    /// Whether the event came too late to tell anything.
    pub(crate) fn record(&mut self, event: &Event, now: Instant) -> bool {
        let replaced = event
            .replaces
            .filter(|replaced| replaced.signal == Signal::Failure);
        match event.settles {
            Some(Signal::Neutral) => {}
            Some(_) => return false,
            None => {
                if let Some(replaced) = replaced {
                    if event.signal == Signal::Failure {
                        return false;
                    }
                    self.take_back(replaced.sequence, replaced.ended, event.access, now);
                }
            }
        }
        match (self.trip(), event.role) {
            (None, Role::Probe) => return true,
            (None, _) => return self.count(event, now),
            (Some(trip), Role::Probe) => return self.hear_probe(event, trip, now),
            (Some(trip), _) if event.sequence <= trip.newest => return true,
            (Some(trip), Role::LastResort) if event.signal == Signal::Success => {
                self.close(event.sequence, trip, now);
            }
            (Some(_), _) => {}
        }
        false
    }

    fn count(&mut self, event: &Event, now: Instant) -> bool {
        if self.window_has_passed(now) {
            self.log.push(Mark::Healthy);
        }
        if self.is_from_before_it_closed(event.sequence) {
            return true;
        }
        match event.signal {
            Signal::Success if !self.is_blank() => self.log.push(Mark::Succeeded(event.access)),
            Signal::Success | Signal::Neutral => {}
            Signal::Failure => {
                self.log.push(Mark::Failed(now, event.access));
                let (successes, failures, run) = self.counts(event.access);
                let all = successes + failures;
                let percent = 100.0 * ratio(failures, all);
                if run >= self.settings.tolerated(event.access) as usize
                    || all >= self.settings.min_requests() as usize
                        && percent >= f64::from(self.settings.failure_percentage())
                {
                    let newest = event.newest.max(event.sequence);
                    let cause = event.sequence;
                    self.log.push(Mark::Tripped(now, Trip { newest, cause }));
                }
            }
        }
        false
    }

    fn hear_probe(&mut self, event: &Event, trip: Trip, now: Instant) -> bool {
        let holds = self.holder() == Some(event.sequence);
        let settles = event.settles.is_some()
            && matches!(self.memory().last(), Some(Mark::GivenBack(_, by)) if *by == event.sequence);
        if !holds && !settles {
            return true;
        }
        match event.signal {
            Signal::Success => self.close(event.sequence, trip, now),
            Signal::Failure => self.log.push(Mark::ProbeFailed(now)),
            Signal::Neutral => self.log.push(Mark::GivenBack(now, event.sequence)),
        }
        false
    }

    fn take_back(&mut self, sequence: u64, ended: Instant, access: Access, now: Instant) {
        match self.trip() {
            Some(trip) => {
                if trip.cause == sequence && !self.probe_has_failed() {
                    self.log.push(Mark::Healthy);
                }
            }
            None if self.window_has_passed(now) => self.log.push(Mark::Healthy),
            None => {
                let in_window = self.window_began().is_some_and(|began| began <= ended);
                if in_window && !self.is_from_before_it_closed(sequence) {
                    self.log.push(Mark::TakenBack(access));
                    let failures = |access| self.counts(access).1;
                    let left = failures(Access::Read) + failures(Access::Write);
                    if left == 0 && !self.has_closed() {
                        self.log.push(Mark::Healthy);
                    }
                }
            }
        }
    }
}

#[allow(clippy::cast_precision_loss)]
fn ratio(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}

/// Settings small enough that every rule is met within a few steps.
pub(crate) fn small() -> BreakerSettings {
    cosmos_core::health::BreakerOptions::new()
        .reads_tolerated(3)
        .writes_tolerated(2)
        .min_requests(6)
        .failure_percentage(50)
        .window(Duration::from_secs(30))
        .first_wait(Duration::from_secs(10))
        .next_wait(Duration::from_secs(20))
        .lease_limit(Duration::from_secs(5))
        .jitter(cosmos_core::policy::Jitter::None)
        .build()
        .unwrap()
}
