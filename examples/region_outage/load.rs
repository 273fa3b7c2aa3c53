//! The same operations for both clients, at the same times.

use std::sync::Arc;

use cosmos_examples::client::Client;
use cosmos_examples::load::{self, Due};
use tokio::time::Instant;

use crate::measure::{Recorder, Sample};
use crate::options::Options;
use crate::workload::Operation;

/// A client and where its results go.
#[derive(Clone, Debug)]
pub(crate) struct Subject<C> {
    pub(crate) client: C,
    pub(crate) recorder: Arc<Recorder>,
}

/// Offers every operation to both clients at the same time, and returns when the last has ended.
pub(crate) async fn offer<A: Client, B: Client>(
    options: &Options,
    start: Instant,
    first: Subject<A>,
    second: Subject<B>,
) {
    load::offer(options.operations(), options.rate, start, |due| {
        tokio::spawn(perform(first.clone(), due.clone()));
        tokio::spawn(perform(second.clone(), due));
    })
    .await;
}

async fn perform<C: Client>(subject: Subject<C>, due: Due) {
    let operation = Operation::new(due.number);
    let (latency, answer) = due.perform(&subject.client, operation.request()).await;
    subject.recorder.record(&Sample {
        due: due.at,
        latency,
        write: operation.is_write(),
        answer,
    });
}
