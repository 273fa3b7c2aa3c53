//! Servers whose every connection does what a test says.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

/// What a server saw.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Requests that were read to their end.
    pub(crate) hits: AtomicUsize,
    /// Connections that were accepted.
    pub(crate) connections: AtomicUsize,
    /// Connections that are still served.
    pub(crate) open: AtomicUsize,
    changed: Notify,
}

impl Counts {
    pub(crate) fn hit(&self) {
        self.hits.fetch_add(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// Waits until the condition holds; it is tested after every hit and every connection's end.
    pub(crate) async fn until(&self, condition: impl Fn(&Self) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if condition(self) {
                return;
            }
            changed.await;
        }
    }
}

/// A listening server; it ends with everything it serves when dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) counts: Arc<Counts>,
    task: JoinHandle<()>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Peer {
    /// Serves connection after connection with `serve`, which is given the connection's number.
    pub(crate) async fn raw<F, S>(serve: F) -> Self
    where
        F: Fn(usize, TcpStream, Arc<Counts>) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        Self::raw_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), serve)
    }

    /// Like `raw`, on a listener of the test's.
    pub(crate) fn raw_on<F, S>(listener: TcpListener, serve: F) -> Self
    where
        F: Fn(usize, TcpStream, Arc<Counts>) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let address = listener.local_addr().unwrap();
        let counts = Arc::new(Counts::default());
        let counting = Arc::clone(&counts);
        let task = tokio::spawn(async move {
            let mut served = JoinSet::new();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                socket.set_nodelay(true).unwrap();
                let counts = Arc::clone(&counting);
                let number = counts.connections.fetch_add(1, Ordering::SeqCst);
                counts.open.fetch_add(1, Ordering::SeqCst);
                let serving = serve(number, socket, Arc::clone(&counts));
                served.spawn(async move {
                    serving.await;
                    counts.open.fetch_sub(1, Ordering::SeqCst);
                    counts.changed.notify_waiters();
                });
            }
        });
        Self {
            address,
            counts,
            task,
        }
    }

    /// A hyper server; `answer` is given the connection's number.
    pub(crate) async fn hyper<F, S>(http2: bool, answer: F) -> Self
    where
        F: Fn(usize, Request<Incoming>) -> S + Clone + Send + Sync + 'static,
        S: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        Self::hyper_on(
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            http2,
            answer,
        )
    }

    /// Like `hyper`, on a listener of the test's.
    pub(crate) fn hyper_on<F, S>(listener: TcpListener, http2: bool, answer: F) -> Self
    where
        F: Fn(usize, Request<Incoming>) -> S + Clone + Send + Sync + 'static,
        S: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        Self::raw_on(listener, move |number, socket, counts| {
            let answer = answer.clone();
            async move {
                let service = service_fn(move |request| {
                    counts.hit();
                    let answer = answer(number, request);
                    async move { Ok::<_, Infallible>(answer.await) }
                });
                let io = TokioIo::new(socket);
                let _ = if http2 {
                    hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                        .serve_connection(io, service)
                        .await
                } else {
                    hyper::server::conn::http1::Builder::new()
                        .serve_connection(io, service)
                        .await
                };
            }
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/dbs", self.address)
    }

    pub(crate) fn https(&self) -> String {
        format!("https://localhost:{}/dbs", self.address.port())
    }

    pub(crate) fn hits(&self) -> usize {
        self.counts.hits.load(Ordering::SeqCst)
    }

    pub(crate) fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }
}

/// Reads one HTTP/1.1 request with its body; `None` at the connection's end.
pub(crate) async fn read_request(socket: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = socket
            .read(&mut buffer)
            .await
            .ok()
            .filter(|read| *read > 0)?;
        text.extend_from_slice(&buffer[..read]);
        let so_far = String::from_utf8_lossy(&text).to_lowercase();
        let Some(head) = so_far.find("\r\n\r\n") else {
            continue;
        };
        let length = so_far
            .split_once("content-length: ")
            .map_or(0, |(_, rest)| {
                let digits = rest.split("\r\n").next().unwrap();
                digits.parse::<usize>().unwrap()
            });
        if text.len() >= head + 4 + length {
            return Some(so_far);
        }
    }
}

pub(crate) async fn write(socket: &mut TcpStream, text: &str) {
    let _ = socket.write_all(text.as_bytes()).await;
}

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// Ends a connection with a reset in place of an orderly close.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn reset(socket: TcpStream) {
    let linger = Some(std::time::Duration::ZERO);
    socket2::SockRef::from(&socket).set_linger(linger).unwrap();
}

/// A bell that is heard through the operating system: whatever was sent or closed before it was
/// rung has arrived when it is heard.
#[derive(Debug)]
pub(crate) struct Bell {
    rope: TcpStream,
    ear: TcpStream,
}

impl Bell {
    pub(crate) async fn hang() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let rope = TcpStream::connect(listener.local_addr().unwrap());
        let (rope, ear) = tokio::join!(rope, listener.accept());
        let rope = rope.unwrap();
        rope.set_nodelay(true).unwrap();
        Self {
            rope,
            ear: ear.unwrap().0,
        }
    }

    pub(crate) async fn ring_and_hear(&mut self) {
        self.rope.write_all(b"!").await.unwrap();
        self.ear.read_exact(&mut [0]).await.unwrap();
    }
}
