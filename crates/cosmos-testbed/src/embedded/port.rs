//! A loopback port that an endpoint keeps, whether it listens or not.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use azure_core::http::Url;
use rustls::ServerConfig;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use super::endpoint::Endpoint;

/// How many connects may wait to be accepted.
const BACKLOG: i32 = 1024;

/// An endpoint's port.
///
/// The reserved socket is bound and never listens. While nothing else listens, connects to the port
/// are refused, and the system gives the port to nobody else: not to another listener, and not to a
/// connecting client, which could then even connect to itself.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) endpoint: Endpoint,
    pub(crate) address: SocketAddr,
    /// What `Host` must be.
    pub(crate) authority: String,
    /// `http://127.0.0.1:PORT/`, or `https`.
    pub(crate) url: Url,
    /// How it speaks TLS, if it does.
    pub(crate) tls: Option<Arc<ServerConfig>>,
    _reserved: Option<Socket>,
}

impl Port {
    /// Takes a free loopback port.
    pub(crate) fn reserve(endpoint: Endpoint, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        let reserved = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = reserved
            .local_addr()?
            .as_socket()
            .ok_or_else(|| io::Error::other("a loopback socket without an address"))?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = Url::parse(&format!("{scheme}://{address}/")).map_err(io::Error::other)?;
        Ok(Self {
            endpoint,
            address,
            authority: address.to_string(),
            url,
            tls,
            // Elsewhere a bound socket keeps the port from its own listener, too, and the port is left
            // to luck while it is closed.
            _reserved: cfg!(target_os = "linux").then_some(reserved),
        })
    }

    /// Starts to listen. Stops when the listener is dropped.
    pub(crate) fn listen(&self) -> io::Result<TcpListener> {
        let socket = bind(self.address)?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        TcpListener::from_std(socket.into())
    }
}

/// Address reuse lets the reserved socket and a listener share the port, and lets a listener come
/// back while connections of its predecessor are still in their last wait.
fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}
