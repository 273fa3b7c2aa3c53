//! Tokens that someone else made.

use http::HeaderValue;

use super::sensitive;

/// Why a text is not a token.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// There is no text.
    #[error("the token is empty")]
    Empty,
}

/// The `authorization` header for a resource token, which the owner of an account hands out for
/// single resources: `type=resource&ver=1.0&sig=…`.
///
/// The token is percent-encoded as a whole, unless it already is.
///
/// # Errors
///
/// [`TokenError`] if the token is empty.
pub fn resource_token_value(token: &str) -> Result<HeaderValue, TokenError> {
    if token.is_empty() {
        Err(TokenError::Empty)
    } else if is_encoded(token) {
        Ok(sensitive(token, ""))
    } else {
        Ok(sensitive("", token))
    }
}

/// The `authorization` header for a token of Microsoft Entra ID (a JWT).
///
/// # Errors
///
/// [`TokenError`] if the token is empty.
pub fn entra_token_value(jwt: &str) -> Result<HeaderValue, TokenError> {
    if jwt.is_empty() {
        return Err(TokenError::Empty);
    }
    Ok(sensitive("type%3Daad%26ver%3D1.0%26sig%3D", jwt))
}

/// Whether a token is percent-encoded: it has nothing that would have to be, and an escape.
fn is_encoded(token: &str) -> bool {
    let bytes = token.as_bytes();
    let is_escape = |at: usize| {
        bytes
            .get(at + 1..at + 3)
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let is_kept = |at: usize, byte: u8| match byte {
        b'%' => is_escape(at),
        // The last five are not reserved in URLs, and some SDKs leave them as they are.
        b'-' | b'.' | b'_' | b'~' | b'!' | b'*' | b'\'' | b'(' | b')' => true,
        _ => byte.is_ascii_alphanumeric(),
    };
    bytes.contains(&b'%')
        && bytes
            .iter()
            .enumerate()
            .all(|(at, &byte)| is_kept(at, byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_encoded_once() {
        let encoded = "type%3Dresource%26ver%3D1.0%26sig%3Da%2Bb%2Fc%3D%3D%3B";
        for token in ["type=resource&ver=1.0&sig=a+b/c==;", encoded] {
            let value = resource_token_value(token).unwrap();
            assert_eq!(value, encoded, "{token}");
            assert!(value.is_sensitive());
        }
        // A lone percent sign is no escape.
        assert_eq!(resource_token_value("a%b").unwrap(), "a%25b");
        assert_eq!(resource_token_value("a\nb日").unwrap(), "a%0Ab%E6%97%A5");
        assert_eq!(resource_token_value("").unwrap_err(), TokenError::Empty);

        let entra = entra_token_value("ey.J_-").unwrap();
        assert_eq!(entra, "type%3Daad%26ver%3D1.0%26sig%3Dey.J_-");
        assert!(entra.is_sensitive());
        assert_eq!(entra_token_value("").unwrap_err(), TokenError::Empty);
    }
}
