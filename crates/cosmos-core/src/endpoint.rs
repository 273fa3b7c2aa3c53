//! Where a region, or the account as a whole, is reached.

use std::fmt;

use http::HeaderValue;
use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

/// A scheme, host and port, with everything that a request needs of them made once.
///
/// Two endpoints are equal if scheme, host and port are, the default port written or not.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Endpoint {
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
}

/// Why a text is no endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The text is no URL.
    #[error("the endpoint is no URL")]
    NotAUrl,
    /// The URL has another scheme than `http` or `https`.
    #[error("the endpoint's scheme must be http or https")]
    Scheme,
    /// The URL names no host.
    #[error("the endpoint has no host")]
    NoHost,
    /// The URL carries a user or password.
    #[error("the endpoint must not carry a user or password")]
    UserInfo,
}

impl Endpoint {
    /// Reads an endpoint such as `https://acct-eastus.documents.azure.com:443/`. A path is ignored.
    ///
    /// # Errors
    /// [`EndpointError`] if the text is no `http` or `https` URL with a host.
    pub fn parse(url: &str) -> Result<Self, EndpointError> {
        let url = url.trim();
        if url.starts_with("http:///") || url.starts_with("https:///") {
            return Err(EndpointError::NoHost);
        }
        let uri: Uri = url.parse().map_err(|_| EndpointError::NotAUrl)?;
        let scheme = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS => scheme.clone(),
            Some(_) => return Err(EndpointError::Scheme),
            None if uri.host().is_some() => return Err(EndpointError::Scheme),
            None => return Err(EndpointError::NotAUrl),
        };
        let authority = uri.authority().ok_or(EndpointError::NoHost)?;
        if authority.as_str().contains('@') {
            return Err(EndpointError::UserInfo);
        }
        let host = authority.host().to_ascii_lowercase();
        if host.is_empty() {
            return Err(EndpointError::NoHost);
        }
        let port = authority.port_u16();
        // `None` also stands for a number that is no port, which must not become the default one.
        if port.is_none() && !matches!(&authority.as_str()[host.len()..], "" | ":") {
            return Err(EndpointError::NotAUrl);
        }
        let text = match port {
            Some(port) if port != default_port(&scheme) => format!("{host}:{port}"),
            _ => host,
        };
        let authority = Authority::try_from(text.as_str()).map_err(|_| EndpointError::NotAUrl)?;
        let host = HeaderValue::from_str(&text).map_err(|_| EndpointError::NotAUrl)?;
        Ok(Self {
            scheme,
            authority,
            host,
        })
    }

    /// Whether an absolute URI has this scheme, host and port.
    #[must_use]
    pub fn is_of(&self, uri: &Uri) -> bool {
        uri.scheme() == Some(&self.scheme)
            && uri
                .host()
                .is_some_and(|host| host.eq_ignore_ascii_case(self.authority.host()))
            && uri.port_u16().unwrap_or_else(|| default_port(&self.scheme)) == self.port()
    }

    /// The URI of this path and query at this endpoint; their bytes stay as they are.
    #[must_use]
    pub fn uri(&self, path_and_query: Option<&PathAndQuery>) -> Uri {
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(
            path_and_query
                .cloned()
                .unwrap_or_else(|| PathAndQuery::from_static("/")),
        );
        // Scheme, authority and path are all there, which is all that `from_parts` asks for.
        Uri::from_parts(parts).unwrap_or_default()
    }

    /// The value of the `host` header.
    #[must_use]
    pub const fn host_header(&self) -> &HeaderValue {
        &self.host
    }

    /// Host and, where it is not the scheme's default, port.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.authority.as_str()
    }

    /// The port, the scheme's default where none was written.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.authority
            .port_u16()
            .unwrap_or_else(|| default_port(&self.scheme))
    }
}

fn default_port(scheme: &Scheme) -> u16 {
    if *scheme == Scheme::HTTP { 80 } else { 443 }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}/", self.scheme, self.authority)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(url: &str) -> Result<Self, EndpointError> {
        Self::parse(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_port_and_the_trailing_slash_do_not_matter() {
        let short = Endpoint::parse("https://Acct.documents.azure.com").unwrap();
        let long = Endpoint::parse("https://acct.documents.azure.com:443/").unwrap();
        assert_eq!(short, long);
        assert_ne!(
            short,
            Endpoint::parse("http://acct.documents.azure.com").unwrap()
        );
        assert_eq!(long.to_string(), "https://acct.documents.azure.com/");
        assert!(long.is_of(&"https://ACCT.documents.azure.com/dbs".parse().unwrap()));
        assert!(!long.is_of(&"https://acct.documents.azure.com:444/dbs".parse().unwrap()));
    }

    #[test]
    fn path_bytes_are_kept() {
        let endpoint = Endpoint::parse("http://127.0.0.1:8081/ignored").unwrap();
        let wanted: Uri = "/dbs/d/colls/c/docs/Item@1%20%E6%97%A5?x=%2f"
            .parse()
            .unwrap();
        assert_eq!(
            endpoint.uri(wanted.path_and_query()).to_string(),
            "http://127.0.0.1:8081/dbs/d/colls/c/docs/Item@1%20%E6%97%A5?x=%2f"
        );
    }

    #[test]
    fn what_is_no_endpoint_is_a_typed_error() {
        for (text, error) in [
            ("", EndpointError::NotAUrl),
            ("/dbs", EndpointError::NotAUrl),
            ("acct.documents.azure.com", EndpointError::Scheme),
            ("ftp://acct/", EndpointError::Scheme),
            ("https:///path", EndpointError::NoHost),
            ("https://user:secret@acct/", EndpointError::UserInfo),
            ("https://a b/", EndpointError::NotAUrl),
            ("https://acct:99999/", EndpointError::NotAUrl),
        ] {
            assert_eq!(Endpoint::parse(text), Err(error), "{text:?}");
        }
    }
}
