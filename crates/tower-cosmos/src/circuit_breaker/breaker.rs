//! The circuits as attempts use them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cosmos_core::health::{
    self, BreakerSettings, Event, PartitionStandings, Replaced, Role, Signal, State, Transition,
    signal,
};
use cosmos_core::selection::access;
use cosmos_core::{Attempt, Breaker, Ended, Outcome, Partition, Region};
use tokio::sync::broadcast;

/// How many transitions a subscriber may be behind.
const BACKLOG: usize = 256;

#[derive(Debug)]
pub(super) struct PartitionBreaker {
    pub(super) circuits: health::Circuits,
    // The newest number handed out to an attempt.
    sequence: Arc<AtomicU64>,
    // Made for the first subscriber.
    transitions: OnceLock<broadcast::Sender<Transition>>,
}

impl PartitionBreaker {
    pub(super) fn new(settings: BreakerSettings, sequence: Arc<AtomicU64>) -> Self {
        Self {
            circuits: health::Circuits::new(settings),
            sequence,
            transitions: OnceLock::new(),
        }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Transition> {
        let sender = || broadcast::Sender::new(BACKLOG);
        self.transitions.get_or_init(sender).subscribe()
    }

    fn tell(&self, transition: Option<Transition>) {
        let Some(transition) = transition else {
            return;
        };
        tracing::info!(
            cosmos.container = &*transition.container,
            cosmos.range = ?transition.range,
            cosmos.region = transition.region.name(),
            cosmos.from = transition.from.name(),
            cosmos.to = transition.to.name(),
            "circuit"
        );
        if let Some(sender) = self.transitions.get() {
            // An error says that nobody listens any more.
            let _ = sender.send(transition);
        }
    }
}

impl Breaker for PartitionBreaker {
    fn standings(&self, partition: Partition<'_>, now: Instant) -> PartitionStandings {
        self.circuits.standings(partition, now)
    }

    fn take_probe(
        &self,
        partition: Partition<'_>,
        region: Region,
        sequence: u64,
        now: Instant,
    ) -> bool {
        let transition = self.circuits.take_probe(partition, region, sequence, now);
        let taken = transition.is_some();
        self.tell(transition);
        taken
    }

    fn renew(&self, partition: Partition<'_>, region: Region, sequence: u64, now: Instant) {
        self.circuits.renew(partition, region, sequence, now);
    }

    fn release(&self, partition: Partition<'_>, region: Region, sequence: u64, now: Instant) {
        let transition = self.circuits.release(partition, region, sequence, now);
        self.tell(transition);
    }

    fn ended(&self, ended: &Ended<'_>, now: Instant) -> bool {
        let event = event(ended, self.sequence.load(Ordering::Relaxed));
        let transition = self.circuits.record(ended.partition, &event, now);
        let reached = transition
            .as_ref()
            .is_some_and(|transition| transition.to == State::UnhealthyTentative);
        self.tell(transition);
        reached && ended.partition == Partition::METADATA
    }

    fn forget(&self, partition: Partition<'_>) {
        match partition.range {
            Some(range) => self.circuits.forget_range(partition.container, range),
            None => self.circuits.forget_container(partition.container),
        }
    }
}

/// What an attempt's end is to its circuit.
fn event(ended: &Ended<'_>, newest: u64) -> Event {
    let attempt = ended.attempt;
    let says = |attempt: &Attempt, outcome: Outcome| -> Signal {
        let waited = attempt.duration.unwrap_or(Duration::ZERO);
        signal(ended.operation, outcome, waited, ended.patience)
    };
    let role = if attempt.probe {
        Role::Probe
    } else if attempt.last_resort {
        Role::LastResort
    } else {
        Role::Ordinary
    };
    Event {
        region: attempt.region,
        access: access(ended.operation),
        sequence: attempt.sequence,
        newest,
        role,
        signal: says(attempt, attempt.outcome),
        replaces: ended.reconnects.map(|broken| Replaced {
            sequence: broken.sequence,
            ended: broken.began + broken.duration.unwrap_or(Duration::ZERO),
            signal: says(broken, broken.outcome),
        }),
        settles: ended.settled.then(|| says(attempt, Outcome::Abandoned)),
    }
}
