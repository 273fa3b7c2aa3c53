//! Who the client is: a key that can be replaced while it is used, or a resource token.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use cosmos_core::BoxError;
use cosmos_core::signing::{MasterKey, TokenError, resource_token_value};
use http::{HeaderValue, Method};

/// What an authorization is made for.
#[derive(Copy, Clone, Debug)]
#[non_exhaustive]
pub struct ToSign<'a> {
    /// The request's method.
    pub method: &'a Method,
    /// The request's path, percent-encoded as it is sent.
    pub path: &'a str,
    /// The request's `x-ms-date`.
    pub date: &'a str,
}

/// Makes the `authorization` of a request. Asked anew for every attempt.
///
/// An error ends the operation: it is neither retried nor counted against a region. The value
/// should be marked [sensitive](HeaderValue::set_sensitive).
pub trait Credential: Send + Sync + fmt::Debug + 'static {
    /// The value of the `authorization` header.
    ///
    /// # Errors
    /// Whatever keeps the credential from making one.
    fn authorize(&self, to_sign: &ToSign<'_>) -> Result<HeaderValue, BoxError>;
}

impl<C: Credential + ?Sized> Credential for Arc<C> {
    fn authorize(&self, to_sign: &ToSign<'_>) -> Result<HeaderValue, BoxError> {
        (**self).authorize(to_sign)
    }
}

/// An account key. Clones share it, so [`KeyCredential::replace`] rotates it everywhere.
#[derive(Clone)]
pub struct KeyCredential(Arc<ArcSwap<MasterKey>>);

impl KeyCredential {
    /// A credential with this key.
    #[must_use]
    pub fn new(key: MasterKey) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(key)))
    }

    /// Signs every later attempt with another key.
    pub fn replace(&self, key: MasterKey) {
        self.0.store(Arc::new(key));
    }
}

impl Credential for KeyCredential {
    fn authorize(&self, to_sign: &ToSign<'_>) -> Result<HeaderValue, BoxError> {
        Ok(self
            .0
            .load()
            .sign(to_sign.method, to_sign.path, to_sign.date))
    }
}

impl fmt::Debug for KeyCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyCredential(..)")
    }
}

/// A resource token, sent as it is.
#[derive(Clone)]
pub struct ResourceTokenCredential(HeaderValue);

impl ResourceTokenCredential {
    /// A credential with this token.
    ///
    /// # Errors
    /// [`TokenError`] if the text cannot be a token.
    pub fn new(token: &str) -> Result<Self, TokenError> {
        resource_token_value(token).map(Self)
    }
}

impl Credential for ResourceTokenCredential {
    fn authorize(&self, _: &ToSign<'_>) -> Result<HeaderValue, BoxError> {
        Ok(self.0.clone())
    }
}

impl fmt::Debug for ResourceTokenCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResourceTokenCredential(..)")
    }
}
