//! The client's layers.

use std::time::Duration;

use cosmos_tests::ms;
use fastrand::Rng;

use super::time;

/// A layer above the endpoint layer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named after its layer")]
pub enum Over {
    Deadline(Option<Duration>),
    Session { hub_only: bool },
    SessionToken,
    Failover,
    Partition,
    Ppaf,
    CircuitBreaker { tolerated: u32 },
    RetryWith,
    Throttle,
    Reconnect,
    Endpoint,
    BufferRequest,
    AttemptTimeout,
    // Not ours.
    Timeout(Duration),
    Limit(usize),
    Shed,
    Queue,
    Again(usize),
}

impl Over {
    /// Whether it is tower's.
    #[must_use]
    pub const fn is_foreign(self) -> bool {
        matches!(
            self,
            Self::Timeout(_) | Self::Limit(_) | Self::Shed | Self::Queue | Self::Again(_)
        )
    }
}

/// The layers above the endpoint layer, and a limit below it.
#[derive(Clone, Debug)]
pub struct Layers {
    /// Outermost first.
    pub over: Vec<Over>,
    /// So many requests at once reach the network.
    pub limit_below: Option<usize>,
    /// Whether these are the recommended layers in their order.
    pub is_recommended: bool,
}

impl Layers {
    /// Half of the runs have the recommended order, the others anything.
    pub(super) fn random(rng: &mut Rng, recommended: bool) -> Self {
        let ours = [
            Over::Deadline(None),
            Over::Partition,
            Over::Ppaf,
            Over::SessionToken,
            Over::Session {
                hub_only: rng.bool(),
            },
            Over::Failover,
            Over::CircuitBreaker {
                tolerated: rng.u32(1..10),
            },
            Over::RetryWith,
            Over::Throttle,
            Over::Reconnect,
        ];
        if recommended || rng.u8(..4) == 0 {
            let with_lookup = rng.bool();
            let over = ours.into_iter();
            return Self {
                over: over
                    .filter(|layer| with_lookup || *layer != Over::Partition)
                    .collect(),
                limit_below: None,
                is_recommended: true,
            };
        }
        let mut over: Vec<Over> = Vec::new();
        for _ in 0..=rng.usize(..2) {
            over.extend(ours.iter().filter(|_| rng.u8(..5) > 0));
        }
        if rng.u8(..3) == 0 {
            over.push(Over::Deadline(Some(time(rng, ms(60_000)))));
        }
        for _ in 0..rng.usize(..3) {
            over.push(foreign(rng));
        }
        // A foreign retry keeps a service that is ready while it waits for another one, and a
        // deadline that has passed does not use its readiness: with few permits, such a stack
        // blocks itself.
        let again = over.iter().any(|layer| matches!(layer, Over::Again(_)));
        if again {
            over.retain(|layer| !matches!(layer, Over::Limit(_) | Over::Queue));
        }
        rng.shuffle(&mut over);
        // The operation begins at a layer of ours, so that one journal holds all of it.
        let begins = match rng.u8(..4) {
            0 => Over::Failover,
            1 => Over::Throttle,
            _ => Over::Deadline(None),
        };
        over.insert(0, begins);
        Self {
            over,
            limit_below: (!again && rng.u8(..4) == 0).then(|| rng.usize(1..4)),
            is_recommended: false,
        }
    }

    /// Whether a layer is there.
    pub fn has(&self, is: impl Fn(Over) -> bool) -> bool {
        self.count(is) > 0
    }

    /// How often a layer is there.
    pub fn count(&self, is: impl Fn(Over) -> bool) -> usize {
        self.over.iter().filter(|layer| is(**layer)).count()
    }
}

fn foreign(rng: &mut Rng) -> Over {
    match rng.u8(..8) {
        0 => Over::Timeout(ms(rng.u64(1..20_000))),
        1 => Over::Limit(rng.usize(1..4)),
        2 => Over::Shed,
        3 => Over::Queue,
        4 => Over::Again(rng.usize(1..4)),
        5 => Over::BufferRequest,
        6 => Over::Endpoint,
        _ => Over::AttemptTimeout,
    }
}
