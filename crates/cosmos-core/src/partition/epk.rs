//! Effective partition keys: where a partition key lies among a container's ranges.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The most hexadecimal digits that a text may have: 1 KiB, several times what the service sends.
const MAX_DIGITS: usize = 1024;

/// So many bytes need no allocation: all hashed keys that are not hierarchical, and most bounds of
/// ranges. The whole stays as small as a `String`.
const INLINE: usize = 22;

/// An effective partition key: bytes that a partition key is turned into, and that a container's
/// partition key ranges divide among themselves.
///
/// The order is that of unsigned bytes, and zeros at the end mean nothing: the bounds of a
/// hierarchical container's ranges come in different lengths, and a short one is the same bound as
/// its padded form. Equality and hash follow the order. The text is what the service writes:
/// hexadecimal, in upper case, with all zeros.
///
/// ```
/// use cosmos_core::partition::Epk;
///
/// let bound = Epk::parse("3f80")?;
/// assert_eq!(bound.to_string(), "3F80");
/// assert_eq!(bound, Epk::parse("3F800000")?);
/// assert!(Epk::MIN < bound && bound < Epk::MAX);
/// # Ok::<(), cosmos_core::partition::EpkError>(())
/// ```
#[derive(Clone)]
pub struct Epk(Repr);

#[derive(Clone)]
enum Repr {
    Inline(u8, [u8; INLINE]),
    Heap(Box<[u8]>),
}

/// Why a text is no effective partition key.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EpkError {
    /// Something else than hexadecimal digits.
    #[error("an effective partition key consists of hexadecimal digits")]
    Digit,
    /// The last byte has only one digit.
    #[error("an effective partition key has an even number of digits")]
    Odd,
    /// More than 1,024 digits.
    #[error("an effective partition key has at most {MAX_DIGITS} digits, not {0}")]
    TooLong(usize),
}

impl Epk {
    /// The first of all, `""`: where the first range begins.
    pub const MIN: Self = Self(Repr::Inline(0, [0; INLINE]));

    /// Beyond the last of all, `FF`: where the last range ends.
    pub const MAX: Self = {
        let mut bytes = [0; INLINE];
        bytes[0] = 0xff;
        Self(Repr::Inline(1, bytes))
    };

    /// Reads hexadecimal digits of any case; no digit at all is [`Epk::MIN`].
    ///
    /// # Errors
    ///
    /// [`EpkError`] for anything else.
    pub fn parse(hex: &str) -> Result<Self, EpkError> {
        let digits = hex.as_bytes();
        if digits.len() > MAX_DIGITS {
            return Err(EpkError::TooLong(digits.len()));
        }
        let (pairs, odd) = digits.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(EpkError::Odd);
        }
        let mut bytes = [0; MAX_DIGITS / 2];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self::from_bytes(&bytes[..pairs.len()]))
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        match u8::try_from(bytes.len()) {
            Ok(len) if bytes.len() <= INLINE => {
                let mut inline = [0; INLINE];
                inline[..bytes.len()].copy_from_slice(bytes);
                Self(Repr::Inline(len, inline))
            }
            _ => Self(Repr::Heap(bytes.into())),
        }
    }

    /// The bytes, with all zeros.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline(len, bytes) => &bytes[..usize::from(*len)],
            Repr::Heap(bytes) => bytes,
        }
    }

    /// The bytes that tell keys apart.
    fn significant(&self) -> &[u8] {
        let bytes = self.as_bytes();
        let end = bytes.iter().rposition(|byte| *byte != 0);
        &bytes[..end.map_or(0, |last| last + 1)]
    }
}

fn digit(digit: u8) -> Result<u8, EpkError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(EpkError::Digit),
    }
}

impl PartialEq for Epk {
    fn eq(&self, other: &Self) -> bool {
        self.significant() == other.significant()
    }
}

impl Eq for Epk {}

impl PartialOrd for Epk {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Epk {
    fn cmp(&self, other: &Self) -> Ordering {
        self.significant().cmp(other.significant())
    }
}

impl Hash for Epk {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.significant().hash(state);
    }
}

impl fmt::Display for Epk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl fmt::Debug for Epk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epk(hex: &str) -> Epk {
        Epk::parse(hex).unwrap()
    }

    #[test]
    fn any_case_is_read_and_upper_case_is_written() {
        assert_eq!(epk("05c1D529e345DC00").to_string(), "05C1D529E345DC00");
        assert_eq!(epk("09afAF90"), epk("09AFaf90"));
        assert_eq!(format!("{:?}", epk("0a")), "\"0A\"");
        assert_eq!(epk("0102").as_bytes(), [1, 2]);
    }

    #[test]
    fn texts_of_every_length_come_back() {
        for bytes in 0..=512_usize {
            let hex = "A7".repeat(bytes);
            assert_eq!(epk(&hex).to_string(), hex);
        }
    }

    #[test]
    fn what_is_no_hexadecimal_text_is_an_error() {
        for text in [
            "0g",
            "G0",
            "/0",
            ":0",
            "@0",
            "`0",
            "0 ",
            "0x",
            "é",
            "\u{ff10}0",
        ] {
            assert_eq!(Epk::parse(text), Err(EpkError::Digit), "{text:?}");
        }
        for text in ["0", "012", "€"] {
            assert_eq!(Epk::parse(text), Err(EpkError::Odd), "{text:?}");
        }
        let long = "0".repeat(1026);
        assert_eq!(Epk::parse(&long), Err(EpkError::TooLong(1026)));
        assert!(Epk::parse(&long[2..]).is_ok());
    }

    #[test]
    fn the_ends_are_empty_and_ff() {
        assert_eq!(Epk::MIN.to_string(), "");
        assert_eq!(Epk::MIN, epk(""));
        assert_eq!(Epk::MAX.to_string(), "FF");
        assert!(Epk::MIN < epk("01") && epk(&"FE".repeat(40)) < Epk::MAX);
    }

    #[test]
    fn short_ones_need_no_allocation() {
        for bytes in [0, 1, 16, 22] {
            let short = Epk::from_bytes(&vec![1; bytes]);
            assert!(matches!(short.0, Repr::Inline(..)), "{bytes}");
        }
        for bytes in [23, 32, 256, 300] {
            let long = Epk::from_bytes(&vec![1; bytes]);
            assert!(matches!(long.0, Repr::Heap(_)), "{bytes}");
            assert_eq!(long.as_bytes().len(), bytes);
        }
    }

    #[test]
    fn it_is_small() {
        assert_eq!(size_of::<Epk>(), 24);
        assert_eq!(size_of::<Option<Epk>>(), 24);
    }
}
