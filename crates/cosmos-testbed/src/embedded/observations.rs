//! What the account saw: counts, the wire log, and requests that broke the protocol.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::time::Instant;

use super::clock;
use super::endpoint::Endpoint;
use super::request::{Class, Received};
use super::verify::ViolationKind;

/// How many requests the wire log keeps.
pub const WIRE_LOG_CAPACITY: usize = 16_384;

/// Connections that one endpoint accepted, and requests that it read to their end, whatever became of
/// them afterwards.
///
/// A hung request is counted, a refused connection is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Requests under `docs` (query plans included), executions of stored procedures, deletes by
    /// partition key.
    pub data: u64,
    /// Everything that is neither data nor an account read.
    pub metadata: u64,
    /// Reads of the account document, `GET /`.
    pub account_reads: u64,
    /// Connections that were accepted.
    pub connections: u64,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Read, and not answered so far (or abandoned by its caller).
    Open,
    /// Answered by the account, or by a fault that answers with a status.
    Answered {
        /// The HTTP status.
        status: u16,
        /// `x-ms-substatus`, 0 where there is none.
        substatus: u32,
    },
    /// Ended by a fault that does not answer in full, named as in the control endpoint's JSON.
    Fault(&'static str),
}

/// One request in the wire log.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct WireEntry {
    /// Counts up from 0 over the account's life, in the order in which requests were read.
    pub sequence: u64,
    /// When it had been read. Not in JSON: another process has no use for this one's clock.
    #[serde(skip)]
    pub read_at: Instant,
    /// Where it arrived.
    pub endpoint: Endpoint,
    /// `HTTP/1.1` or `HTTP/2.0`.
    pub version: String,
    /// The method.
    pub method: String,
    /// The path as sent.
    pub path: String,
    /// The partition-key header, if any.
    pub partition_key: Option<String>,
    /// `x-ms-activity-id`, if any: the same for every request of one operation.
    pub activity_id: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
}

/// A request that was turned away before anything looked at what it asked for.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// Where it arrived.
    pub endpoint: Endpoint,
    /// The method.
    pub method: String,
    /// The path as sent.
    pub path: String,
    /// What was wrong.
    pub kind: ViolationKind,
    /// The same in words, for a failing test to print.
    pub detail: String,
}

/// Everything observed, behind one short-lived lock.
#[derive(Debug, Default)]
pub(crate) struct Observations(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    counts: BTreeMap<Endpoint, Counts>,
    log: VecDeque<WireEntry>,
    next: u64,
    violations: Vec<Violation>,
}

impl Observations {
    /// Counts a request and opens its line in the log.
    pub(crate) fn read(&self, endpoint: &Endpoint, request: &Received) -> u64 {
        let mut seen = self.0.lock();
        let counts = seen.counts.entry(endpoint.clone()).or_default();
        match request.target.class {
            Class::Account => counts.account_reads += 1,
            Class::Data => counts.data += 1,
            Class::Metadata => counts.metadata += 1,
        }
        let sequence = seen.next;
        seen.next += 1;
        if seen.log.len() == WIRE_LOG_CAPACITY {
            seen.log.pop_front();
        }
        seen.log.push_back(WireEntry {
            sequence,
            read_at: clock::monotonic(),
            endpoint: endpoint.clone(),
            version: format!("{:?}", request.version),
            method: request.method.to_string(),
            path: request.uri.path().to_owned(),
            partition_key: request.partition_key().map(str::to_owned),
            activity_id: request.header("x-ms-activity-id").map(str::to_owned),
            outcome: Outcome::Open,
        });
        sequence
    }

    pub(crate) fn accepted(&self, endpoint: &Endpoint) {
        let mut seen = self.0.lock();
        seen.counts.entry(endpoint.clone()).or_default().connections += 1;
    }

    /// Closes a request's line, unless the log has moved past it.
    pub(crate) fn close(&self, sequence: u64, outcome: Outcome) {
        let mut seen = self.0.lock();
        let first = seen.next - seen.log.len() as u64;
        let index = sequence
            .checked_sub(first)
            .and_then(|index| usize::try_from(index).ok());
        if let Some(entry) = index.and_then(|index| seen.log.get_mut(index)) {
            entry.outcome = outcome;
        }
    }

    pub(crate) fn violation(&self, violation: Violation) {
        let mut seen = self.0.lock();
        // A client that gets every request wrong must not fill the memory.
        if seen.violations.len() < WIRE_LOG_CAPACITY {
            seen.violations.push(violation);
        }
    }

    pub(crate) fn counts(&self, endpoint: &Endpoint) -> Counts {
        let seen = self.0.lock();
        seen.counts.get(endpoint).copied().unwrap_or_default()
    }

    pub(crate) fn reset_counts(&self) {
        self.0.lock().counts.clear();
    }

    /// The requests in the log from this one on.
    pub(crate) fn log_from(&self, sequence: u64) -> Vec<WireEntry> {
        let seen = self.0.lock();
        let first = seen.next - seen.log.len() as u64;
        let skipped = usize::try_from(sequence.saturating_sub(first)).unwrap_or(usize::MAX);
        seen.log.iter().skip(skipped).cloned().collect()
    }

    pub(crate) fn violations(&self) -> Vec<Violation> {
        self.0.lock().violations.clone()
    }
}
