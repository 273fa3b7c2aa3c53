//! The control endpoint: the account's switches as JSON over HTTP, for another process to drive.
//!
//! | Request | Does |
//! |---|---|
//! | `GET /account` | Endpoints, hub, regions, ranges whose writes moved |
//! | `GET /counts`, `DELETE /counts` | What every endpoint has read; back to zero |
//! | `GET /log`, `GET /violations`, `GET /executions` | The wire log, rejected requests, stored procedures executed |
//! | `GET /faults`, `POST /faults`, `DELETE /faults`, `DELETE /faults/ID` | Lists, sets (a [`FaultRule`](super::FaultRule)) and clears faults |
//! | `POST /moves` | Moves the account: `{"move": "fail_over", "region": "West US 3"}` |
//!
//! A fault or a move that the account rejects is answered 400 with `{"error": ...}`.

mod moves;
mod routes;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::state::State;

/// Serves the control endpoint for as long as the account exists, and tells its address.
pub(crate) async fn open(state: &Arc<State>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    state.spawn(accept(Arc::clone(state), listener, address));
    Ok(address)
}

async fn accept(state: Arc<State>, listener: TcpListener, address: SocketAddr) {
    let mut connections = JoinSet::new();
    let authority: Arc<str> = address.to_string().into();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let (state, authority) = (Arc::clone(&state), Arc::clone(&authority));
                    let service = service_fn(move |request| {
                        let (state, authority) = (Arc::clone(&state), Arc::clone(&authority));
                        async move {
                            Ok::<_, Infallible>(routes::answer(&state, &authority, request).await)
                        }
                    });
                    let serving = http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service);
                    connections.spawn(async move {
                        // How a connection ended is its peer's business.
                        let _ = serving.await;
                    });
                }
                Err(_) => tokio::time::sleep(super::listener::AGAIN).await,
            },
        }
    }
}
