//! What every listener, switch and move of one account shares.

use std::future::Future;
use std::io;
use std::sync::Arc;

use azure_core::http::Url;
use parking_lot::{Mutex, RwLock};
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::clock;
use super::deviations::{LaggingSessions, ReassignedRanges};
use super::endpoint::Endpoint;
use super::engine::Engine;
use super::faults::FaultTable;
use super::listener;
use super::observations::Observations;
use super::port::Port;
use super::procedures::Procedures;

/// One account.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) account_id: String,
    /// The account key, decoded.
    pub(crate) key: SecretKey,
    pub(crate) engine: Engine,
    pub(crate) faults: FaultTable,
    pub(crate) seen: Observations,
    pub(crate) procedures: Procedures,
    pub(crate) moved: ReassignedRanges,
    pub(crate) sessions: LaggingSessions,
    ports: RwLock<Vec<Running>>,
    /// Every listener. `None` once the account is gone.
    tasks: Mutex<Option<JoinSet<()>>>,
    /// Counts the changes that may open or close a port.
    gates: watch::Sender<u64>,
}

/// Keeps the key out of debug output.
pub(crate) struct SecretKey(pub(crate) Vec<u8>);

#[derive(Debug)]
struct Running {
    port: Arc<Port>,
    /// The last change of the gates that the listener has applied.
    applied: watch::Receiver<u64>,
}

impl State {
    pub(crate) fn new(account_id: String, key: Vec<u8>, engine: Engine, seed: u64) -> Arc<Self> {
        Arc::new(Self {
            account_id,
            key: SecretKey(key),
            engine,
            faults: FaultTable::new(seed),
            seen: Observations::default(),
            procedures: Procedures::default(),
            moved: ReassignedRanges::default(),
            sessions: LaggingSessions::default(),
            ports: RwLock::default(),
            tasks: Mutex::new(Some(JoinSet::new())),
            gates: watch::Sender::new(0),
        })
    }

    /// Serves an endpoint until the account is gone.
    pub(crate) fn open(self: &Arc<Self>, port: Port, listener: TcpListener) -> Arc<Port> {
        let port = Arc::new(port);
        let (applied, receiver) = watch::channel(*self.gates.borrow());
        let changes = self.gates.subscribe();
        self.ports.write().push(Running {
            port: Arc::clone(&port),
            applied: receiver,
        });
        let serving = listener::Serving {
            state: Arc::clone(self),
            port: Arc::clone(&port),
            changes,
            applied,
        };
        self.spawn(serving.run(listener));
        port
    }

    /// Runs something for as long as the account exists.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(tasks) = &mut *self.tasks.lock() {
            tasks.spawn(task);
        }
    }

    /// Ends every listener and with it every connection.
    pub(crate) fn shut_down(&self) {
        drop(self.tasks.lock().take());
    }

    /// Waits until every listener is open or closed as it should be by now.
    pub(crate) async fn settle(&self) {
        let mut version = 0;
        self.gates.send_modify(|gates| {
            *gates += 1;
            version = *gates;
        });
        let listeners: Vec<_> = {
            let ports = self.ports.read();
            ports
                .iter()
                .map(|running| running.applied.clone())
                .collect()
        };
        for mut applied in listeners {
            // An error is a listener that is gone, along with its account: nothing to wait for.
            let _ = applied.wait_for(|applied| *applied >= version).await;
        }
    }

    /// Until when the endpoint must not listen: `Some(None)` is until further notice.
    #[expect(
        clippy::option_option,
        reason = "closed, and until when, are two questions"
    )]
    pub(crate) fn closed(&self, endpoint: &Endpoint) -> Option<Option<Instant>> {
        // The service withdraws the DNS record of a region that was taken offline. Loopback has no
        // names to withdraw; a refused connect is the nearest failure before anything is sent.
        if let Some(name) = endpoint.region_name() {
            let topology = self.engine.store().config().topology_snapshot();
            if topology.offline.contains(name) {
                return Some(None);
            }
        }
        self.faults.refuses(endpoint, clock::monotonic())
    }

    pub(crate) fn port(&self, endpoint: &Endpoint) -> Option<Arc<Port>> {
        let ports = self.ports.read();
        let running = ports
            .iter()
            .find(|running| running.port.endpoint == *endpoint)?;
        Some(Arc::clone(&running.port))
    }

    pub(crate) fn ports(&self) -> Vec<Arc<Port>> {
        let ports = self.ports.read();
        ports
            .iter()
            .map(|running| Arc::clone(&running.port))
            .collect()
    }

    pub(crate) fn knows_region(&self, name: &str) -> bool {
        self.port(&Endpoint::region(name)).is_some()
    }

    /// The URL under which the emulator knows the region behind an endpoint.
    pub(crate) fn region_url(&self, port: &Port) -> Url {
        match port.endpoint {
            Endpoint::Region(_) => port.url.clone(),
            // The service's global name resolves to the hub.
            Endpoint::Global => self.engine.hub_url().unwrap_or_else(|| port.url.clone()),
        }
    }

    /// The region that answers at an endpoint.
    pub(crate) fn region_at(&self, endpoint: &Endpoint) -> String {
        match endpoint {
            Endpoint::Region(name) => name.to_string(),
            Endpoint::Global => self.engine.hub(),
        }
    }

    /// A port of a region that the account may or may not have had before, listening.
    pub(crate) fn listen(
        endpoint: Endpoint,
        tls: Option<Arc<ServerConfig>>,
    ) -> io::Result<(Port, TcpListener)> {
        let port = Port::reserve(endpoint, tls)?;
        let listener = port.listen()?;
        Ok((port, listener))
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("..")
    }
}
