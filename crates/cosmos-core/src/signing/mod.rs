//! The `authorization` header: signatures with an account key, and tokens.
//!
//! A signature covers the method, the resource and the date, but not the host, so it holds in
//! every region. The service accepts a date for about 15 minutes: every attempt is signed anew,
//! with the date that is passed in.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use cosmos_core::signing::{MasterKey, http_date};
//! use http::Method;
//!
//! let key = MasterKey::from_base64("c2VjcmV0")?;
//! let date = http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(1_493_254_272));
//! assert_eq!(date, "Thu, 27 Apr 2017 00:51:12 GMT");
//!
//! let value = key.sign(&Method::GET, "/dbs/shop/colls/carts/docs/42", &date);
//! assert!(value.to_str()?.starts_with("type%3Dmaster%26ver%3D1.0%26sig%3D"));
//! assert!(value.is_sensitive());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Secrets
//!
//! Keys have a redacted `Debug`, errors repeat nothing of what was wrong, and every header value
//! made here is marked as sensitive.

use std::time::{Duration, SystemTime};

use http::HeaderValue;
use percent_encoding::percent_encode;
use smallvec::SmallVec;

use crate::percent::RESERVED;

mod key;
mod link;
mod token;

pub use key::{KeyError, MasterKey};
pub use link::ResourceLink;
pub use token::{TokenError, entra_token_value, resource_token_value};

/// A time as the text of `x-ms-date`, such as `Thu, 27 Apr 2017 00:51:12 GMT`; whole seconds.
///
/// The format has no years before 1970 or after 9999. A clock that is wrong by so much gets the
/// nearest date that it has, which the service refuses like any other wrong date.
#[must_use]
pub fn http_date(time: SystemTime) -> String {
    const LAST_SECOND: Duration = Duration::from_secs(253_402_300_799);
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since.min(LAST_SECOND))
}

/// A sensitive header value: a prefix as it is, and the rest percent-encoded.
fn sensitive(encoded: &str, rest: &str) -> HeaderValue {
    let mut text = SmallVec::<[u8; 256]>::from_slice(encoded.as_bytes());
    for piece in percent_encode(rest.as_bytes(), RESERVED) {
        text.extend_from_slice(piece.as_bytes());
    }
    let mut value = HeaderValue::from_bytes(&text).expect("percent-encoded text is visible ASCII");
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_the_format_lacks_become_the_nearest_that_it_has() {
        let epoch = SystemTime::UNIX_EPOCH;
        let early = epoch.checked_sub(Duration::from_secs(1)).unwrap_or(epoch);
        assert_eq!(http_date(early), "Thu, 01 Jan 1970 00:00:00 GMT");
        let late = epoch
            .checked_add(Duration::from_secs(300_000_000_000))
            .unwrap();
        assert_eq!(http_date(late), "Fri, 31 Dec 9999 23:59:59 GMT");
    }
}
