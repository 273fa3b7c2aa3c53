//! What a connection reads and writes.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::client::legacy::connect::{Connected, Connection};

use super::dial::Wire;

/// A connection's stream, TLS or not.
pub(super) struct Stream {
    pub(super) stream: MaybeHttpsStream<Wire>,
    /// HTTP/2 without a negotiation: the pool is told that there was one, because the version
    /// that it has for this purpose connects in a way that does not suit (see `gate`).
    pub(super) prior_knowledge: bool,
}

impl Stream {
    /// Whether the connection speaks HTTP/2, so that requests share it.
    pub(super) fn is_http2(&self) -> bool {
        self.connected().is_negotiated_h2()
    }

    fn inner(self: Pin<&mut Self>) -> Pin<&mut MaybeHttpsStream<Wire>> {
        Pin::new(&mut self.get_mut().stream)
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = self.stream.connected();
        if self.prior_knowledge {
            connected.negotiated_h2()
        } else {
            connected
        }
    }
}

impl Read for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        self.inner().poll_read(cx, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, buffer)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write_vectored(cx, buffers)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("http2", &self.is_http2())
            .finish_non_exhaustive()
    }
}
