//! The tables of the retry specification, row by row.
#![allow(missing_docs, clippy::unwrap_used)]

mod marking;
mod moves;
mod reconnect;
mod session;
mod verdict;
mod waits;

use cosmos_core::{Action, FailureKind, Operation, Outcome, Resource, Status};

const READ: Operation = Operation::new(Action::Read, Resource::Item);
const CREATE: Operation = Operation::new(Action::Create, Resource::Item);
const SPROC: Operation = Operation::new(Action::Execute, Resource::StoredProcedure);

/// Everything that changes nothing, with data and with metadata.
const READS: [Operation; 7] = [
    READ,
    Operation::new(Action::Query, Resource::Item),
    Operation::new(Action::QueryPlan, Resource::Item),
    Operation::new(Action::ReadFeed, Resource::Item),
    Operation::new(Action::ChangeFeed, Resource::Item),
    Operation::new(Action::Read, Resource::Container),
    Operation::new(Action::ReadFeed, Resource::PartitionKeyRange),
];

/// Everything that changes something and is idempotent enough, with data and with metadata.
const WRITES: [Operation; 9] = [
    CREATE,
    Operation::new(Action::Upsert, Resource::Item),
    Operation::new(Action::Replace, Resource::Item),
    Operation::new(Action::Patch, Resource::Item),
    Operation::new(Action::Delete, Resource::Item),
    Operation::new(Action::Batch, Resource::Item),
    Operation::new(Action::DeleteByPartitionKey, Resource::PartitionKeyDelete),
    Operation::new(Action::Create, Resource::Container),
    Operation::new(Action::Replace, Resource::StoredProcedure),
];

/// Every kind of failure.
const FAILURES: [FailureKind; 26] = [
    FailureKind::Dns,
    FailureKind::Refused,
    FailureKind::ConnectTimeout,
    FailureKind::Connect,
    FailureKind::Tls,
    FailureKind::Negotiation,
    FailureKind::PoolLimit,
    FailureKind::NotProcessed,
    FailureKind::Credential,
    FailureKind::Reset,
    FailureKind::Closed,
    FailureKind::Io,
    FailureKind::AttemptTimeout,
    FailureKind::BodyTimeout,
    FailureKind::BodyCut,
    FailureKind::BodyTooLarge,
    FailureKind::Other,
    FailureKind::Lost,
    FailureKind::DeadlineExceeded,
    FailureKind::MayHaveRun,
    FailureKind::Excluded,
    FailureKind::NoTopology,
    FailureKind::TooManyAttempts,
    FailureKind::RequestBody,
    FailureKind::InvalidRequest,
    FailureKind::ClientClosed,
];

fn answered(code: u16, substatus: u32) -> Outcome {
    Outcome::Answered(Status::new(code, substatus))
}
