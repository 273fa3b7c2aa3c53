//! Session tokens: how far a client has read or written, per partition key range.
//!
//! A token is `{range}:{version}#{globalLSN}#{region}={localLSN}#…`, or, from older services,
//! `{range}:{lsn}`; several are separated by commas. A version or a local LSN of `-1` means "none
//! yet" and sorts below every number. Tokens that were learned are merged, never replaced: the
//! service answers 404/1002 from a region that is behind what a token says, and an older token
//! would let a client read the past.

mod token;

pub use token::{SessionToken, SessionTokenError};

/// The longest id of a partition key range, in bytes.
const MAX_RANGE_ID: usize = 64;

/// Splits a header's value into ranges and their tokens. Parts that are no token are left out.
pub fn segments(header: &str) -> impl Iterator<Item = (&str, SessionToken)> {
    header.split(',').filter_map(|segment| {
        let (range, token) = segment.trim().split_once(':')?;
        if range.is_empty() || range.len() > MAX_RANGE_ID {
            return None;
        }
        Some((range, token.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_may_hold_the_tokens_of_several_ranges() {
        let read: Vec<_> = segments("0:-1#42, 1:1#7#3=5,broken,:,:1,2:x#1").collect();
        let texts: Vec<_> = read
            .iter()
            .map(|(range, token)| format!("{range}:{token}"))
            .collect();
        assert_eq!(texts, ["0:-1#42", "1:1#7#3=5"]);
    }

    #[test]
    fn an_endless_range_id_is_none() {
        let read = |length| segments(&format!("{}:1", "r".repeat(length))).count();
        assert_eq!((read(MAX_RANGE_ID), read(MAX_RANGE_ID + 1)), (1, 0));
    }
}
