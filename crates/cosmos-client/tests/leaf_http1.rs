//! Calls over HTTP/1.1 to servers on the loopback interface.

use bytes::Bytes;
use cosmos_client::Leaf;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tower::ServiceExt;

#[tokio::test]
async fn a_get_is_answered() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let service = hyper::service::service_fn(|request: http::Request<_>| async move {
            let _: hyper::body::Incoming = request.into_body();
            Ok::<_, std::convert::Infallible>(http::Response::new(Full::<Bytes>::from("hello")))
        });
        let _ = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(socket), service)
            .await;
    });
    let leaf = Leaf::builder().build().unwrap();
    let request = http::Request::get(format!("http://{address}/dbs"))
        .body(Full::<Bytes>::default())
        .unwrap();
    let answer = leaf.clone().oneshot(request).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(&body[..], b"hello");
    assert!(leaf.usage().iter().all(|shard| shard.in_flight == 0));
}
