//! Requests that are odd or not ours: nothing panics, and what is not ours passes as it is.

use cosmos_core::{FailureKind, OperationOptions, headers};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{Lab, Req, Res, account, boxed, read, recommended, s, with};
use http::{HeaderName, HeaderValue, Method, Request, Uri, Version};
use http_body_util::Full;
use tower::{Layer, ServiceExt};

const URIS: [&str; 14] = [
    "*",
    "/",
    "//",
    "/dbs",
    "/dbs/",
    "/dbs//colls",
    "/dbs/a/colls/b/docs/c?x=%2F#f",
    "/dbs/%00/colls/%ff/docs/%",
    "/health",
    "scripted.test:443",
    "scripted-a.test",
    "http://scripted-a.test/dbs",
    "https://user:password@scripted-a.test/dbs",
    "https://[::1]:8081/dbs",
];

const METHODS: [&str; 8] = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "BREW",
];

fn odd(method: &str, uri: &str, version: Version) -> Req {
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
    *request.uri_mut() = uri.parse::<Uri>().unwrap();
    *request.version_mut() = version;
    request
}

#[tokio::test(start_paused = true)]
async fn odd_requests_end_and_what_is_not_ours_is_not_touched() {
    let regions = ScriptedAccount::new(Document::single_write(["A", "B"]));
    let account = account(&regions, |account| account);
    account.refresh().await;
    let leaf = tower::service_fn(|request: Req| async move {
        let mut response = Res::default();
        *response.headers_mut() = request.headers().clone();
        response.extensions_mut().insert(request.uri().clone());
        Ok::<_, cosmos_core::BoxError>(response)
    });
    let stack = boxed(recommended(&account).timeout(s(5)).layer(leaf));
    for uri in URIS {
        for method in METHODS {
            for version in [
                Version::HTTP_09,
                Version::HTTP_10,
                Version::HTTP_2,
                Version::HTTP_3,
            ] {
                for meant in [false, true] {
                    let mut request = odd(method, uri, version);
                    if meant {
                        request = with(request, OperationOptions::new());
                    }
                    let before = request.uri().clone();
                    let seen = stack.clone().oneshot(request).await.unwrap();
                    let uri: &Uri = seen.extensions().get().unwrap();
                    let host = uri.host().unwrap_or_default();
                    let signed = seen.headers().contains_key(headers::AUTHORIZATION);
                    let ours = host.starts_with("scripted-") && uri.scheme_str() == Some("https");
                    let ours = ours || host == "scripted.test" && signed;
                    assert!(ours || !signed, "{method} {before} was signed for {uri}");
                    if !signed {
                        assert_eq!(*uri, before, "{method}");
                        assert!(seen.headers().is_empty(), "{method} {before}");
                    }
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn odd_headers_of_answers_are_read_as_nothing() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.account.refresh().await;
    for text in ["", " ", "-1", "1e309", "4294967296", "3092, 3092", "٣"] {
        let answer = Step::status(429, 0).header(headers::SUBSTATUS, text);
        lab.regions
            .script("A", [answer.hint(text), Step::status(200, 0)]);
        let _ = lab.send(read()).await;
        lab.regions.heal("A");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_with_all_the_headers_that_a_map_holds_is_no_panic() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.account.refresh().await;
    let mut request = read();
    for number in 0..40_000 {
        let name = HeaderName::from_bytes(format!("x-{number}").as_bytes()).unwrap();
        let value = HeaderValue::from(number);
        if request.headers_mut().try_insert(name, value).is_err() {
            break;
        }
    }
    let stack = lab.stack.clone();
    let sending = tokio::spawn(async move { cosmos_tests::send(&stack, request).await });
    let seen = sending.await.unwrap();
    assert_eq!(seen.error().kind(), FailureKind::InvalidRequest);
    assert!(lab.wire().is_empty());
}
