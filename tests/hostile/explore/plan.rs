//! What happens in one run.

use std::time::Duration;

use cosmos_core::FailureKind;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::ms;
use fastrand::Rng;

pub(crate) const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// A document, and what the checks have to know of it.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    pub(crate) readable: Vec<&'static str>,
    pub(crate) writable: Vec<&'static str>,
    pub(crate) multi_write: bool,
    pub(crate) moves_partitions: bool,
}

impl Regions {
    fn random(rng: &mut Rng) -> Self {
        let mut readable = NAMES.to_vec();
        rng.shuffle(&mut readable);
        readable.truncate(rng.usize(1..=4));
        let multi_write = rng.bool();
        let writable = if multi_write {
            readable.clone()
        } else {
            vec![readable[rng.usize(..readable.len())]]
        };
        Self {
            readable,
            writable,
            multi_write,
            moves_partitions: rng.bool(),
        }
    }

    pub(crate) fn document(&self) -> Document {
        let readable = self.readable.iter().copied();
        let document = if self.multi_write {
            Document::multi_write(readable)
        } else {
            Document::single_write(readable).writable(self.writable.iter().copied())
        };
        document.per_partition_failover(self.moves_partitions)
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Create,
    Execute,
    ReadMetadata,
    WriteMetadata,
    Foreign,
}

#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    pub(crate) after: Duration,
    pub(crate) dropped_after: Option<Duration>,
    pub(crate) excluded: Vec<&'static str>,
    pub(crate) strict: bool,
    pub(crate) range: Option<&'static str>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retry_writes: bool,
}

/// A layer above the endpoint layer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Deadline(Option<Duration>),
    Session { hub_only: bool },
    SessionToken,
    Failover,
    Partition,
    Ppaf,
    CircuitBreaker,
    RetryWith,
    Throttle,
    Reconnect,
    Endpoint,
    BufferRequest,
    AttemptTimeout,
    Timeout(Duration),
    Limit(usize),
    Shed,
    Queue,
    Again(usize),
}

impl Over {
    pub(crate) fn is_foreign(self) -> bool {
        matches!(
            self,
            Self::Timeout(_) | Self::Limit(_) | Self::Shed | Self::Queue | Self::Again(_)
        )
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Outermost first.
    pub(crate) over: Vec<Over>,
    pub(crate) limit_below: Option<usize>,
    pub(crate) regions: Regions,
    pub(crate) changes: Vec<(Duration, Option<Regions>)>,
    pub(crate) scripts: Vec<(&'static str, Vec<Step>)>,
    pub(crate) account_scripts: Vec<(&'static str, Vec<Step>)>,
    pub(crate) container_scripts: Vec<(&'static str, Vec<Step>)>,
    pub(crate) known: bool,
    pub(crate) operations: Vec<Operation>,
    pub(crate) heals_after: Duration,
}

impl Plan {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let regions = Regions::random(rng);
        let changes = (0..rng.usize(..4))
            .map(|_| {
                let change = (rng.u8(..6) > 0).then(|| Regions::random(rng));
                (time(rng), change)
            })
            .collect();
        let mut operations: Vec<Operation> = (0..rng.usize(1..5)).map(|_| operation(rng)).collect();
        operations.sort_by_key(|operation| operation.after);
        let over = over(rng);
        let scripted_reads = rng.usize(..4);
        let again = over.iter().any(|layer| matches!(layer, Over::Again(_)));
        Self {
            over,
            limit_below: (!again && rng.u8(..4) == 0).then(|| rng.usize(1..4)),
            regions,
            changes,
            scripts: NAMES
                .into_iter()
                .chain(["global"])
                .map(|name| (name, script(rng)))
                .collect(),
            account_scripts: rng
                .choose_multiple(NAMES.into_iter().chain(["global"]), scripted_reads)
                .into_iter()
                .map(|name| (name, script(rng)))
                .collect(),
            container_scripts: NAMES.map(|name| (name, script(rng))).to_vec(),
            known: rng.u8(..3) > 0,
            operations,
            heals_after: ms(rng.u64(1000..400_000)),
        }
    }
}

fn over(rng: &mut Rng) -> Vec<Over> {
    let mut over: Vec<Over> = Vec::new();
    for _ in 0..=rng.usize(..2) {
        for layer in [
            Over::Deadline((rng.u8(..3) == 0).then(|| time(rng))),
            Over::Session {
                hub_only: rng.bool(),
            },
            Over::SessionToken,
            Over::Failover,
            Over::Partition,
            Over::Ppaf,
            Over::CircuitBreaker,
            Over::RetryWith,
            Over::Throttle,
            Over::Reconnect,
        ] {
            if rng.u8(..5) > 0 {
                over.push(layer);
            }
        }
    }
    for _ in 0..rng.usize(..3) {
        over.push(match rng.u8(..8) {
            0 => Over::Timeout(ms(rng.u64(1..20_000))),
            1 => Over::Limit(rng.usize(1..4)),
            2 => Over::Shed,
            3 => Over::Queue,
            4 => Over::Again(rng.usize(1..4)),
            5 => Over::BufferRequest,
            6 => Over::Endpoint,
            _ => Over::AttemptTimeout,
        });
    }
    // A foreign retry keeps a service that is ready while it waits for another one, and a deadline
    // that has passed does not use its readiness: with few permits, such a stack blocks itself.
    if over.iter().any(|layer| matches!(layer, Over::Again(_))) {
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
    over
}

fn time(rng: &mut Rng) -> Duration {
    match rng.u8(..4) {
        0 => ms(rng.u64(..50)),
        1 => ms(rng.u64(..2000)),
        _ => ms(rng.u64(..60_000)),
    }
}

fn operation(rng: &mut Rng) -> Operation {
    let kind = match rng.u8(..10) {
        0..=3 => Kind::Read,
        4..=5 => Kind::Create,
        6..=7 => Kind::Execute,
        8 => [Kind::ReadMetadata, Kind::WriteMetadata][rng.usize(..2)],
        _ => Kind::Foreign,
    };
    let excludes = match rng.u8(..4) {
        0 => 0,
        1 => 4,
        _ => 2,
    };
    Operation {
        kind,
        after: time(rng),
        dropped_after: (rng.u8(..4) == 0).then(|| time(rng)),
        excluded: NAMES
            .into_iter()
            .filter(|_| rng.u8(..4) < excludes)
            .collect(),
        strict: rng.u8(..5) == 0,
        range: [None, Some("0"), Some("1")][rng.usize(..3)],
        timeout: rng.bool().then(|| time(rng)),
        retry_writes: rng.u8(..5) > 0,
    }
}

fn script(rng: &mut Rng) -> Vec<Step> {
    let mut steps: Vec<Step> = (0..rng.usize(..7)).map(|_| step(rng)).collect();
    if rng.u8(..3) == 0 {
        steps.push(step(rng).forever());
    }
    steps
}

const ANSWERS: [(u16, u32); 20] = [
    (200, 0),
    (304, 0),
    (400, 0),
    (403, 0),
    (403, 3),
    (403, 3),
    (403, 1008),
    (404, 0),
    (404, 1002),
    (408, 0),
    (408, 20008),
    (408, 21010),
    (410, 0),
    (410, 1002),
    (429, 3092),
    (429, 3200),
    (449, 0),
    (500, 0),
    (503, 0),
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

fn step(rng: &mut Rng) -> Step {
    let step = match rng.u8(..12) {
        0..=4 => {
            let (code, substatus) = ANSWERS[rng.usize(..ANSWERS.len())];
            Step::status(code, substatus)
        }
        5..=6 => Step::status(429, 3200).hint(HINTS[rng.usize(..HINTS.len())]),
        7..=8 => Step::fail(FAILURES[rng.usize(..FAILURES.len())]),
        9 => Step::hang(),
        10 => Step::status(200, 0).stalling(),
        _ => Step::status(200, 0).breaking(),
    };
    match rng.u8(..3) {
        0 => step.after(ms(rng.u64(..3000))),
        _ => step,
    }
}
