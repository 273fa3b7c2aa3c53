//! Random histories of attempts, the machine beside the reference.

use std::time::{Duration, Instant};

use cosmos_core::Access;
use cosmos_core::health::{BreakerSettings, Effect, Event, Health, Replaced, Role, Signal, State};
use proptest::prelude::*;

use crate::reference::{Reference, small};
use crate::{exact, region, start};

/// Something that happens. Numbers choose among the attempts that it can happen to.
#[derive(Clone, Debug)]
enum Step {
    /// Time passes, in tenths of seconds.
    Wait(u16),
    /// An attempt begins; if a probe is due, as that.
    Begin { access: Access, last_resort: bool },
    /// An attempt asks for the lease without looking.
    Snatch,
    /// A running attempt gives a sign of life.
    Move(usize),
    /// A running attempt ends.
    End(usize, Signal),
    /// A running attempt is dropped: a probe's lease is given back.
    Drop(usize),
    /// A dropped attempt is settled as failed.
    Settle(usize),
    /// A failed attempt is made again over another connection.
    Reconnect(usize),
    /// An ended attempt is reported once more, which nobody should.
    Again(usize, Signal),
    /// An event that makes no sense.
    Odd(Event),
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![3 => Just(Access::Read), 1 => Just(Access::Write)]
}

fn signal() -> impl Strategy<Value = Signal> {
    prop_oneof![5 => Just(Signal::Failure), 2 => Just(Signal::Success), 1 => Just(Signal::Neutral)]
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![
        Just(Role::Ordinary),
        Just(Role::Probe),
        Just(Role::LastResort)
    ]
}

prop_compose! {
    fn odd()(
        access in access(), sequence in 0..40_u64, newest in 0..40_u64, role in role(),
        signal in signal(), replaced in prop::option::of((0..40_u64, signal())),
        settles in prop::option::weighted(0.3, signal()),
    ) -> (Event, Option<(u64, Signal)>) {
        let event = Event {
            region: region("A"), access, sequence, newest, role, signal, replaces: None, settles,
        };
        (event, replaced)
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => prop_oneof![0..20_u16, 0..120_u16, Just(50), Just(100), Just(200), Just(300)]
            .prop_map(Step::Wait),
        6 => (access(), prop::bool::weighted(0.2))
            .prop_map(|(access, last_resort)| Step::Begin { access, last_resort }),
        1 => Just(Step::Snatch),
        2 => any::<usize>().prop_map(Step::Move),
        8 => (any::<usize>(), signal()).prop_map(|(which, signal)| Step::End(which, signal)),
        2 => any::<usize>().prop_map(Step::Drop),
        2 => any::<usize>().prop_map(Step::Settle),
        2 => any::<usize>().prop_map(Step::Reconnect),
        1 => (any::<usize>(), signal()).prop_map(|(which, signal)| Step::Again(which, signal)),
        1 => odd().prop_map(|(event, replaced)| {
            // The instant is filled in when it happens.
            let replaces = replaced.map(|(sequence, signal)| Replaced {
                sequence, signal, ended: start(),
            });
            Step::Odd(Event { replaces, ..event })
        }),
    ]
}

#[derive(Clone, Debug)]
struct Attempt {
    sequence: u64,
    access: Access,
    role: Role,
    replaces: Option<Replaced>,
    /// What was reported, and when.
    report: Option<(Signal, Instant)>,
    dropped: bool,
    followed: bool,
}

struct World {
    settings: BreakerSettings,
    health: Health,
    reference: Reference,
    now: Instant,
    newest: u64,
    attempts: Vec<Attempt>,
}

impl World {
    fn new(settings: BreakerSettings) -> Self {
        Self {
            settings,
            health: Health::default(),
            reference: Reference::new(settings),
            now: start(),
            newest: 0,
            attempts: Vec::new(),
        }
    }

    fn pick(&self, which: usize, fits: impl Fn(&Attempt) -> bool) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.attempts.len())
            .filter(|index| fits(&self.attempts[*index]))
            .collect();
        (!fitting.is_empty()).then(|| fitting[which % fitting.len()])
    }

    fn begin(&mut self, access: Access, role: Role, replaces: Option<Replaced>) {
        self.newest += 1;
        self.attempts.push(Attempt {
            sequence: self.newest,
            access,
            role,
            replaces,
            report: None,
            dropped: false,
            followed: false,
        });
    }

    fn take_probe(&mut self, sequence: u64) -> Result<bool, TestCaseError> {
        let taken = self.health.take_probe(&self.settings, sequence, self.now);
        prop_assert_eq!(taken, self.reference.take_probe(sequence, self.now));
        Ok(taken)
    }

    fn record(&mut self, event: &Event) -> Result<(), TestCaseError> {
        let before = self.health.state(self.now);
        let effect = self.health.record(&self.settings, event, self.now);
        let late = self.reference.record(event, self.now);
        let after = self.reference.state(self.now);
        let expected = match late {
            _ if before != after => Effect::Moved {
                from: before,
                to: after,
            },
            true => Effect::Late,
            false => Effect::Kept,
        };
        prop_assert_eq!(effect, expected, "{:?}", event);
        Ok(())
    }

    fn event(&self, index: usize, signal: Signal) -> Event {
        let attempt = &self.attempts[index];
        Event {
            region: region("A"),
            access: attempt.access,
            sequence: attempt.sequence,
            newest: self.newest,
            role: attempt.role,
            signal,
            replaces: attempt.replaces,
            settles: None,
        }
    }

    fn end(&mut self, index: usize, signal: Signal) -> Result<(), TestCaseError> {
        let event = self.event(index, signal);
        self.attempts[index].report = Some((signal, self.now));
        self.record(&event)
    }

    fn apply(&mut self, step: &Step) -> Result<(), TestCaseError> {
        let running = |attempt: &Attempt| attempt.report.is_none();
        match *step {
            Step::Wait(tenths) => self.now += Duration::from_millis(100 * u64::from(tenths)),
            Step::Begin {
                access,
                last_resort,
            } => {
                let due = self.health.is_due(self.now);
                let role = if due && self.take_probe(self.newest + 1)? {
                    Role::Probe
                } else if last_resort {
                    Role::LastResort
                } else {
                    Role::Ordinary
                };
                self.begin(access, role, None);
            }
            Step::Snatch => {
                if self.take_probe(self.newest + 1)? {
                    self.begin(Access::Read, Role::Probe, None);
                }
            }
            Step::Move(which) => {
                if let Some(index) = self.pick(which, running) {
                    let sequence = self.attempts[index].sequence;
                    self.health.renew(&self.settings, sequence, self.now);
                    self.reference.renew(sequence, self.now);
                }
            }
            Step::End(which, signal) => {
                if let Some(index) = self.pick(which, running) {
                    self.end(index, signal)?;
                }
            }
            Step::Drop(which) => {
                if let Some(index) = self.pick(which, running) {
                    self.attempts[index].dropped = true;
                    let attempt = self.attempts[index].clone();
                    if attempt.role == Role::Probe {
                        self.attempts[index].report = Some((Signal::Neutral, self.now));
                        self.health.release(attempt.sequence, self.now);
                        self.reference.release(attempt.sequence, self.now);
                    } else {
                        // Long waits are failures even when dropped.
                        let signal = [Signal::Neutral, Signal::Failure][which % 2];
                        self.end(index, signal)?;
                    }
                }
            }
            Step::Settle(which) => {
                if let Some(index) = self.pick(which, |attempt| attempt.dropped) {
                    self.attempts[index].dropped = false;
                    let settles = self.attempts[index].report.map(|(signal, _)| signal);
                    let event = Event {
                        settles,
                        ..self.event(index, Signal::Failure)
                    };
                    self.record(&event)?;
                }
            }
            Step::Reconnect(which) => {
                let failed = |attempt: &Attempt| {
                    !attempt.followed
                        && attempt.role != Role::Probe
                        && matches!(attempt.report, Some((Signal::Failure, _)))
                };
                if let Some(index) = self.pick(which, failed) {
                    self.attempts[index].followed = true;
                    let attempt = self.attempts[index].clone();
                    // Of several in a row each replaces the first.
                    let broke = attempt.report.map(|(signal, ended)| Replaced {
                        sequence: attempt.sequence,
                        ended,
                        signal,
                    });
                    let replaces = attempt.replaces.or(broke);
                    self.begin(attempt.access, attempt.role, replaces);
                }
            }
            Step::Again(which, signal) => {
                if let Some(index) = self.pick(which, |attempt| !running(attempt)) {
                    let event = self.event(index, signal);
                    self.record(&event)?;
                }
            }
            Step::Odd(event) => {
                let replaces = event.replaces.map(|replaced| Replaced {
                    ended: self.now,
                    ..replaced
                });
                self.record(&Event { replaces, ..event })?;
            }
        }
        self.compare()
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        let (health, reference) = (&self.health, &self.reference);
        let state = reference.state(self.now);
        prop_assert_eq!(health.state(self.now), state);
        prop_assert_eq!(health.is_open(), state != State::Healthy);
        prop_assert_eq!(health.since(), reference.since());
        prop_assert_eq!(health.due(), reference.due());
        let due = reference.due().is_some_and(|due| due <= self.now);
        prop_assert_eq!(health.is_due(self.now), due);
        prop_assert_eq!(health.is_tracked(), !reference.is_blank());
        for access in [Access::Read, Access::Write] {
            let counts = health.counts(access);
            let counts = [counts.success, counts.failure, counts.consecutive].map(|n| n as usize);
            prop_assert_eq!(
                <(usize, usize, usize)>::from(counts),
                reference.counts(access)
            );
        }
        // Whoever could give a verdict now: at most one probe.
        let holders = self.attempts.iter().filter(|attempt| {
            let mut health = self.health;
            let event = Event {
                role: Role::Probe,
                ..success_of(attempt)
            };
            attempt.role == Role::Probe
                && matches!(
                    health.record(&self.settings, &event, self.now),
                    Effect::Moved { .. }
                )
        });
        prop_assert!(holders.count() <= 1);
        Ok(())
    }
}

fn success_of(attempt: &Attempt) -> Event {
    Event {
        access: attempt.access,
        ..crate::success(attempt.sequence)
    }
}

/// How many histories: all 100,000 take a while without optimisation.
pub(crate) fn sequences() -> u32 {
    std::env::var("HEALTH_SEQUENCES")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(1_000)
}

fn configuration() -> ProptestConfig {
    ProptestConfig {
        cases: sequences() / 2,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn the_machine_does_what_the_reference_does(steps in prop::collection::vec(step(), 1..80)) {
        let mut world = World::new(small());
        for step in &steps {
            world.apply(step)?;
        }
    }

    #[test]
    fn with_the_documented_settings_too(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::new(exact());
        // Close to a trip, so that a few steps reach one.
        for _ in 0..8 {
            world.apply(&Step::Begin { access: Access::Read, last_resort: false })?;
            world.apply(&Step::End(0, Signal::Failure))?;
        }
        for step in &steps {
            // The waits are longer here, so time passes faster.
            match step {
                Step::Wait(tenths) => world.apply(&Step::Wait(tenths.saturating_mul(6)))?,
                step => world.apply(step)?,
            }
        }
    }
}
