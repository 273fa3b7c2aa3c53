//! Accepts an endpoint's connections, and refuses them when it must.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::connection;
use super::port::Port;
use super::state::State;

/// How soon to try again when the system cannot accept or listen just now.
pub(crate) const AGAIN: Duration = Duration::from_millis(10);

/// One endpoint, being served.
#[derive(Debug)]
pub(crate) struct Serving {
    pub(crate) state: Arc<State>,
    pub(crate) port: Arc<Port>,
    /// Tells that something changed which may open or close the port.
    pub(crate) changes: watch::Receiver<u64>,
    /// Tells which change has been applied.
    pub(crate) applied: watch::Sender<u64>,
}

impl Serving {
    /// Serves until the task is aborted, and every connection with it.
    pub(crate) async fn run(mut self, listener: TcpListener) {
        let mut listener = Some(listener);
        let mut connections = JoinSet::new();
        loop {
            let change = *self.changes.borrow_and_update();
            let closed = self.state.closed(&self.port.endpoint);
            let mut wake = closed.flatten();
            if closed.is_some() {
                listener = None;
                connections.shutdown().await;
            } else if listener.is_none() {
                listener = self.port.listen().ok();
                if listener.is_none() {
                    wake = Some(super::clock::monotonic() + AGAIN);
                }
            }
            // Not applied until it listens: whoever waits for the port may connect at once.
            if closed.is_some() || listener.is_some() {
                self.applied.send_replace(change);
            }
            self.accept_until_change(listener.as_ref(), wake, &mut connections)
                .await;
        }
    }

    async fn accept_until_change(
        &mut self,
        listener: Option<&TcpListener>,
        wake: Option<Instant>,
        connections: &mut JoinSet<()>,
    ) {
        loop {
            tokio::select! {
                biased;
                changed = self.changes.changed() => {
                    if changed.is_err() {
                        // Only a dropped account has no gates, and it aborts this task.
                        std::future::pending::<()>().await;
                    }
                    return;
                }
                () = until(wake) => return,
                Some(_) = connections.join_next() => {}
                accepted = accept(listener) => match accepted {
                    Ok(stream) => {
                        self.state.seen.accepted(&self.port.endpoint);
                        let state = Arc::clone(&self.state);
                        let port = Arc::clone(&self.port);
                        connections.spawn(connection::serve(stream, port, state));
                    }
                    // Out of descriptors, most likely: leave the others time to end.
                    Err(_) => tokio::time::sleep(AGAIN).await,
                },
            }
        }
    }
}

async fn until(wake: Option<Instant>) {
    match wake {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

async fn accept(listener: Option<&TcpListener>) -> io::Result<TcpStream> {
    match listener {
        Some(listener) => listener.accept().await.map(|(stream, _)| stream),
        None => std::future::pending().await,
    }
}
