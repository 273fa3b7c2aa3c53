//! Connection strings, as the portal shows them.
//!
//! ```
//! use cosmos_core::connection_string::ConnectionString;
//!
//! let parsed: ConnectionString =
//!     "AccountEndpoint=https://shop.documents.azure.com:443/;AccountKey=c2VjcmV0;".parse()?;
//! assert_eq!(parsed.endpoint().host(), Some("shop.documents.azure.com"));
//! # Ok::<(), cosmos_core::connection_string::ConnectionStringError>(())
//! ```

use std::fmt;
use std::str::FromStr;

use http::Uri;
use http::uri::Scheme;

use crate::signing::{KeyError, MasterKey};

/// The parts that a connection string must have.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// `AccountEndpoint`: where the account is.
    Endpoint,
    /// `AccountKey`: the key that requests are signed with.
    Key,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Endpoint => "AccountEndpoint",
            Self::Key => "AccountKey",
        })
    }
}

/// Why a text is not a connection string. No variant repeats anything of the text.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionStringError {
    /// A part is not there.
    #[error("the connection string has no {0}")]
    Missing(Part),
    /// A part is there twice.
    #[error("the connection string has more than one {0}")]
    Duplicate(Part),
    /// The endpoint is not a URL with `http` or `https`, a host, and no user.
    #[error("the connection string's AccountEndpoint is not an http or https URL with a host")]
    Endpoint,
    /// The key is none.
    #[error("the connection string's AccountKey cannot be used")]
    Key(#[source] KeyError),
}

/// Where an account is, and the key to it.
///
/// Parsed from `AccountEndpoint=https://…;AccountKey=…;`. The names of the parts are read in any
/// case and any order, blanks around names and values do not count, the last semicolon is
/// optional, and other parts are ignored.
#[derive(Clone)]
pub struct ConnectionString {
    endpoint: Uri,
    key: MasterKey,
}

impl ConnectionString {
    /// The URL of the account's global endpoint; always with a scheme and a host.
    #[must_use]
    pub fn endpoint(&self) -> &Uri {
        &self.endpoint
    }

    /// The account key.
    #[must_use]
    pub fn key(&self) -> &MasterKey {
        &self.key
    }

    /// The endpoint and the key.
    #[must_use]
    pub fn into_parts(self) -> (Uri, MasterKey) {
        (self.endpoint, self.key)
    }
}

impl FromStr for ConnectionString {
    type Err = ConnectionStringError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut endpoint, mut key) = (None, None);
        for part in text.split(';') {
            // The first `=` only: keys end in some.
            let Some((name, value)) = part.split_once('=') else {
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            let (slot, part) = if name.eq_ignore_ascii_case("AccountEndpoint") {
                (&mut endpoint, Part::Endpoint)
            } else if name.eq_ignore_ascii_case("AccountKey") {
                (&mut key, Part::Key)
            } else {
                continue;
            };
            if slot.replace(value).is_some() {
                return Err(ConnectionStringError::Duplicate(part));
            }
        }
        let endpoint = endpoint.ok_or(ConnectionStringError::Missing(Part::Endpoint))?;
        let key = key.ok_or(ConnectionStringError::Missing(Part::Key))?;
        Ok(Self {
            endpoint: parse_endpoint(endpoint).ok_or(ConnectionStringError::Endpoint)?,
            key: MasterKey::from_base64(key).map_err(ConnectionStringError::Key)?,
        })
    }
}

impl fmt::Debug for ConnectionString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionString")
            .field("endpoint", &self.endpoint)
            .field("key", &self.key)
            .finish()
    }
}

fn parse_endpoint(text: &str) -> Option<Uri> {
    let uri: Uri = text.parse().ok()?;
    let known = uri.scheme() == Some(&Scheme::HTTPS) || uri.scheme() == Some(&Scheme::HTTP);
    let authority = uri.authority()?;
    let host = authority.host();
    // What is left besides a host is a port: neither a user, who would be shown wherever the
    // endpoint is, nor a port that is no number, which the parser lets pass.
    let rest = authority.as_str().strip_prefix(host)?;
    let is_port = |text: &str| !text.starts_with('+') && text.parse::<u16>().is_ok();
    let whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    (known && !host.is_empty() && whole).then_some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ENDPOINT: &str = "https://shop.documents.azure.com:443/";
    const KEY: &str = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMs\
                       EcaGQy67XIw/Jw==";

    fn parse(text: &str) -> Result<ConnectionString, ConnectionStringError> {
        text.parse()
    }

    #[test]
    fn order_case_blanks_and_other_parts_do_not_matter() {
        for text in [
            format!("AccountEndpoint={ENDPOINT};AccountKey={KEY};"),
            format!("AccountEndpoint={ENDPOINT};AccountKey={KEY}"),
            format!("accountkey={KEY};ACCOUNTENDPOINT={ENDPOINT}"),
            format!(" AccountKey = {KEY} ;; AccountEndpoint = {ENDPOINT} ;Database=a=b;nonsense\n"),
        ] {
            let parsed = parse(&text).unwrap();
            assert_eq!(parsed.endpoint(), ENDPOINT);
            let (_, key) = parsed.into_parts();
            let expected = MasterKey::from_base64(KEY).unwrap();
            let sign = |key: &MasterKey| key.authorization("get", "", "", "now");
            assert_eq!(sign(&key), sign(&expected));
        }
    }

    #[test]
    fn missing_and_repeated_parts_are_named() {
        use ConnectionStringError::{Duplicate, Missing};
        let endpoint = format!("AccountEndpoint={ENDPOINT};");
        let key = format!("AccountKey={KEY};");
        for (text, expected) in [
            (String::new(), Missing(Part::Endpoint)),
            (key.clone(), Missing(Part::Endpoint)),
            (endpoint.clone(), Missing(Part::Key)),
            (format!("{endpoint}{key}accountKEY=x"), Duplicate(Part::Key)),
            (
                format!("{endpoint}{endpoint}{key}"),
                Duplicate(Part::Endpoint),
            ),
        ] {
            assert_eq!(parse(&text).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn endpoints_need_a_scheme_and_a_host() {
        for endpoint in [
            "",
            "shop.documents.azure.com",
            "shop.documents.azure.com:443",
            "ftp://shop/",
            "https://",
            "https://:443/",
            "https://user:secret@shop/",
            "https://shop:port/",
            "https://shop:+443/",
            "https://shop:65536/",
            "/path",
        ] {
            let error = parse(&format!("AccountEndpoint={endpoint};AccountKey={KEY}")).unwrap_err();
            assert_eq!(error, ConnectionStringError::Endpoint, "{endpoint}");
        }
        for endpoint in [
            "http://localhost:8081",
            "https://[::1]:8081/",
            "HTTPS://Shop/",
        ] {
            parse(&format!("AccountEndpoint={endpoint};AccountKey={KEY}")).unwrap();
        }
    }

    #[test]
    fn nothing_shows_the_key() {
        let shown = format!(
            "{:?}",
            parse(&format!("AccountEndpoint={ENDPOINT};AccountKey={KEY}"))
        );
        assert!(shown.contains("shop") && !shown.contains("C2y6"), "{shown}");
        let error = parse("AccountEndpoint=https://shop/;AccountKey=hunter2!").unwrap_err();
        assert_eq!(error, ConnectionStringError::Key(KeyError::NotBase64));
        assert!(!format!("{error:?} {error}").contains("hunter2"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", key in "\\PC*") {
            let _ = parse(&text);
            let _ = parse(&format!("AccountEndpoint={text};AccountKey={key}"));
        }
    }
}
