//! What is nothing of ours passes untouched; what we cannot send is a typed error.

use bytes::Bytes;
use cosmos_core::{FailureKind, Journal, OperationOptions};
use cosmos_testbed::scripted::Document;
use cosmos_tests::{Req, Res, account, boxed, read, recommended, send, with};
use http::{Request, Response, Uri, Version};
use http_body_util::Full;
use tower::{Layer, ServiceExt, service_fn};

use crate::kinds::{Kind, alone, known_regions};

/// A stack whose leaf says what reached it, in its answer's extensions.
fn echo() -> cosmos_tests::Stack {
    boxed(service_fn(|request: Req| async move {
        let (parts, _) = request.into_parts();
        let mut response = Response::new(Full::new(Bytes::from_static(b"echo")));
        *response.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
        response
            .extensions_mut()
            .insert(Echo(parts.uri, parts.headers));
        Ok::<Res, std::convert::Infallible>(response)
    }))
}

#[derive(Clone)]
struct Echo(Uri, http::HeaderMap);

#[tokio::test(start_paused = true)]
async fn a_request_that_is_nothing_of_cosmos_passes_untouched_and_unsigned() {
    for kind in Kind::ALL {
        let regions = known_regions(Document::multi_write(["A"]));
        let account = account(&regions, |account| account);
        let stack = alone(kind, &account, echo());
        for uri in [
            "/health",
            "http://elsewhere.test/a?b=%2f",
            "/Dbs/d",
            "/dbs/d/what/x",
        ] {
            let request = Request::builder().uri(uri).header("x-own", "1");
            let request = request.body(Full::default()).unwrap();
            let response = stack.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), 503);
            let Echo(seen, headers) = response.extensions().get().unwrap();
            assert_eq!(*seen, uri, "{kind:?}");
            assert_eq!(headers.len(), 1, "{kind:?}: {headers:?}");
            assert!(response.extensions().get::<Journal>().is_none());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_for_a_foreign_host_passes_untouched_and_unsigned() {
    let regions = known_regions(Document::multi_write(["A"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let stack = boxed(recommended(&account).layer(echo()));
    let uri = "https://elsewhere.test/dbs/d/colls/c/docs/1";
    let request = Request::builder().uri(uri).body(Full::default()).unwrap();
    let response = stack.oneshot(request).await.unwrap();
    assert_eq!(response.status(), 503, "not retried");
    let Echo(seen, headers) = response.extensions().get().unwrap();
    assert_eq!(*seen, uri);
    assert!(headers.is_empty(), "{headers:?}");
    assert!(response.extensions().get::<Journal>().is_none());
}

#[tokio::test(start_paused = true)]
async fn an_absolute_uri_of_the_account_is_routed_like_a_path() {
    let lab = cosmos_tests::Lab::new(Document::multi_write(["A", "B"]));
    lab.account.refresh().await;
    let mut request = read();
    *request.uri_mut() = "https://scripted-b.test/dbs/d/colls/c/docs/1"
        .parse()
        .unwrap();
    assert_eq!(lab.send(request).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A");
}

#[tokio::test(start_paused = true)]
async fn odd_requests_never_panic() {
    let lab = cosmos_tests::Lab::new(Document::multi_write(["A"]));
    for (method, uri) in [
        ("CONNECT", "scripted.test:443"),
        ("OPTIONS", "*"),
        ("GET", "/"),
        ("POST", "/"),
        ("BREW", "/dbs/d/colls/c/docs/1"),
        ("GET", "/dbs//colls//docs/"),
        ("GET", "/dbs/%ff/colls/%00/docs/%2F"),
        ("DELETE", "//"),
    ] {
        for version in [Version::HTTP_09, Version::HTTP_11, Version::HTTP_2] {
            let request = Request::builder().method(method).uri(uri).version(version);
            let request = request.body(Full::default()).unwrap();
            let _ = lab.send(request.clone()).await;
            let _ = lab.stack.clone().oneshot(request).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn options_send_a_request_that_no_rule_knows_to_the_account() {
    let lab = cosmos_tests::Lab::new(Document::multi_write(["A", "B"]));
    let request = Request::builder()
        .uri("/new/thing")
        .body(Full::default())
        .unwrap();
    let seen = lab.send(with(request, OperationOptions::new())).await;
    assert_eq!(seen.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A");
}

#[tokio::test(start_paused = true)]
async fn path_and_query_keep_their_bytes() {
    let lab = cosmos_tests::Lab::new(Document::multi_write(["A"]));
    let path = "/dbs/d/colls/c%20d/docs/Item@1%E6%97%A5?x=%2f&y";
    let request = Request::builder().uri(path).body(Full::default()).unwrap();
    assert_eq!(lab.send(request).await.status().code(), 200);
    assert_eq!(lab.wire().0[0].path, path);
}

#[tokio::test(start_paused = true)]
async fn headers_that_the_caller_set_stay() {
    let lab = cosmos_tests::Lab::new(Document::multi_write(["A"]));
    let mut request = read();
    let own = [
        ("x-ms-version", "2018-12-31"),
        ("x-ms-activity-id", "mine"),
        ("user-agent", "app"),
        ("x-ms-session-token", "0:1#2"),
    ];
    for (name, value) in own {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    assert_eq!(lab.send(request).await.status().code(), 200);
    for (name, value) in own {
        assert_eq!(lab.wire().0[0].header(name), value);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_body_above_the_limit_is_a_typed_error_and_nothing_is_sent() {
    let regions = known_regions(Document::multi_write(["A"]));
    let account = account(&regions, |account| account);
    let inner = recommended(&account).layer(regions.clone());
    let stack = tower_cosmos::BufferRequestLayer::new()
        .limit(10)
        .layer(inner);
    let mut request = cosmos_tests::create();
    *request.body_mut() = Full::new(Bytes::from_static(b"0123456789ab"));
    let seen = send(&boxed(stack.clone()), request.clone()).await;
    assert_eq!(seen.error().kind(), FailureKind::RequestBody);
    assert!(regions.wire().is_empty());
    *request.body_mut() = Full::new(Bytes::from_static(b"0123456789"));
    assert_eq!(send(&boxed(stack), request).await.status().code(), 201);
}

#[tokio::test(start_paused = true)]
async fn a_response_body_above_the_limit_is_a_typed_error() {
    let regions = known_regions(Document::multi_write(["A", "B"]));
    let account = account(&regions, |account| account);
    let stack = boxed(
        recommended(&account)
            .buffer(|layer| layer.limit(10))
            .layer(regions.clone()),
    );
    let step = cosmos_testbed::scripted::Step::status(200, 0).body("0123456789ab");
    regions.script("A", [step]);
    assert_eq!(
        send(&stack, read()).await.error().kind(),
        FailureKind::BodyTooLarge
    );
    assert_eq!(regions.wire().regions(), "A");
}
