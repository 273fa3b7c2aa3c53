//! Those who use the client: each has partition keys of its own, so that what is true of them is known.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use cosmos_client::CosmosClient;
use cosmos_core::{BoxError, Journal, JournalSlot, OperationOptions, Status};
use http::Response;
use http_body_util::{BodyExt, Full};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use crate::model::Model;
use crate::operation::{Answer, Kind, Operation, Verdict};
use crate::weather::Weather;

/// How many work at once.
pub(crate) const WORKERS: u64 = 16;

/// Partition keys of one worker.
const KEYS: usize = 4;

/// The longest pause between two operations of one worker.
const PAUSE: Duration = Duration::from_millis(60);

/// A write that was given up may still be on its way. The account delays none for longer.
const STRAY: Duration = Duration::from_millis(600);

/// More that is wrong is only counted.
const KEPT: usize = 20;

/// What all workers found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    counts: Mutex<BTreeMap<Kind, Counts>>,
    values: AtomicU64,
    wrong: Mutex<(u64, Vec<String>)>,
    procedures: Mutex<Vec<u64>>,
}

/// Operations of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) operations: u64,
    pub(crate) failed: u64,
}

impl Findings {
    pub(crate) fn by_kind(&self) -> BTreeMap<Kind, Counts> {
        self.counts.lock().clone()
    }

    pub(crate) fn all(&self) -> Counts {
        let counts = self.counts.lock();
        counts.values().fold(Counts::default(), |all, kind| Counts {
            operations: all.operations + kind.operations,
            failed: all.failed + kind.failed,
        })
    }

    /// How much was wrong, and the first of it.
    pub(crate) fn wrong(&self) -> (u64, Vec<String>) {
        self.wrong.lock().clone()
    }

    /// Stored procedures of which the caller was told that they ran.
    pub(crate) fn procedures(&self) -> Vec<u64> {
        self.procedures.lock().clone()
    }

    pub(crate) fn note_wrong(&self, what: String) {
        let (count, first) = &mut *self.wrong.lock();
        *count += 1;
        if first.len() < KEPT {
            first.push(what);
        }
    }

    fn next_value(&self) -> u64 {
        self.values.fetch_add(1, Ordering::Relaxed)
    }

    fn count(&self, kind: Kind, verdict: &Verdict) {
        let mut counts = self.counts.lock();
        let counts = counts.entry(kind).or_default();
        counts.operations += 1;
        counts.failed += u64::from(matches!(verdict, Verdict::Failed(_)));
    }
}

/// Works until then.
pub(crate) async fn work(
    number: u64,
    client: CosmosClient,
    findings: Arc<Findings>,
    weather: Arc<Weather>,
    mut random: fastrand::Rng,
    until: Instant,
) {
    let mut keys: Vec<_> = (0..KEYS)
        .map(|key| (format!("worker-{number}-{key}"), Model::default()))
        .collect();
    while Instant::now() < until {
        let (key, model) = &mut keys[random.usize(0..KEYS)];
        let operation = Operation::random(&mut random, key, findings.next_value());
        let began = Instant::now();
        let (answer, journal) = perform(&client, &operation).await;
        let verdict = operation.judge(&answer, model);
        findings.count(operation.kind, &verdict);
        match &verdict {
            Verdict::Good if operation.kind == Kind::Procedure => {
                findings.procedures.lock().push(operation.value);
            }
            Verdict::Good => {}
            Verdict::Failed(_) if !weather.was_fine(began) => {}
            Verdict::Failed(what) | Verdict::Wrong(what) => {
                let journal = journal.map(|journal| journal.to_string());
                findings.note_wrong(format!(
                    "{} of {} in {key}: {what}\n{}",
                    operation.kind.name(),
                    operation.value,
                    journal.unwrap_or_default()
                ));
            }
        }
        let stray = answer.perhaps_done_before || answer.result.is_err();
        let pause = if stray {
            STRAY
        } else {
            PAUSE.mul_f64(random.f64())
        };
        sleep(pause).await;
    }
}

async fn perform(client: &CosmosClient, operation: &Operation) -> (Answer, Option<Journal>) {
    let slot = JournalSlot::new();
    let result = match operation.request().build() {
        Ok(mut request) => {
            let options = OperationOptions::new().journal_slot(&slot);
            request.extensions_mut().insert(options);
            read(client.clone().oneshot(request).await).await
        }
        Err(error) => Err(error.to_string()),
    };
    let journal = slot.journal();
    let answer = Answer {
        result,
        perhaps_done_before: journal.as_ref().is_some_and(Journal::may_have_been_applied),
    };
    (answer, journal)
}

async fn read(result: Result<Response<Full<Bytes>>, BoxError>) -> Result<(Status, Bytes), String> {
    let response = result.map_err(|error| error.to_string())?;
    let status = Status::of_response(&response);
    let body = response.into_body().collect().await;
    let body = body.map_err(|error| error.to_string())?;
    Ok((status, body.to_bytes()))
}
