//! A request, taken apart and checked.

use bytes::Bytes;
use cosmos_core::operation::{Action, Operation, Resource};
use cosmos_core::requests::RequestBuilder;
use http::Request;
use http_body_util::{BodyExt, Full};

pub(crate) const JSON: &str = "application/json";
pub(crate) const QUERY_JSON: &str = "application/query+json";

/// A request, taken apart.
pub(crate) struct Wire {
    pub(crate) line: String,
    /// Sorted, without the headers that every request has.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) operation: Operation,
}

fn body_of(request: Request<Full<Bytes>>) -> Bytes {
    // The body is in memory: polling it once gives all of it.
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut collect = std::pin::pin!(request.into_body().collect());
    match collect.as_mut().poll(&mut context) {
        std::task::Poll::Ready(Ok(body)) => body.to_bytes(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn wire(builder: RequestBuilder) -> Wire {
    let request = builder.build().unwrap();
    let line = format!("{} {}", request.method(), request.uri());
    let operation =
        Operation::classify(request.method(), request.uri().path(), request.headers()).unwrap();
    let mut headers = Vec::new();
    for (name, value) in request.headers() {
        let text = value.to_str().unwrap().to_owned();
        match name.as_str() {
            "accept" => assert_eq!(text, JSON),
            "cache-control" => assert_eq!(text, "no-cache"),
            name => headers.push((name.to_owned(), text)),
        }
    }
    headers.sort();
    let body = String::from_utf8(body_of(request).to_vec()).unwrap();
    Wire {
        line,
        headers,
        body,
        operation,
    }
}

/// Checks everything about a request but its body, which is returned.
#[track_caller]
pub(crate) fn assert_wire(
    builder: RequestBuilder,
    line: &str,
    (action, resource): (Action, Resource),
    headers: &[(&str, &str)],
) -> String {
    let wire = wire(builder);
    let mut expected: Vec<_> = headers
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    expected.sort();
    assert_eq!(wire.line, line);
    assert_eq!(wire.headers, expected, "{line}");
    assert_eq!(
        (wire.operation.action(), wire.operation.resource()),
        (action, resource),
        "{line}"
    );
    wire.body
}

/// Ids, and how they look in a path.
pub(crate) const IDS: [(&str, &str); 6] = [
    ("a b%c", "a%20b%25c"),
    ("Item@1", "Item%401"),
    ("日本", "%E6%97%A5%E6%9C%AC"),
    ("docs", "docs"),
    ("sprocs", "sprocs"),
    ("~a.b_c-d+e&f=g", "~a.b_c-d%2Be%26f%3Dg"),
];
pub(crate) const KEY: (&str, &str) = ("x-ms-documentdb-partitionkey", r#"["k"]"#);
