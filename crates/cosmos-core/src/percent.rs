//! Percent-encoding, as the service wants it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// Everything but `A-Z a-z 0-9 - . _ ~`, which RFC 3986 calls unreserved.
pub(crate) const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
