//! The leaf's connections over the simulated network.

use std::collections::BTreeSet;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tower::Service;
use turmoil::net::TcpStream;

/// How long TCP waits before it asks for a connection again.
const AGAIN: Duration = Duration::from_secs(1);

/// The hosts that cannot be reached now, or cannot answer.
pub(crate) type Cut = Arc<Mutex<BTreeSet<String>>>;

/// Opens simulated connections.
///
/// A request for a connection that is lost is an error at once in the simulation; on a real network
/// nobody hears of it, and it is sent again. So it is here.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) cut: Cut,
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Socket>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let cut = Arc::clone(&self.cut);
        Box::pin(async move {
            let host = uri.host().unwrap_or_default();
            let port = uri.port_u16().unwrap_or(80);
            loop {
                if !cut.lock().contains(host) {
                    match TcpStream::connect((host, port)).await {
                        Ok(stream) => return Ok(TokioIo::new(Socket(stream))),
                        // Not refused but lost on the way.
                        Err(_) if cut.lock().contains(host) => {}
                        Err(error) => return Err(error),
                    }
                }
                tokio::time::sleep(AGAIN).await;
            }
        })
    }
}

/// A simulated socket that hyper's client can use.
pub(crate) struct Socket(TcpStream);

impl Connection for Socket {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buffer)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, buffers)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
