//! A request as it was read from the wire, and what it asks for.

use bytes::Bytes;
use http::{HeaderMap, Method, Uri, Version};
use percent_encoding::percent_decode_str;

/// A request whose body has been read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) target: Target,
}

/// How a request is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// `GET /`.
    Account,
    /// Anything under `docs`, a stored procedure's execution, a delete by partition key.
    Data,
    /// Everything else.
    Metadata,
}

/// What a request addresses, read from its method, path and headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) class: Class,
    pub(crate) writes: bool,
    /// The path's segments, percent-decoded.
    pub(crate) segments: Vec<String>,
}

impl Received {
    pub(crate) fn new(
        method: Method,
        uri: Uri,
        version: Version,
        headers: HeaderMap,
        body: Bytes,
    ) -> Self {
        let target = Target::parse(&method, uri.path(), &headers);
        Self {
            method,
            uri,
            version,
            headers,
            body,
            target,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether a header carries `true` in any letter case.
    pub(crate) fn flag(&self, name: &str) -> bool {
        flag(&self.headers, name)
    }

    pub(crate) fn partition_key(&self) -> Option<&str> {
        self.header("x-ms-documentdb-partitionkey")
    }

    pub(crate) fn range_id(&self) -> Option<&str> {
        self.header("x-ms-documentdb-partitionkeyrangeid")
    }

    /// The database and the container, for whatever lies inside a container.
    pub(crate) fn container(&self) -> Option<(&str, &str)> {
        match self.target.words().as_slice() {
            ["dbs", database, "colls", container, ..] => Some((database, container)),
            _ => None,
        }
    }
}

impl Target {
    pub(crate) fn parse(method: &Method, path: &str, headers: &HeaderMap) -> Self {
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = path.strip_suffix('/').unwrap_or(path);
        let segments: Vec<String> = path
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
            .collect();
        let mut target = Self {
            class: Class::Metadata,
            writes: false,
            segments,
        };
        target.class = match target.words().as_slice() {
            [] => Class::Account,
            ["dbs", _, "colls", _, "docs", ..]
            | ["dbs", _, "colls", _, "operations", "partitionkeydelete"] => Class::Data,
            ["dbs", _, "colls", _, "sprocs", _] if method == Method::POST => Class::Data,
            _ => Class::Metadata,
        };
        target.writes = match *method {
            Method::PUT | Method::PATCH | Method::DELETE => true,
            Method::POST => !is_query(headers),
            _ => false,
        };
        target
    }

    /// The segments as string slices, for matching on keywords at fixed positions: an item may be
    /// called `docs`.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.segments.iter().map(String::as_str).collect()
    }

    /// The resource type and the resource link that the signature covers.
    pub(crate) fn signed(&self) -> (String, String) {
        let words = self.words();
        match words.as_slice() {
            [] => (String::new(), String::new()),
            // A delete by partition key is an operation on the container itself.
            ["dbs", _, "colls", _, "operations", _] => ("colls".to_owned(), words[..4].join("/")),
            // Offers have no names, and an id-based link is its last id in lower case.
            ["offers", rid] => ("offers".to_owned(), rid.to_ascii_lowercase()),
            [kind] => ((*kind).to_owned(), String::new()),
            [parents @ .., kind] if words.len() % 2 == 1 => ((*kind).to_owned(), parents.join("/")),
            [.., kind, _] => ((*kind).to_owned(), words.join("/")),
        }
    }
}

fn is_query(headers: &HeaderMap) -> bool {
    let query_body = headers
        .get(http::header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/query+json"));
    query_body
        || flag(headers, "x-ms-documentdb-isquery")
        || flag(headers, "x-ms-documentdb-query")
        || flag(headers, "x-ms-cosmos-is-query-plan-request")
}

fn flag(headers: &HeaderMap, name: &str) -> bool {
    headers
        .get(name)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(method: &Method, path: &str) -> Target {
        Target::parse(method, path, &HeaderMap::new())
    }

    #[test]
    fn an_item_called_docs_is_signed_as_an_item() {
        let target = target(&Method::GET, "/dbs/docs/colls/docs/docs/docs");
        assert_eq!(target.class, Class::Data);
        assert_eq!(
            target.signed(),
            ("docs".into(), "dbs/docs/colls/docs/docs/docs".into())
        );
    }

    #[test]
    fn a_feed_is_signed_with_its_parents_link() {
        let target = target(&Method::POST, "/dbs/d/colls/c/docs");
        assert!(target.writes);
        assert_eq!(target.signed(), ("docs".into(), "dbs/d/colls/c".into()));
    }

    #[test]
    fn links_are_signed_decoded() {
        let target = target(&Method::GET, "/dbs/d/colls/c/docs/a%20b");
        assert_eq!(target.signed().1, "dbs/d/colls/c/docs/a b");
    }

    #[test]
    fn the_account_is_signed_empty() {
        let target = target(&Method::GET, "/");
        assert_eq!(target.class, Class::Account);
        assert_eq!(target.signed(), (String::new(), String::new()));
    }

    #[test]
    fn a_delete_by_partition_key_is_data_and_signed_as_its_container() {
        let target = target(
            &Method::POST,
            "/dbs/d/colls/c/operations/partitionkeydelete",
        );
        assert_eq!(target.class, Class::Data);
        assert!(target.writes);
        assert_eq!(target.signed(), ("colls".into(), "dbs/d/colls/c".into()));
    }

    #[test]
    fn only_executing_a_stored_procedure_is_data() {
        assert_eq!(
            target(&Method::POST, "/dbs/d/colls/c/sprocs/s").class,
            Class::Data
        );
        assert_eq!(
            target(&Method::GET, "/dbs/d/colls/c/sprocs/s").class,
            Class::Metadata
        );
        assert_eq!(
            target(&Method::POST, "/dbs/d/colls/c/sprocs").class,
            Class::Metadata
        );
    }

    #[test]
    fn a_query_is_a_read() {
        let mut headers = HeaderMap::new();
        headers.insert("x-ms-documentdb-isquery", "True".parse().unwrap());
        assert!(!Target::parse(&Method::POST, "/dbs/d/colls/c/docs", &headers).writes);
    }
}
