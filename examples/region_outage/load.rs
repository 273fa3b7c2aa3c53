//! An open loop: operations begin at fixed times, whatever became of the ones before, and their
//! latency counts from the time at which they were due. A client that stalls cannot hide it by being
//! asked less.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::client::{Answer, Client};
use crate::measure::{Recorder, Sample};
use crate::options::Options;
use crate::workload::Operation;

/// How long each operation may take, from when it was due.
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

/// What a client that does not keep to the deadline is granted before it is given up on.
const GRACE: Duration = Duration::from_secs(1);

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
    // Nothing is sent: the channel ends with the last operation that holds a sender.
    let (under_way, mut ended) = mpsc::channel::<Infallible>(1);
    for number in 0..options.operations() {
        let due = due(number, options.rate);
        sleep_until(start + due).await;
        let operation = Operation::new(number);
        tokio::spawn(perform(
            first.clone(),
            operation,
            start,
            due,
            under_way.clone(),
        ));
        tokio::spawn(perform(
            second.clone(),
            operation,
            start,
            due,
            under_way.clone(),
        ));
    }
    drop(under_way);
    ended.recv().await;
}

/// When an operation is due, counted from the start.
fn due(number: u64, rate: u32) -> Duration {
    let seconds = Duration::from_secs(number / u64::from(rate));
    let rest = Duration::from_nanos(number % u64::from(rate) * 1_000_000_000 / u64::from(rate));
    seconds + rest
}

async fn perform<C: Client>(
    subject: Subject<C>,
    operation: Operation,
    start: Instant,
    due: Duration,
    _under_way: mpsc::Sender<Infallible>,
) {
    let Subject { client, recorder } = subject;
    let deadline = start + due + DEADLINE;
    let answer = match operation.request() {
        Ok(request) => timeout_at(deadline + GRACE, client.perform(request, deadline))
            .await
            .unwrap_or_else(|_| Answer::given_up("did not end")),
        Err(_) => Answer::given_up("no request"),
    };
    let latency = start.elapsed().saturating_sub(due);
    recorder.record(&Sample {
        due,
        latency,
        write: operation.is_write(),
        answer,
    });
}
