//! An account that answers from memory, over HTTP/1.1 and HTTP/2.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use bytes::Bytes;
use cosmos_core::BoxError;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::json;
use tokio::net::TcpListener;

use crate::documents;
use crate::instant::answer_headers;

/// A document of 1 KiB.
const ITEM_BYTES: usize = 1024;

/// How many parts the path of an item has.
const ITEM_PARTS: usize = 6;

/// Everything that the server says.
struct Answers {
    account: Bytes,
    item: Bytes,
    headers: HeaderMap,
}

/// Serves an account of three regions on loopback until standard input ends. Prints the endpoint as
/// one JSON line.
///
/// # Errors
/// If no port can be had, or the output is closed.
pub async fn serve() -> Result<(), BoxError> {
    let mut listeners = Vec::new();
    for _ in 0..3 {
        listeners.push(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?);
    }
    let endpoints: Vec<String> = listeners
        .iter()
        .map(|listener| Ok(format!("http://{}/", listener.local_addr()?)))
        .collect::<io::Result<_>>()?;
    let answers = Arc::new(Answers {
        account: documents::account(&endpoints).into(),
        item: documents::padded_item(ITEM_BYTES).into(),
        headers: answer_headers(),
    });
    for listener in listeners {
        tokio::spawn(accept(listener, Arc::clone(&answers)));
    }
    println!("{}", json!({ "endpoint": endpoints[0] }));
    tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await??;
    Ok(())
}

async fn accept(listener: TcpListener, answers: Arc<Answers>) {
    while let Ok((stream, _)) = listener.accept().await {
        let answers = Arc::clone(&answers);
        tokio::spawn(async move {
            // Without it, small answers wait for acknowledgements; a client that is gone is no error.
            let _ = stream.set_nodelay(true);
            let service = service_fn(move |request| {
                let answers = Arc::clone(&answers);
                async move { Ok::<_, Infallible>(answers.to(request).await) }
            });
            let server = auto::Builder::new(TokioExecutor::new());
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl Answers {
    async fn to(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let unchanged = request.headers().contains_key(http::header::IF_NONE_MATCH);
        let (parts, body) = request.into_parts();
        // Read to the end, so that the connection can be used again.
        let _ = body.collect().await;
        let path = parts.uri.path();
        let depth = path.split('/').filter(|part| !part.is_empty()).count();
        let (status, body) = match depth {
            0 => (200, self.account.clone()),
            ITEM_PARTS => (200, self.item.clone()),
            _ => {
                let (status, text) = documents::metadata(path, unchanged);
                (status, text.into())
            }
        };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        if depth == ITEM_PARTS {
            *response.headers_mut() = self.headers.clone();
        } else {
            let etag = HeaderValue::from_static(documents::ETAG);
            response.headers_mut().insert(http::header::ETAG, etag);
        }
        response
    }
}
