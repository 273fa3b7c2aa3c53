//! An open loop: operations begin at fixed times, whatever became of the ones before, and their
//! latency counts from the time at which they were due. A client that stalls cannot hide it by being
//! asked less.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use cosmos_core::requests::RequestError;
use http::Request;
use http_body_util::Full;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::client::{Answer, Client};

/// How long each operation may take, from when it was due.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// What a client that does not keep to the deadline is granted before it is given up on.
const GRACE: Duration = Duration::from_secs(1);

/// An operation whose time has come.
#[derive(Clone, Debug)]
pub struct Due {
    /// Its number, from 0 on.
    pub number: u64,
    /// When it was due, counted from the start.
    pub at: Duration,
    start: Instant,
    // Nothing is sent: the channel ends with the last operation that holds a sender.
    _under_way: mpsc::Sender<Infallible>,
}

/// Lets so many operations begin, `rate` a second, and returns when the last has ended: when what
/// `begin` was given is dropped.
pub async fn offer(operations: u64, rate: u32, start: Instant, begin: impl Fn(Due)) {
    let (under_way, mut ended) = mpsc::channel::<Infallible>(1);
    for number in 0..operations {
        let at = due(number, rate);
        sleep_until(start + at).await;
        begin(Due {
            number,
            at,
            start,
            _under_way: under_way.clone(),
        });
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

impl Due {
    /// Has a client perform the operation. Returns how long that took, from when it was due.
    pub async fn perform<C: Client>(
        &self,
        client: &C,
        request: Result<Request<Full<Bytes>>, RequestError>,
    ) -> (Duration, Answer) {
        let deadline = self.start + self.at + DEADLINE;
        let answer = match request {
            Ok(request) => timeout_at(deadline + GRACE, client.perform(request, deadline))
                .await
                .unwrap_or_else(|_| Answer::given_up("did not end")),
            Err(_) => Answer::given_up("no request"),
        };
        (self.start.elapsed().saturating_sub(self.at), answer)
    }
}
