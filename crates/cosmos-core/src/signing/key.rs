//! Signatures with an account key.

use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderValue, Method};
use sha2::Sha256;
use smallvec::SmallVec;

use super::{ResourceLink, sensitive};

/// How long a signature is in base64.
const SIGNATURE: usize = 44;

/// Why a text is not an account key.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no text.
    #[error("the account key is empty")]
    Empty,
    /// The text is not standard, padded base64.
    #[error("the account key is not valid base64")]
    NotBase64,
}

/// An account key, ready to sign.
///
/// The first half of each signature depends on the key alone: it is computed once, here, and
/// copied for every signature.
#[derive(Clone)]
pub struct MasterKey {
    keyed: Hmac<Sha256>,
}

impl MasterKey {
    /// Takes the key as the portal shows it: standard base64 with padding.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the text is empty or not base64. The error repeats nothing of the text.
    pub fn from_base64(text: &str) -> Result<Self, KeyError> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        let bytes = BASE64_STANDARD
            .decode(text)
            .map_err(|_| KeyError::NotBase64)?;
        // HMAC takes keys of every length; the type only knows it for some of its users.
        let keyed = Hmac::new_from_slice(&bytes).map_err(|_| KeyError::NotBase64)?;
        Ok(Self { keyed })
    }

    /// The `authorization` header of a request.
    ///
    /// `path` is the request's encoded path; [`ResourceLink::from_path`] says what of it is
    /// signed. `date` must be the text of the request's `x-ms-date`; see [`http_date`](super::http_date).
    #[must_use]
    pub fn sign(&self, method: &Method, path: &str, date: &str) -> HeaderValue {
        let link = ResourceLink::from_path(path);
        self.authorization(method.as_str(), link.resource_type(), link.link(), date)
    }

    /// The `authorization` header for a method, a resource type such as `docs`, an unencoded
    /// resource link such as `dbs/shop/colls/carts`, and a date.
    #[must_use]
    pub fn authorization(
        &self,
        verb: &str,
        resource_type: &str,
        link: &str,
        date: &str,
    ) -> HeaderValue {
        let mut text = SmallVec::<[u8; 256]>::new();
        push_lowercase(&mut text, verb);
        push_lowercase(&mut text, resource_type);
        text.extend_from_slice(link.as_bytes());
        text.push(b'\n');
        push_lowercase(&mut text, date);
        // The last line is the place of a `date` header, which is not sent.
        text.push(b'\n');
        let mut mac = self.keyed.clone();
        mac.update(&text);
        let mut buffer = [0; SIGNATURE];
        let signature = mac.finalize().into_bytes();
        let signature = BASE64_STANDARD
            .encode_slice(signature, &mut buffer)
            .ok()
            .and_then(|length| std::str::from_utf8(buffer.get(..length)?).ok())
            .expect("32 bytes are 44 characters of base64");
        sensitive("type%3Dmaster%26ver%3D1.0%26sig%3D", signature)
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(..)")
    }
}

/// Adds a line in lower case.
fn push_lowercase(text: &mut SmallVec<[u8; 256]>, line: &str) {
    let begins = text.len();
    text.extend_from_slice(line.as_bytes());
    text[begins..].make_ascii_lowercase();
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of every emulator: public.
    const KEY: &str =
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
    const DATE: &str = "Thu, 27 Apr 2017 00:51:12 GMT";

    #[test]
    fn signatures_equal_the_ones_that_were_computed_independently() {
        let key = MasterKey::from_base64(KEY).unwrap();
        for (method, path, signature) in [
            (
                Method::GET,
                "/dbs/ToDoList/colls/Items/docs/1",
                "pIBUVrXSqhlaupk%2FFfUUhKrPYuzFugXpqElumwsoGp8%3D",
            ),
            (
                Method::POST,
                "/dbs/ToDoList/colls/Items/docs",
                "xsGOVdJuhdfCMSf88b%2Fz4eUsnekTR9zZqIIh8juDTYo%3D",
            ),
            (
                Method::GET,
                "/",
                "gFB1bRB%2FPLJTG3bCgMuoVgNzOyFvZAamzEtLuSITjRc%3D",
            ),
            (
                Method::GET,
                "/dbs/ToDoList/colls/Items/pkranges",
                "JdKBC8MLrC5G54uKYVaIhq%2F7Zc6tfFSHW4jR7yNCSKQ%3D",
            ),
        ] {
            let value = key.sign(&method, path, DATE);
            let expected = format!("type%3Dmaster%26ver%3D1.0%26sig%3D{signature}");
            assert_eq!(value.to_str().unwrap(), expected, "{method} {path}");
            assert!(value.is_sensitive());
        }
    }

    #[test]
    fn verb_type_and_date_are_signed_in_lower_case_but_the_link_is_not() {
        let key = MasterKey::from_base64(KEY).unwrap();
        let plain = key.authorization("get", "docs", "dbs/A", &DATE.to_lowercase());
        assert_eq!(key.authorization("GET", "DOCS", "dbs/A", DATE), plain);
        assert_ne!(key.authorization("GET", "DOCS", "dbs/a", DATE), plain);
    }

    #[test]
    fn keys_are_checked_and_never_shown() {
        assert_eq!(MasterKey::from_base64("").unwrap_err(), KeyError::Empty);
        for text in ["no key!", "abc", "c2VjcmV0\n", "C2y6yDjf5_R-"] {
            assert_eq!(
                MasterKey::from_base64(text).unwrap_err(),
                KeyError::NotBase64,
                "{text:?}"
            );
        }
        let shown = format!("{:?}", MasterKey::from_base64(KEY).unwrap());
        assert_eq!(shown, "MasterKey(..)");
    }
}
