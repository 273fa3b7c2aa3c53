//! One connect at a time for a shard whose connection will carry many requests.
//!
//! hyper-util's client opens a connection for every request that finds none, also where they will
//! share one over HTTP/2 in the end; told to speak HTTP/2 only it opens one, but then a request
//! that leaves while it connects takes all the others down, and a failure reaches them without
//! its cause. Here the first request of a cold shard connects and the others follow: they share
//! its outcome, and if it leaves, the next one connects. (A request that comes in the moment
//! between the connect and the connection's arrival in the pool connects as well: harmless.)

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cosmos_core::{FailureKind, TransportError};
use parking_lot::Mutex;
use tokio::sync::watch;

/// How long a follower waits for the pool to hand it the connection that was just made.
///
/// The pool does so at once, and the follower's connect goes on in the background for nothing.
const HANDING_OUT: Duration = Duration::from_millis(250);

/// What became of the connect that others wait for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The connection can be shared.
    Shared,
    /// Everyone needs a connection of their own.
    Single,
    /// Nobody gets one.
    Failed(FailureKind),
}

/// The connects of one shard.
#[derive(Debug, Default)]
pub(super) struct Gate {
    leader: Mutex<Option<watch::Receiver<Option<Outcome>>>>,
    // What the server chose last. While it is not shared, nobody waits for anybody.
    single: AtomicBool,
}

enum Role {
    Leader(watch::Sender<Option<Outcome>>),
    Follower(watch::Receiver<Option<Outcome>>),
}

impl Gate {
    /// Connects, or waits for who does. `shared` tells whether a connection can be shared.
    ///
    /// # Errors
    /// The leader's failure. [`FailureKind::NotProcessed`] if the pool did not hand out the
    /// leader's connection, because it ended at once.
    pub(super) async fn pass<T, C, F>(
        &self,
        connect: C,
        shared: impl Fn(&T) -> bool,
    ) -> Result<T, TransportError>
    where
        C: Fn() -> F,
        F: Future<Output = Result<T, TransportError>>,
    {
        loop {
            if self.single.load(Ordering::Relaxed) {
                let connected = connect().await?;
                self.single.store(!shared(&connected), Ordering::Relaxed);
                return Ok(connected);
            }
            match self.role() {
                Role::Leader(tell) => {
                    let connected = connect().await;
                    let outcome = match &connected {
                        Ok(connected) if shared(connected) => Outcome::Shared,
                        Ok(_) => Outcome::Single,
                        Err(error) => Outcome::Failed(error.kind()),
                    };
                    let single = outcome == Outcome::Single;
                    self.single.store(single, Ordering::Relaxed);
                    // Who comes from now on begins anew.
                    *self.leader.lock() = None;
                    tell.send_replace(Some(outcome));
                    return connected;
                }
                Role::Follower(mut leader) => {
                    let outcome = leader.wait_for(Option::is_some).await;
                    match outcome.ok().and_then(|outcome| *outcome) {
                        Some(Outcome::Shared) => {
                            tokio::time::sleep(HANDING_OUT).await;
                            return Err(TransportError::new(FailureKind::NotProcessed));
                        }
                        Some(Outcome::Single) => return connect().await,
                        Some(Outcome::Failed(kind)) => return Err(TransportError::new(kind)),
                        // The leader left.
                        None => {}
                    }
                }
            }
        }
    }

    fn role(&self) -> Role {
        let mut current = self.leader.lock();
        // A leader that left has dropped its sender.
        if let Some(leader) = current
            .as_ref()
            .filter(|leader| leader.has_changed().is_ok())
        {
            return Role::Follower(leader.clone());
        }
        let (tell, leader) = watch::channel(None);
        *current = Some(leader);
        Role::Leader(tell)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{pending, ready};
    use std::task::Poll;

    use futures::poll;

    use super::*;

    type Connected = Result<bool, TransportError>;

    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_shared(connected: &bool) -> bool {
        *connected
    }

    #[tokio::test(start_paused = true)]
    async fn followers_share_the_failure_of_the_leader() {
        let gate = Gate::default();
        let connects = Cell::new(0);
        let connect = || {
            connects.set(connects.get() + 1);
            async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Connected::Err(TransportError::new(FailureKind::Refused))
            }
        };
        let calls = (0..5).map(|_| gate.pass(connect, is_shared));
        for failed in futures::future::join_all(calls).await {
            assert_eq!(failed.unwrap_err().kind(), FailureKind::Refused);
        }
        assert_eq!(connects.get(), 1);
        assert!(gate.pass(|| ready(Ok(true)), is_shared).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_one_connects_if_the_leader_leaves() {
        let gate = Gate::default();
        let mut leader = Box::pin(gate.pass(pending::<Connected>, is_shared));
        assert!(poll!(leader.as_mut()).is_pending());
        let mut follower = Box::pin(gate.pass(|| ready(Ok(true)), is_shared));
        assert!(poll!(follower.as_mut()).is_pending());
        drop(leader);
        assert!(matches!(poll!(follower.as_mut()), Poll::Ready(Ok(true))));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_where_connections_are_not_shared() {
        let gate = Gate::default();
        assert!(gate.pass(|| ready(Ok(false)), is_shared).await.is_ok());
        let mut slow = Box::pin(gate.pass(pending::<Connected>, is_shared));
        assert!(poll!(slow.as_mut()).is_pending());
        let mut other = Box::pin(gate.pass(|| ready(Ok(false)), is_shared));
        assert!(poll!(other.as_mut()).is_ready());
    }
}
