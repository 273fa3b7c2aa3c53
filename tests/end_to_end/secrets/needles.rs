//! What must not be found in any text, in every form that it is likely to take.

use std::fmt::Write;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use cosmos_core::BoxError;
use http::HeaderValue;
use parking_lot::Mutex;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha2::{Digest, Sha256};
use tower_cosmos::Credential;
use tower_cosmos::credential::ToSign;

/// Secrets, each with a name for messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Needles(Vec<(String, String)>);

impl Needles {
    /// A text, and what it looks like in a URL.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        let encoded = utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let forms = [text.to_owned(), encoded.to_lowercase(), encoded];
        for form in forms {
            // Shorter ones are found by chance.
            if form.len() >= 5 && self.0.iter().all(|(_, known)| *known != form) {
                self.0.push((name.to_owned(), form));
            }
        }
    }

    /// Bytes: in base64, in hexadecimal, as a list of numbers.
    pub(super) fn bytes(&mut self, name: &str, bytes: &[u8]) {
        for engine in [&STANDARD, &URL_SAFE] {
            self.text(name, &engine.encode(bytes));
        }
        self.text(name, &STANDARD_NO_PAD.encode(bytes));
        let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        self.text(name, &hex.to_uppercase());
        self.text(name, &hex);
        // `Debug` of a slice; a part of it will do.
        let numbers = format!("{:?}", &bytes[..bytes.len().min(8)]);
        self.text(name, numbers.trim_matches(['[', ']']));
    }

    /// A master key in base64: itself, and its hash.
    pub(super) fn key(&mut self, key: &str) {
        let bytes = STANDARD.decode(key).expect("a key in base64");
        self.bytes("the key", &bytes);
        self.bytes("the key's hash", &Sha256::digest(&bytes));
        self.bytes("the key's hash", &Sha256::digest(key.as_bytes()));
    }

    /// An `authorization` that was sent: its signature, and so all of it.
    pub(super) fn authorization(&mut self, value: &str) {
        let plain = percent_decode_str(value).decode_utf8_lossy().into_owned();
        let signature = plain.split_once("&sig=").map(|(_, signature)| signature);
        self.text("a signature", signature.expect("a signature"));
    }

    /// The first of them that a text holds, and the line that it is in.
    pub(super) fn find<'t>(&self, text: &'t str) -> Option<(&str, &'t str)> {
        let held = self.0.iter().find(|(_, needle)| text.contains(needle))?;
        let (name, needle) = held;
        let line = text.lines().find(|line| line.contains(needle));
        Some((name, line.unwrap_or(text)))
    }

    /// Panics if a text holds any of them.
    pub(super) fn check(&self, what: &str, text: &str) {
        if let Some((name, line)) = self.find(text) {
            panic!("{what} holds {name}: {line}");
        }
    }
}

/// A credential that keeps what it made, which is what is sent.
#[derive(Clone, Debug)]
pub(super) struct Noting<C> {
    credential: C,
    sent: Arc<Mutex<Vec<String>>>,
}

impl<C> Noting<C> {
    pub(super) fn new(credential: C) -> Self {
        let sent = Arc::default();
        Self { credential, sent }
    }

    pub(super) fn sent(&self) -> Vec<String> {
        self.sent.lock().clone()
    }
}

impl<C: Credential> Credential for Noting<C> {
    fn authorize(&self, to_sign: &ToSign<'_>) -> Result<HeaderValue, BoxError> {
        let value = self.credential.authorize(to_sign)?;
        let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
        self.sent.lock().push(text);
        Ok(value)
    }
}

#[test]
fn a_secret_is_found_in_every_form() {
    let key = STANDARD.encode([0xfb_u8, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let mut needles = Needles::default();
    needles.key(&key);
    needles.authorization("type%3dmaster%26ver%3d1.0%26sig%3dabc%2bdef%3d");
    for text in [
        "key +/8BAgMEBQYHCAkK",
        "url-safe -_8BAgMEBQYHCAkK",
        "encoded %2B%2F8BAgMEBQYHCAkK",
        "lower %2b%2f8bagmebqyhcakk",
        "hex fbff0102030405060708090a",
        "debug [251, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
        "the signature abc+def=",
        "type=master&ver=1.0&sig=abc+def=",
    ] {
        assert!(needles.find(text).is_some(), "{text}");
    }
    assert!(needles.find("a harmless text").is_none());
}
