//! A proxy on loopback that passes bytes on until a script says otherwise.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::{Either, select};
use http::Uri;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;
use tower::Service;

/// How a connection ends where its script says so.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With a reset.
    Reset,
    /// In an orderly way, with everything before it delivered.
    Close,
    /// Never: this direction stands still, and nobody is told.
    Silence,
}

/// What becomes of the bytes of one direction.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Way {
    /// How late they are.
    delay: Duration,
    /// After how many the connection ends, and how.
    ends: Option<(usize, End)>,
}

impl Way {
    pub(super) fn late(delay: Duration) -> Self {
        Self { delay, ends: None }
    }

    pub(super) fn ending(after: usize, how: End) -> Self {
        Self {
            delay: Duration::ZERO,
            ends: Some((after, how)),
        }
    }
}

/// What becomes of a connection.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Script {
    /// From the client.
    pub(super) up: Way,
    /// To the client.
    pub(super) down: Way,
}

/// A proxy in front of a loopback port. Every new connection has the script of the moment.
pub(super) struct Proxy {
    target: SocketAddr,
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
    // Bound, and listening to nobody.
    closed: TcpSocket,
}

#[derive(Default)]
struct Shared {
    script: Mutex<Script>,
    refuses: Mutex<bool>,
    connections: AtomicU64,
}

impl Proxy {
    /// A proxy that passes everything on.
    pub(super) async fn before(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let closed = TcpSocket::new_v4().unwrap();
        closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let shared = Arc::<Shared>::default();
        Self {
            target,
            address: listener.local_addr().unwrap(),
            task: tokio::spawn(serve(listener, target, Arc::clone(&shared))),
            shared,
            closed,
        }
    }

    /// What becomes of connections from now on.
    pub(super) fn follow(&self, script: Script) {
        *self.shared.script.lock() = script;
    }

    /// Whether connections are refused from now on.
    pub(super) fn refuse(&self, refuse: bool) {
        *self.shared.refuses.lock() = refuse;
    }

    pub(super) fn heal(&self) {
        self.refuse(false);
        self.follow(Script::default());
    }

    /// Opens connections through the proxy, where they would go to its target.
    pub(super) fn connector(self: &Arc<Self>) -> impl Connect {
        let this = Arc::clone(self);
        by_way_of(self.target, move || {
            if *this.shared.refuses.lock() {
                this.closed.local_addr().unwrap()
            } else {
                this.address
            }
        })
    }

    /// How many connections there were.
    pub(super) fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Opens connections to loopback ports, and in place of this one to the one that is told.
pub(super) fn by_way_of(
    target: SocketAddr,
    address: impl Fn() -> SocketAddr + Clone + Send + Sync + 'static,
) -> impl Connect {
    tower::service_fn(move |uri: Uri| {
        let port = uri.port_u16().expect("loopback ports");
        let to = if port == target.port() {
            address()
        } else {
            SocketAddr::from(([127, 0, 0, 1], port))
        };
        async move {
            let stream = TcpStream::connect(to).await?;
            stream.set_nodelay(true)?;
            Ok(TokioIo::new(stream))
        }
    })
}

/// What the leaf asks of a connector.
pub(super) trait Connect:
    Service<Uri, Response = TokioIo<TcpStream>, Error = io::Error, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<C> Connect for C where
    C: Service<Uri, Response = TokioIo<TcpStream>, Error = io::Error, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

async fn serve(listener: TcpListener, target: SocketAddr, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::Relaxed);
        let script = *shared.script.lock();
        connections.spawn(async move {
            // Whoever cannot reach the target closes.
            if let Ok(server) = TcpStream::connect(target).await {
                pass_on(client, server, script).await;
            }
        });
    }
}

async fn pass_on(client: TcpStream, server: TcpStream, script: Script) {
    let _ = client.set_nodelay(true);
    let _ = server.set_nodelay(true);
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let end = {
        let up = std::pin::pin!(carry(&mut from_client, &mut to_server, script.up));
        let down = std::pin::pin!(carry(&mut from_server, &mut to_client, script.down));
        match select(up, down).await {
            Either::Left((end, _)) | Either::Right((end, _)) => end,
        }
    };
    if end == End::Reset {
        // With no time to linger, closing the socket resets the connection.
        let _ = SockRef::from(to_client.as_ref()).set_linger(Some(Duration::ZERO));
    } else {
        let _ = to_client.shutdown().await;
        // A socket that is closed with bytes unread is reset: so they are read.
        let _ = tokio::io::copy(&mut from_client, &mut tokio::io::sink()).await;
    }
}

/// Carries one direction; returns how the connection is to end.
async fn carry(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf, way: Way) -> End {
    let (mut left, end) = way.ends.unwrap_or((usize::MAX, End::Close));
    let mut buffer = vec![0; 16 * 1024];
    while left > 0 {
        let room = buffer.len().min(left);
        let read = match from.read(&mut buffer[..room]).await {
            Ok(0) | Err(_) => return End::Close,
            Ok(read) => read,
        };
        if !way.delay.is_zero() {
            sleep(way.delay).await;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return End::Close;
        }
        left -= read;
    }
    if end == End::Silence {
        std::future::pending::<()>().await;
    }
    end
}
