//! Servers for what the embedded account does not do: other documents, and ports that misbehave.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use cosmos_tests::ms;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// A server on a loopback port. Dropping it ends it.
pub(crate) struct Loopback {
    address: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicU64,
    paths: Mutex<Vec<String>>,
}

impl Loopback {
    /// Answers every request by a function of its path.
    pub(crate) async fn answering(
        answer: impl Fn(&str) -> Response<Bytes> + Clone + Send + Sync + 'static,
    ) -> Self {
        let (listener, address) = listen().await;
        let seen = Arc::<Seen>::default();
        let shared = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                let (shared, answer) = (Arc::clone(&shared), answer.clone());
                connections.spawn(async move {
                    let service = service_fn(|request: Request<Incoming>| {
                        let path = request.uri().path().to_owned();
                        let reply = answer(&path).map(Full::new);
                        shared.paths.lock().push(path);
                        async move { Ok::<_, Infallible>(reply) }
                    });
                    // How a connection ends is its peer's business.
                    let _ = auto::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self {
            address,
            seen,
            task,
        }
    }

    /// Accepts connections and closes them at once.
    pub(crate) async fn closing() -> Self {
        let (listener, address) = listen().await;
        let seen = Arc::<Seen>::default();
        let shared = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                drop(stream);
            }
        });
        Self {
            address,
            seen,
            task,
        }
    }

    /// Drops whatever asks for a connection: nobody accepts, and the queue is full.
    pub(crate) async fn black_hole() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queued = Vec::new();
        while let Ok(stream) = timeout(ms(50), TcpStream::connect(address)).await {
            queued.push(stream.unwrap());
        }
        let task = tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop((listener, queued));
        });
        let seen = Arc::default();
        Self {
            address,
            seen,
            task,
        }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.seen.connections.load(Ordering::Relaxed)
    }

    /// How many reads of the account document have arrived.
    pub(crate) fn account_reads(&self) -> usize {
        self.seen
            .paths
            .lock()
            .iter()
            .filter(|path| *path == "/")
            .count()
    }

    /// How many requests for anything but the account document have arrived.
    pub(crate) fn requests(&self) -> usize {
        self.seen
            .paths
            .lock()
            .iter()
            .filter(|path| *path != "/")
            .count()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An account document of one writer, the first region.
pub(crate) fn document(regions: &[(&str, &str)]) -> Bytes {
    let locations: Vec<_> = regions
        .iter()
        .map(|(name, endpoint)| {
            serde_json::json!({ "name": name, "databaseAccountEndpoint": endpoint })
        })
        .collect();
    let document = serde_json::json!({
        "id": "acct", "_rid": "acct", "_self": "",
        "writableLocations": [locations[0]],
        "readableLocations": locations,
        "enableMultipleWriteLocations": false,
    });
    document.to_string().into()
}
