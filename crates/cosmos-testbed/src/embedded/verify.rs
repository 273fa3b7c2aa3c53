//! The checks that the service makes before it looks at what a request asks for.
//!
//! Written on its own, with nothing shared with the library's signing code: it is what that code is
//! measured against.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::StatusCode;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use sha2::Sha256;

use super::request::Received;

/// How far `x-ms-date` may be from the service's clock.
const DATE_TOLERANCE: Duration = Duration::from_secs(15 * 60);

/// What a request got wrong before it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ViolationKind {
    /// The `authorization` header is missing, malformed, or signs something else.
    Signature,
    /// `x-ms-date` is missing or more than 15 minutes from the server's clock.
    Date,
    /// `x-ms-version` is missing.
    Version,
    /// `Host` (or `:authority`) is not the listener's own address.
    Host,
}

/// A request that must be turned away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) kind: ViolationKind,
    pub(crate) detail: String,
}

impl Rejection {
    fn new(kind: ViolationKind, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { kind, detail }
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self.kind {
            ViolationKind::Date => StatusCode::FORBIDDEN,
            _ => StatusCode::UNAUTHORIZED,
        }
    }
}

/// Checks host, version, date and signature of a request to the listener at `authority`.
pub(crate) fn verify(
    request: &Received,
    key: &[u8],
    authority: &str,
    now: SystemTime,
) -> Result<(), Rejection> {
    verify_host(request, authority)?;
    if request.header("x-ms-version").is_none_or(str::is_empty) {
        return Err(Rejection::new(
            ViolationKind::Version,
            "x-ms-version is missing",
        ));
    }
    let date = verify_date(request, now)?;
    verify_signature(request, key, date)
}

fn verify_host(request: &Received, authority: &str) -> Result<(), Rejection> {
    let named = [
        request.uri.authority().map(http::uri::Authority::as_str),
        request.header("host"),
    ];
    let mut named = named.into_iter().flatten().peekable();
    if named.peek().is_none() {
        return Err(Rejection::new(ViolationKind::Host, "no host was named"));
    }
    match named.find(|host| *host != authority) {
        Some(host) => Err(Rejection::new(
            ViolationKind::Host,
            format!("{host} was named at {authority}"),
        )),
        None => Ok(()),
    }
}

fn verify_date(request: &Received, now: SystemTime) -> Result<&str, Rejection> {
    let wrong = |detail: String| Rejection::new(ViolationKind::Date, detail);
    let text = request
        .header("x-ms-date")
        .ok_or_else(|| wrong("x-ms-date is missing".into()))?;
    let date =
        httpdate::parse_http_date(text).map_err(|_| wrong(format!("{text:?} is not a date")))?;
    let skew = now
        .duration_since(date)
        .unwrap_or_else(|early| early.duration());
    if skew > DATE_TOLERANCE {
        return Err(wrong(format!("{text:?} is {}s off", skew.as_secs())));
    }
    Ok(text)
}

fn verify_signature(request: &Received, key: &[u8], date: &str) -> Result<(), Rejection> {
    let wrong = |detail: &str| Rejection::new(ViolationKind::Signature, detail);
    let token = request
        .header("authorization")
        .ok_or_else(|| wrong("authorization is missing"))?;
    // The whole token travels percent-encoded; a bare separator means that it was not.
    if token.contains(['=', '&']) {
        return Err(wrong("the token is not percent-encoded"));
    }
    let token = percent_decode_str(token)
        .decode_utf8()
        .map_err(|_| wrong("the token is not text"))?;
    let signature = token
        .strip_prefix("type=master&ver=1.0&sig=")
        .ok_or_else(|| wrong("not a version 1.0 master-key token"))?;
    let signature = STANDARD
        .decode(signature)
        .map_err(|_| wrong("the signature is not base64"))?;
    let (kind, link) = request.target.signed();
    let text = string_to_sign(request.method.as_str(), &kind, &link, date);
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key).map_err(|_| wrong("the account has no usable key"))?;
    mac.update(text.as_bytes());
    mac.verify_slice(&signature)
        .map_err(|_| wrong(&format!("expected a signature of {text:?}")))
}

/// The five signed fields; the last is the slot of the `Date` header, which is not used.
fn string_to_sign(verb: &str, kind: &str, link: &str, date: &str) -> String {
    format!(
        "{}\n{}\n{link}\n{}\n\n",
        verb.to_ascii_lowercase(),
        kind.to_ascii_lowercase(),
        date.to_ascii_lowercase()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::{HeaderMap, Method, Version};

    /// The key that the public emulator documents.
    const KEY: &str =
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
    const DATE: &str = "Thu, 27 Apr 2017 00:51:12 GMT";
    const HOST: &str = "127.0.0.1:8081";

    fn request(method: Method, path: &str, signature: &str) -> Received {
        let mut headers = HeaderMap::new();
        let token = format!("type=master&ver=1.0&sig={signature}");
        let token =
            percent_encoding::utf8_percent_encode(&token, percent_encoding::NON_ALPHANUMERIC);
        headers.insert("authorization", token.to_string().parse().unwrap());
        headers.insert("x-ms-date", DATE.parse().unwrap());
        headers.insert("x-ms-version", "2020-07-15".parse().unwrap());
        headers.insert("host", HOST.parse().unwrap());
        let uri = path.parse().unwrap();
        Received::new(method, uri, Version::HTTP_11, headers, Bytes::new())
    }

    fn check(request: &Received, minutes_late: u64) -> Result<(), ViolationKind> {
        let key = STANDARD.decode(KEY).unwrap();
        let now = httpdate::parse_http_date(DATE).unwrap() + Duration::from_secs(60 * minutes_late);
        verify(request, &key, HOST, now).map_err(|rejection| rejection.kind)
    }

    #[test]
    fn signatures_computed_elsewhere_are_accepted() {
        let vectors = [
            (
                Method::GET,
                "/dbs/ToDoList/colls/Items/docs/1",
                "pIBUVrXSqhlaupk/FfUUhKrPYuzFugXpqElumwsoGp8=",
            ),
            (
                Method::POST,
                "/dbs/ToDoList/colls/Items/docs",
                "xsGOVdJuhdfCMSf88b/z4eUsnekTR9zZqIIh8juDTYo=",
            ),
            (
                Method::GET,
                "/",
                "gFB1bRB/PLJTG3bCgMuoVgNzOyFvZAamzEtLuSITjRc=",
            ),
            (
                Method::GET,
                "/dbs/ToDoList/colls/Items/pkranges",
                "JdKBC8MLrC5G54uKYVaIhq/7Zc6tfFSHW4jR7yNCSKQ=",
            ),
        ];
        for (method, path, signature) in vectors {
            assert_eq!(
                check(&request(method, path, signature), 0),
                Ok(()),
                "{path}"
            );
        }
    }

    fn account_read() -> Received {
        request(
            Method::GET,
            "/",
            "gFB1bRB/PLJTG3bCgMuoVgNzOyFvZAamzEtLuSITjRc=",
        )
    }

    #[test]
    fn a_signature_for_another_verb_is_rejected() {
        let mut request = account_read();
        request.method = Method::HEAD;
        assert_eq!(check(&request, 0), Err(ViolationKind::Signature));
    }

    #[test]
    fn a_token_that_is_not_encoded_is_rejected() {
        let mut request = account_read();
        let bare = "type=master&ver=1.0&sig=gFB1bRB/PLJTG3bCgMuoVgNzOyFvZAamzEtLuSITjRc=";
        request
            .headers
            .insert("authorization", bare.parse().unwrap());
        assert_eq!(check(&request, 0), Err(ViolationKind::Signature));
    }

    #[test]
    fn a_date_is_good_for_fifteen_minutes() {
        assert_eq!(check(&account_read(), 15), Ok(()));
        assert_eq!(check(&account_read(), 16), Err(ViolationKind::Date));
    }

    #[test]
    fn another_listeners_host_is_rejected() {
        let mut request = account_read();
        request
            .headers
            .insert("host", "127.0.0.1:9".parse().unwrap());
        assert_eq!(check(&request, 0), Err(ViolationKind::Host));
    }

    #[test]
    fn a_request_without_a_version_is_rejected() {
        let mut request = account_read();
        request.headers.remove("x-ms-version");
        assert_eq!(check(&request, 0), Err(ViolationKind::Version));
    }
}
