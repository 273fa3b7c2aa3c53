//! What one case is made of.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{Req, create, execute, read};

/// The regions, in the order in which they are preferred.
pub(crate) const NAMES: [&str; 4] = ["A", "B", "C", "X"];

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Create,
    Execute,
}

impl Operation {
    pub(crate) fn request(self) -> Req {
        match self {
            Self::Read => read(),
            Self::Create => create(),
            Self::Execute => execute(),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Execute => "execute",
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    MultiWrite,
    /// Its hub is C.
    SingleWrite,
    /// Single-write with its hub in A, and moves the write regions of single partitions.
    Moving,
}

impl Account {
    /// The regions, with a document that is written once for all cases.
    pub(crate) fn regions(self) -> ScriptedAccount {
        static TEXTS: [OnceLock<Bytes>; 3] = [const { OnceLock::new() }; 3];
        let document = self.document();
        let text = TEXTS[self as usize].get_or_init(|| document.to_json().into());
        let regions = ScriptedAccount::new(document);
        regions.set_raw_document(text.clone());
        regions
    }

    fn document(self) -> Document {
        match self {
            Self::MultiWrite => Document::multi_write(NAMES),
            Self::SingleWrite => Document::single_write(["C", "A", "B", "X"]),
            Self::Moving => Document::single_write(NAMES).per_partition_failover(true),
        }
    }
}

/// Who set the deadline.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Limit {
    Caller(Duration),
    Layer(Duration),
}

/// Operations that are sent together.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Call {
    /// How long after the ones before have ended.
    pub(crate) after: Duration,
    pub(crate) count: usize,
    /// When their callers drop them.
    pub(crate) leaves: Option<Duration>,
}

/// Regions that do something, and operations that meet it.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) account: Account,
    pub(crate) script: fn(&ScriptedAccount),
    pub(crate) excluded: &'static [&'static str],
    pub(crate) limit: Option<Limit>,
    pub(crate) operations: &'static [Operation],
    pub(crate) calls: Vec<Call>,
    /// The most requests that one operation sends, in any order of the layers.
    pub(crate) most: usize,
    /// What the regions see in all, where it does not depend on the order.
    pub(crate) exactly: Option<&'static str>,
    /// Whether the end may come after the last attempt's.
    pub(crate) lingers: bool,
}

impl Scenario {
    pub(crate) fn new(name: &'static str, most: usize, script: fn(&ScriptedAccount)) -> Self {
        Self {
            name,
            account: Account::MultiWrite,
            script,
            excluded: &["X"],
            limit: None,
            operations: &[Operation::Read, Operation::Create, Operation::Execute],
            calls: vec![Call {
                after: Duration::ZERO,
                count: 1,
                leaves: None,
            }],
            most,
            exactly: None,
            lingers: false,
        }
    }

    pub(crate) fn on(mut self, account: Account) -> Self {
        self.account = account;
        self
    }

    pub(crate) fn excluding(mut self, regions: &'static [&'static str]) -> Self {
        self.excluded = regions;
        self
    }

    pub(crate) fn within(mut self, limit: Limit) -> Self {
        self.limit = Some(limit);
        self
    }

    pub(crate) fn of(mut self, operations: &'static [Operation]) -> Self {
        self.operations = operations;
        self
    }

    /// The caller drops the operation.
    pub(crate) fn left_after(mut self, time: Duration) -> Self {
        self.calls[0].leaves = Some(time);
        self
    }

    /// More operations, once those before have ended.
    pub(crate) fn then(mut self, after: Duration, count: usize) -> Self {
        self.calls.push(Call {
            after,
            count,
            leaves: None,
        });
        self
    }

    /// One more operation, whose caller drops it.
    pub(crate) fn then_left(mut self, after: Duration, time: Duration) -> Self {
        self.calls.push(Call {
            after,
            count: 1,
            leaves: Some(time),
        });
        self
    }

    pub(crate) fn exactly(mut self, regions: &'static str) -> Self {
        self.exactly = Some(regions);
        self
    }

    pub(crate) fn lingering(mut self) -> Self {
        self.lingers = true;
        self
    }
}

/// Every region does the same, for ever.
pub(crate) fn everywhere(regions: &ScriptedAccount, step: &Step) {
    for region in NAMES {
        regions.script(region, [step.clone().forever()]);
    }
}
