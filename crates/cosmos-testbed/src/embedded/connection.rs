//! One connection: HTTP/1.1 or HTTP/2, closable from within a request.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::rt::{Executor, Read, Write};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use socket2::{SockRef, Socket};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::exchange;
use super::port::Port;
use super::state::State;

/// What a request may do to the connection that it came on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Close it with a TCP reset.
    Reset,
    /// Finish what is open, accept nothing more.
    ShutDown,
}

/// Serves one connection until either side closes it.
pub(crate) async fn serve(stream: TcpStream, port: Arc<Port>, state: Arc<State>) {
    // A second descriptor of the socket: the first one disappears inside hyper.
    let Ok(socket) = SockRef::from(&stream).try_clone() else {
        return;
    };
    // Failing to is slower, not wrong.
    let _ = socket.set_tcp_nodelay(true);
    match port.tls.clone() {
        None => exchange_all(TokioIo::new(stream), &socket, port, state).await,
        Some(tls) => {
            if let Ok(stream) = TlsAcceptor::from(tls).accept(stream).await {
                exchange_all(TokioIo::new(stream), &socket, port, state).await;
            }
        }
    }
}

async fn exchange_all<I>(stream: I, socket: &Socket, port: Arc<Port>, state: Arc<State>)
where
    I: Read + Write + Unpin + Send + 'static,
{
    let (orders, mut ordered) = mpsc::channel(8);
    let service = service_fn(move |request| {
        exchange::answer(
            Arc::clone(&state),
            Arc::clone(&port),
            orders.clone(),
            request,
        )
    });
    let mut builder = auto::Builder::new(Streams::default());
    // A connection that idles in a client's pool is closed when a test says so, not after a while.
    builder.http1().header_read_timeout(None);
    let mut connection = pin!(builder.serve_connection(stream, service));
    loop {
        tokio::select! {
            biased;
            Some(order) = ordered.recv() => match order {
                Order::ShutDown => connection.as_mut().graceful_shutdown(),
                Order::Reset => {
                    // With no time to linger, closing the last descriptor sends a reset. Dropping the
                    // connection and the second descriptor, both on return, closes them.
                    let _ = socket.set_linger(Some(Duration::ZERO));
                    return;
                }
            },
            // How a connection ended is its peer's business.
            _ = connection.as_mut() => return,
        }
    }
}

/// Runs a connection's HTTP/2 streams, and ends them with it.
#[derive(Clone, Debug, Default)]
struct Streams(Arc<Mutex<JoinSet<()>>>);

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
{
    fn execute(&self, future: F) {
        let mut streams = self.0.lock();
        while streams.try_join_next().is_some() {}
        streams.spawn(async move {
            future.await;
        });
    }
}
