//! A proxy on loopback that reads HTTP/2 frames, and tells clients to go away.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::{JoinHandle, JoinSet};

const PREFACE: usize = 24;
const HEAD: usize = 9;
const HEADERS: u8 = 1;
const GOAWAY: u8 = 7;

pub(super) const NO_ERROR: u32 = 0;
pub(super) const ENHANCE_YOUR_CALM: u32 = 11;

/// When a connection is told to go away, and what becomes of it then.
#[derive(Copy, Clone, Debug)]
pub(super) struct GoAway {
    /// How many requests it passes on; the next one it never sees.
    pub(super) after: usize,
    pub(super) code: u32,
    /// Whether it is reset at once, with requests on it that were passed on.
    pub(super) reset: bool,
}

/// The proxy. While it has a script, every new connection follows it.
pub(super) struct Frames {
    pub(super) target: SocketAddr,
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    script: Mutex<Option<GoAway>>,
    told: Mutex<Told>,
}

/// What the proxy has done.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// Connections that were told to go away.
    pub(super) connections: usize,
    /// Requests that were dropped, as the GOAWAY said.
    pub(super) dropped: usize,
}

impl Frames {
    pub(super) async fn before(target: SocketAddr, script: GoAway) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shared = Arc::<Shared>::default();
        *shared.script.lock() = Some(script);
        Self {
            target,
            address: listener.local_addr().unwrap(),
            task: tokio::spawn(serve(listener, target, Arc::clone(&shared))),
            shared,
        }
    }

    pub(super) fn heal(&self) {
        *self.shared.script.lock() = None;
    }

    pub(super) fn told(&self) -> Told {
        *self.shared.told.lock()
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, target: SocketAddr, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let script = *shared.script.lock();
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            if let Ok(server) = TcpStream::connect(target).await {
                pass_on(client, server, script, &shared).await;
            }
        });
    }
}

async fn pass_on(client: TcpStream, server: TcpStream, script: Option<GoAway>, shared: &Shared) {
    let _ = client.set_nodelay(true);
    let _ = server.set_nodelay(true);
    let (mut from_client, to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    // Whole frames at a time: both directions write to the client.
    let to_client = AsyncMutex::new(to_client);
    let streams = Mutex::new(Streams::default());
    let requests = Requests {
        to: &mut to_server,
        to_client: &to_client,
        streams: &streams,
    };
    let up = requests.pass_on(&mut from_client, script, shared);
    let down = down(&mut from_server, &to_client);
    // Until the client closes: whoever closes first may take a GOAWAY back that is not read yet.
    let _ = futures::future::try_join(up, down).await;
    drop((from_client, to_client));
    if script.is_some_and(|script| script.reset) {
        // The client does not hear of it, but what was passed on is done.
        while Frame::read(&mut from_server).await.is_ok() {}
    }
}

/// The requests of a connection.
#[derive(Debug, Default)]
struct Streams {
    passed_on: usize,
    last: u32,
    gone: bool,
}

struct Frame {
    bytes: Vec<u8>,
}

impl Frame {
    async fn read(from: &mut OwnedReadHalf) -> io::Result<Self> {
        let mut bytes = vec![0; HEAD];
        from.read_exact(&mut bytes).await?;
        let length = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]) as usize;
        bytes.resize(HEAD + length, 0);
        from.read_exact(&mut bytes[HEAD..]).await?;
        Ok(Self { bytes })
    }

    fn kind(&self) -> u8 {
        self.bytes[3]
    }

    fn stream(&self) -> u32 {
        u32::from_be_bytes([self.bytes[5], self.bytes[6], self.bytes[7], self.bytes[8]])
    }

    fn go_away(last: u32, code: u32) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, GOAWAY, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(&last.to_be_bytes());
        bytes.extend_from_slice(&code.to_be_bytes());
        bytes
    }
}

/// The way to the server.
struct Requests<'a> {
    to: &'a mut OwnedWriteHalf,
    to_client: &'a AsyncMutex<OwnedWriteHalf>,
    streams: &'a Mutex<Streams>,
}

impl Requests<'_> {
    /// Passes requests on until there were enough, then says so, and drops whatever comes after.
    async fn pass_on(
        self,
        from: &mut OwnedReadHalf,
        script: Option<GoAway>,
        shared: &Shared,
    ) -> io::Result<()> {
        let Self {
            to,
            to_client,
            streams,
        } = self;
        let mut preface = [0; PREFACE];
        from.read_exact(&mut preface).await?;
        to.write_all(&preface).await?;
        loop {
            let frame = Frame::read(from).await?;
            let new = frame.kind() == HEADERS && frame.stream() > streams.lock().last;
            if let Some(script) = script.filter(|_| new) {
                let (tell, last) = {
                    let mut streams = streams.lock();
                    let enough = streams.passed_on >= script.after;
                    let tell = enough && !streams.gone;
                    streams.gone |= enough;
                    (tell, streams.last)
                };
                if tell {
                    shared.told.lock().connections += 1;
                    let mut to_client = to_client.lock().await;
                    to_client
                        .write_all(&Frame::go_away(last, script.code))
                        .await?;
                    if script.reset {
                        let socket = SockRef::from(to_client.as_ref());
                        socket.set_linger(Some(Duration::ZERO))?;
                        return Err(io::ErrorKind::ConnectionReset.into());
                    }
                }
            }
            let drop_it = {
                let mut streams = streams.lock();
                if new && !streams.gone {
                    streams.passed_on += 1;
                    streams.last = frame.stream();
                }
                streams.gone && frame.stream() > streams.last
            };
            if drop_it {
                shared.told.lock().dropped += usize::from(new);
            } else {
                to.write_all(&frame.bytes).await?;
            }
        }
    }
}

async fn down(from: &mut OwnedReadHalf, to_client: &AsyncMutex<OwnedWriteHalf>) -> io::Result<()> {
    loop {
        let frame = Frame::read(from).await?;
        to_client.lock().await.write_all(&frame.bytes).await?;
    }
}
