//! Percent-encoding, as the service wants it.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};

/// Everything but `A-Z a-z 0-9 - . _ ~`, which RFC 3986 calls unreserved.
pub(crate) const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A text without its escapes.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    // Most have nothing to decode, which is quickly seen.
    if text.bytes().any(|byte| byte == b'%') {
        percent_decode_str(text).decode_utf8_lossy()
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_is_encoded() {
        for byte in 0..=0x7f_u8 {
            let text = char::from(byte).to_string();
            let encoded = percent_encoding::utf8_percent_encode(&text, RESERVED).to_string();
            let stays = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            assert_eq!(encoded.len(), if stays { 1 } else { 3 }, "{text:?}");
        }
    }
}
