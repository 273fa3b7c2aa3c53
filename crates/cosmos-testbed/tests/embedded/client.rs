//! A client that signs its requests and hides nothing: no pool, no retries, one connection at a time.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use cosmos_testbed::EmbeddedAccount;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use sha2::Sha256;
use tokio::net::TcpStream;

/// Everything here is over within this time, or it is a failure.
pub(crate) const BOUND: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

pub(crate) const BOTH: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

/// An open connection.
pub(crate) enum Connection {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn code(&self) -> (u16, u32) {
        let substatus = self.headers.get("x-ms-substatus");
        let substatus = substatus.map_or(0, |value| value.to_str().unwrap().parse().unwrap());
        (self.status.as_u16(), substatus)
    }
}

/// `http://127.0.0.1:PORT/` without what is not the address.
pub(crate) fn address(endpoint: &str) -> &str {
    endpoint.trim_start_matches("http://").trim_end_matches('/')
}

impl Connection {
    pub(crate) async fn open(endpoint: &str, protocol: Protocol) -> std::io::Result<Self> {
        let other = std::io::Error::other;
        let io = TokioIo::new(TcpStream::connect(address(endpoint)).await?);
        Ok(match protocol {
            Protocol::Http1 => {
                let (send, connection) = http1::handshake(io).await.map_err(other)?;
                tokio::spawn(connection);
                Self::Http1(send)
            }
            Protocol::Http2 => {
                let executor = TokioExecutor::new();
                let (send, connection) = http2::handshake(executor, io).await.map_err(other)?;
                tokio::spawn(connection);
                Self::Http2(send)
            }
        })
    }

    /// Another way to send on the same connection.
    pub(crate) fn shared(&self) -> Self {
        match self {
            Self::Http1(_) => panic!("HTTP/1.1 carries one request at a time"),
            Self::Http2(send) => Self::Http2(send.clone()),
        }
    }

    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Reply> {
        let sending = async {
            let response = match self {
                Self::Http1(send) => send.send_request(request).await?,
                Self::Http2(send) => send.send_request(request).await?,
            };
            let (head, body) = response.into_parts();
            Ok(Reply {
                status: head.status,
                headers: head.headers,
                body: body.collect().await?.to_bytes(),
            })
        };
        tokio::time::timeout(BOUND, sending)
            .await
            .expect("no answer in time")
    }

    /// Resolves once the server has closed the connection.
    pub(crate) async fn closed(&mut self) {
        let closed = async {
            loop {
                let open = match self {
                    Self::Http1(send) => send.ready().await.is_ok() && !send.is_closed(),
                    Self::Http2(send) => send.ready().await.is_ok() && !send.is_closed(),
                };
                if !open {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(BOUND, closed)
            .await
            .expect("the connection stays open");
    }
}

/// What to ask for; signed when it is turned into a request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: Method,
    path: String,
    kind: String,
    link: String,
    headers: Vec<(String, String)>,
    body: Bytes,
}

impl Ask {
    pub(crate) fn new(method: Method, path: &str, kind: &str, link: &str) -> Self {
        Self {
            method,
            path: path.to_owned(),
            kind: kind.to_owned(),
            link: link.to_owned(),
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }

    pub(crate) fn account() -> Self {
        Self::new(Method::GET, "/", "", "")
    }

    pub(crate) fn item(method: Method, id: &str, partition_key: &str) -> Self {
        let link = format!("dbs/shop/colls/orders/docs/{id}");
        Self::new(method, &format!("/{link}"), "docs", &link).partition_key(partition_key)
    }

    pub(crate) fn read(id: &str, partition_key: &str) -> Self {
        Self::item(Method::GET, id, partition_key)
    }

    pub(crate) fn create(id: &str, partition_key: &str) -> Self {
        let container = "dbs/shop/colls/orders";
        let key: Value = serde_json::from_str(partition_key).unwrap();
        let item = serde_json::json!({ "id": id, "pk": key[0], "text": "x".repeat(200) });
        Self::new(
            Method::POST,
            &format!("/{container}/docs"),
            "docs",
            container,
        )
        .partition_key(partition_key)
        .body(item.to_string())
    }

    pub(crate) fn partition_key(self, header: &str) -> Self {
        self.header("x-ms-documentdb-partitionkey", header)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Signs the request for an endpoint.
    pub(crate) fn sign(
        &self,
        endpoint: &str,
        protocol: Protocol,
        key: &str,
    ) -> Request<Full<Bytes>> {
        #[expect(clippy::disallowed_methods, reason = "the server has the same clock")]
        let date = httpdate::fmt_http_date(std::time::SystemTime::now());
        let (verb, kind, link) = (self.method.as_str(), &self.kind, &self.link);
        let verb = verb.to_ascii_lowercase();
        let text = format!("{verb}\n{kind}\n{link}\n{}\n\n", date.to_ascii_lowercase());
        let mut mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(key).unwrap()).unwrap();
        mac.update(text.as_bytes());
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        let token = format!("type=master&ver=1.0&sig={signature}");
        let token = utf8_percent_encode(&token, NON_ALPHANUMERIC).to_string();
        let address = address(endpoint);
        let mut request = Request::builder()
            .method(self.method.clone())
            .header("authorization", token)
            .header("x-ms-date", date)
            .header("x-ms-version", "2020-07-15");
        request = match protocol {
            Protocol::Http1 => request.uri(&self.path).header("host", address),
            Protocol::Http2 => request.uri(format!("http://{address}{}", self.path)),
        };
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(Full::new(self.body.clone())).unwrap()
    }

    /// Sends the request on a connection of its own.
    pub(crate) async fn to(&self, account: &EmbeddedAccount, endpoint: &str) -> Reply {
        self.try_to(account, endpoint, Protocol::Http1)
            .await
            .expect("an answer")
    }

    pub(crate) async fn try_to(
        &self,
        account: &EmbeddedAccount,
        endpoint: &str,
        protocol: Protocol,
    ) -> hyper::Result<Reply> {
        let mut connection = Connection::open(endpoint, protocol)
            .await
            .expect("a connect");
        connection
            .send(self.sign(endpoint, protocol, account.key()))
            .await
    }
}

pub(crate) const EAST: &str = "East US";
pub(crate) const WEST: &str = "West US 3";
pub(crate) const NORTH: &str = "North Europe";

pub(crate) fn builder() -> cosmos_testbed::embedded::EmbeddedAccountBuilder {
    EmbeddedAccount::builder()
        .regions([EAST, WEST, NORTH])
        .container("shop", "orders", "/pk", 2)
}

pub(crate) async fn start() -> EmbeddedAccount {
    builder().start().await.unwrap()
}

/// The endpoint of a region.
pub(crate) fn at(account: &EmbeddedAccount, region: &str) -> String {
    account.region_endpoint(region).unwrap()
}
