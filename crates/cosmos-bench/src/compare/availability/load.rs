//! Sixteen loops of paced operations, one in ten a write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use cosmos_core::BoxError;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::clients::{Answer, Client};
use super::scene::{DEADLINE, ITEMS, item_id};

const LOOPS: usize = 16;

const WRITE_EVERY: u64 = 10;

/// Between two operations of a loop: four clients and their accounts share the machine.
const BUSY_PAUSE: Duration = Duration::from_millis(25);
/// The same while a client only has to show that it came back, and others are being measured.
const CALM_PAUSE: Duration = Duration::from_millis(400);

/// How much later than its deadline an operation may be seen to end.
const LATE: Duration = Duration::from_millis(250);
/// How much later it is given up.
const GRACE: Duration = Duration::from_secs(2);

/// An operation that took this long, or failed, keeps its journal.
const NOTABLE: Duration = Duration::from_millis(20);

/// One operation: a read or, one in ten, an upsert.
#[derive(Copy, Clone, Debug)]
pub(super) struct Operation {
    number: u64,
}

impl Operation {
    pub(super) fn new(number: u64) -> Self {
        Self { number }
    }

    pub(super) fn is_write(self) -> bool {
        self.number % WRITE_EVERY == WRITE_EVERY - 1
    }

    /// The item that it is about, the same on every run.
    pub(super) fn id(self) -> String {
        item_id(fastrand::Rng::with_seed(self.number).u64(0..ITEMS))
    }

    pub(super) fn number(self) -> u64 {
        self.number
    }
}

/// An operation that has ended.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) began: Instant,
    pub(super) took: Duration,
    pub(super) write: bool,
    pub(super) answer: Answer,
}

impl Sample {
    pub(super) fn failed(&self) -> bool {
        self.answer.failure.is_some()
    }
}

const BUSY: u8 = 0;
const CALM: u8 = 1;
const STOPPED: u8 = 2;

/// The loops.
#[derive(Debug)]
pub(super) struct Load {
    pace: Arc<AtomicU8>,
    loops: JoinSet<Vec<Sample>>,
}

impl Load {
    /// Starts them, spread over a pause.
    pub(super) fn start(client: &Arc<dyn Client>) -> Self {
        let pace = Arc::new(AtomicU8::new(BUSY));
        let numbers = Arc::<AtomicU64>::default();
        let mut loops = JoinSet::new();
        let mut first = Duration::ZERO;
        for _ in 0..LOOPS {
            let (client, pace) = (Arc::clone(client), Arc::clone(&pace));
            let numbers = Arc::clone(&numbers);
            loops.spawn(async move {
                sleep(first).await;
                repeat(&*client, &pace, &numbers).await
            });
            first += BUSY_PAUSE / 16;
        }
        Self { pace, loops }
    }

    /// Fewer operations from now on.
    pub(super) fn calm(&self) {
        self.pace.store(CALM, Ordering::Relaxed);
    }

    /// Ends the loops, and gives what they did.
    pub(super) async fn stop(mut self) -> Result<Vec<Sample>, BoxError> {
        self.pace.store(STOPPED, Ordering::Relaxed);
        let mut samples = Vec::new();
        while let Some(ended) = self.loops.join_next().await {
            samples.extend(ended?);
        }
        Ok(samples)
    }
}

async fn repeat(client: &dyn Client, pace: &AtomicU8, numbers: &AtomicU64) -> Vec<Sample> {
    let mut samples = Vec::new();
    loop {
        let pause = match pace.load(Ordering::Relaxed) {
            BUSY => BUSY_PAUSE,
            CALM => CALM_PAUSE,
            _ => return samples,
        };
        let operation = Operation::new(numbers.fetch_add(1, Ordering::Relaxed));
        samples.push(perform(client, operation).await);
        sleep(pause).await;
    }
}

/// Performs one operation; that ends.
pub(super) async fn perform(client: &dyn Client, operation: Operation) -> Sample {
    let began = Instant::now();
    let answer = timeout(DEADLINE + GRACE, client.perform(operation)).await;
    let took = began.elapsed();
    let mut answer = answer.unwrap_or_else(|_| Answer::failed("did not end"));
    if answer.failure.is_none() && took > DEADLINE + LATE {
        answer.failure = Some("too late".to_owned());
    }
    if answer.failure.is_none() && took < NOTABLE {
        answer.journal = None;
    }
    Sample {
        began,
        took,
        write: operation.is_write(),
        answer,
    }
}
