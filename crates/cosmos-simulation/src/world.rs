//! The regions of a plan: what they answer, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cosmos_core::{Access, headers};
use cosmos_testbed::ScriptedAccount;
use cosmos_testbed::scripted::{Purpose, Step, WireEntry};
use http::HeaderName;
use parking_lot::Mutex;

use crate::plan::{Does, Fault, Kind, Of, Operation, Plan, What, container, range};

/// Tells operations apart on the wire.
pub(crate) const NUMBER: HeaderName = HeaderName::from_static("x-test-operation");
/// Tells answers apart.
pub(crate) const ANSWER: HeaderName = HeaderName::from_static("x-test-answer");

/// What a request is, as a fault sees it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) purpose: Purpose,
    /// Of an operation: its access and partition, and whether it is about metadata.
    pub(crate) data: Option<(Access, usize, bool)>,
}

impl Asked {
    pub(crate) fn by(operation: &Operation) -> Self {
        let kind = operation.kind;
        Self {
            purpose: Purpose::Data,
            data: Some((kind.access(), operation.partition, kind.is_metadata())),
        }
    }
}

impl Fault {
    /// Whether it is there for such a request in a region at some time.
    pub(crate) fn concerns(&self, asked: Asked, region: &str) -> bool {
        let of = match (self.of, asked.purpose) {
            (Of::Everything, _)
            | (Of::AccountReads, Purpose::AccountRead)
            | (Of::ContainerReads, Purpose::ContainerRead) => true,
            (Of::Data(access, partition), Purpose::Data) => {
                asked.data.is_some_and(|(its_access, its_partition, _)| {
                    access.is_none_or(|access| access == its_access)
                        && partition.is_none_or(|partition| partition == its_partition)
                })
            }
            _ => false,
        };
        of && self.region == region
    }
}

/// The region that takes a partition's writes at a time.
pub(crate) fn write_region(plan: &Plan, partition: usize, at: Duration) -> &'static str {
    let regions = plan.regions_at(at);
    let moved = plan
        .changes
        .iter()
        .rev()
        .find_map(|change| match change.what {
            What::Writes {
                partition: its,
                region,
                until,
            } if range(its) == range(partition) && change.at <= at && at < until => Some(region),
            _ => None,
        });
    moved
        .filter(|region| regions.moves_partitions && regions.readable.contains(region))
        .unwrap_or_else(|| regions.hub())
}

/// What an honest region answers, were there no faults: `None` if it takes the request.
pub(crate) fn refusal(plan: &Plan, asked: Asked, region: &str, at: Duration) -> Option<(u16, u32)> {
    let (access, partition, is_metadata) = asked.data?;
    let regions = plan.regions_at(at);
    if region == "global" {
        return None;
    }
    if !regions.readable.contains(&region) {
        return Some((403, 1008));
    }
    let takes = match access {
        Access::Read => true,
        Access::Write if is_metadata => region == regions.hub(),
        Access::Write if regions.multi_write => regions.writable.contains(&region),
        Access::Write => region == write_region(plan, partition, at),
    };
    (!takes).then_some((403, 3))
}

/// How long a region asked an operation to stay away.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Hint {
    /// The operation's number.
    pub(crate) operation: usize,
    /// When the request arrived that was answered so.
    pub(crate) at: Duration,
    pub(crate) wait: Duration,
}

/// The hints that regions gave.
pub(crate) type Hints = Arc<Mutex<Vec<Hint>>>;

/// The regions of a plan.
pub(crate) struct World {
    plan: Plan,
    operations: Vec<Operation>,
    // How often each fault was met.
    met: Vec<AtomicUsize>,
    answers: AtomicUsize,
    hints: Hints,
}

impl World {
    /// Lets the regions follow the plan. The operations are those that the wire knows by number.
    pub(crate) fn rule(
        plan: &Plan,
        operations: Vec<Operation>,
        regions: &ScriptedAccount,
    ) -> Hints {
        let hints = Hints::default();
        let world = Arc::new(Self {
            met: plan.faults.iter().map(|_| AtomicUsize::new(0)).collect(),
            plan: plan.clone(),
            operations,
            answers: AtomicUsize::new(0),
            hints: Arc::clone(&hints),
        });
        regions.set_container("dbs/d/colls/c", container(0));
        regions.respond_with(move |purpose, entry| world.answer(purpose, entry));
        hints
    }

    fn answer(&self, purpose: Purpose, entry: &WireEntry) -> Option<Step> {
        let number = entry.header(NUMBER.as_str()).parse().ok();
        let operation = number.and_then(|number: usize| self.operations.get(number));
        let data = operation.and_then(|operation| Asked::by(operation).data);
        let asked = Asked { purpose, data };
        let fault = self.fault(asked, entry);
        if let (Some(operation), Some(wait)) = (number, fault.and_then(|fault| fault.does.hint())) {
            let at = entry.at;
            self.hints.lock().push(Hint {
                operation,
                at,
                wait,
            });
        }
        let step = fault.and_then(|fault| fault.does.step());
        let step = if purpose == Purpose::Data {
            let step = step.unwrap_or_else(|| self.well(asked, entry));
            let answer = self.answers.fetch_add(1, Ordering::Relaxed);
            let answer = format!("{}-{answer}", entry.header(NUMBER.as_str()));
            step.header(ANSWER, &answer)
        } else {
            step?
        };
        Some(step.after(fault.map_or(Duration::ZERO, |fault| fault.after)))
    }

    fn fault(&self, asked: Asked, entry: &WireEntry) -> Option<&Fault> {
        let mut faults = self.plan.faults.iter().zip(&self.met);
        faults
            .find(|(fault, met)| {
                (fault.from..fault.until).contains(&entry.at)
                    && fault.concerns(asked, &entry.region)
                    && met
                        .fetch_add(1, Ordering::Relaxed)
                        .is_multiple_of(fault.every)
            })
            .map(|(fault, _)| fault)
    }

    /// The answer of a region without a fault.
    fn well(&self, asked: Asked, entry: &WireEntry) -> Step {
        if let Some((code, substatus)) = refusal(&self.plan, asked, &entry.region, entry.at) {
            return Step::status(code, substatus);
        }
        let access = asked.data.map_or(Access::Read, |(access, ..)| access);
        let code = match access {
            Access::Read => 200,
            Access::Write => 201,
        };
        let token = format!("0:1#{}", 100 + self.answers.load(Ordering::Relaxed));
        Step::status(code, 0).header(headers::SESSION_TOKEN, &token)
    }
}

/// Whether a region's behaviour is a failure of that kind of operation that the specification
/// moves to another region.
pub(crate) fn moves_on(does: Does, operation: &Operation, multi_write: bool) -> bool {
    let reads = operation.kind.access() == Access::Read;
    let repeatable = operation.kind != Kind::Execute && (reads || operation.retry_writes);
    match does {
        Does::Slow => true,
        Does::Hang | Does::Stall | Does::Break => repeatable,
        Does::Fail(kind) => {
            use cosmos_core::FailureKind as F;
            let before = matches!(
                kind,
                F::Dns | F::Refused | F::ConnectTimeout | F::Tls | F::NotProcessed | F::PoolLimit
            );
            let after = matches!(kind, F::Reset | F::Closed | F::Io | F::BodyCut | F::Other);
            before || after && repeatable
        }
        Does::Answer(code, substatus, _) => match (code, substatus) {
            (408, 20008) => false,
            (403, 1008) | (410, _) | (429, 3092) => true,
            (403, 3) => !reads,
            (404, 1002) => multi_write,
            (200..=399, _) => true,
            (408 | 500.., _) => repeatable,
            _ => false,
        },
    }
}
