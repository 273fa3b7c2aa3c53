//! From a partition key to its effective partition key.

use smallvec::SmallVec;

use super::Epk;
use super::hash::{murmur3_32, murmur3_128};
use crate::PartitionKey;
use crate::requests::{PartitionKeyValue, Value, Values, read};

/// The most paths that a definition may have.
pub(super) const MAX_PATHS: usize = 100;

/// Keys of version 1 know so much of a string, in UTF-16 code units ...
const V1_UNITS: usize = 100;
/// ... and write so many of its bytes.
const V1_BYTES: usize = 100;

/// What a value's bytes begin with.
mod marker {
    pub(super) const UNDEFINED: u8 = 0x00;
    pub(super) const NULL: u8 = 0x01;
    pub(super) const FALSE: u8 = 0x02;
    pub(super) const TRUE: u8 = 0x03;
    pub(super) const NUMBER: u8 = 0x05;
    pub(super) const STRING: u8 = 0x08;
}

/// Room for the usual key without an allocation.
type Buffer = SmallVec<[u8; 128]>;

/// How a container turns partition keys into effective ones.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum PartitionKeyKind {
    /// One hash of 32 bits and the key itself; containers whose definition names no version.
    HashV1,
    /// One hash of 128 bits.
    HashV2,
    /// Hierarchical keys: one hash of 128 bits for each level.
    MultiHash,
}

/// A container's definition of partition keys.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionKeyDefinition {
    kind: PartitionKeyKind,
    paths: usize,
}

/// A definition of no path at all, or of more than 100.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a partition key has from 1 to {MAX_PATHS} paths, not {0}")]
pub struct PartitionKeyDefinitionError(usize);

/// Where the items of a partition key are.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EpkTarget {
    /// All at one effective partition key: the partition key is complete.
    Point(Epk),
    /// Anywhere between two: the partition key is the beginning of a hierarchical one.
    Range {
        /// The first effective partition key.
        min: Epk,
        /// Beyond the last one.
        max: Epk,
    },
}

impl PartitionKeyDefinition {
    /// Partition keys of so many values.
    ///
    /// # Errors
    ///
    /// [`PartitionKeyDefinitionError`] if there are no paths, or more than 100.
    pub const fn new(
        kind: PartitionKeyKind,
        paths: usize,
    ) -> Result<Self, PartitionKeyDefinitionError> {
        if paths == 0 || paths > MAX_PATHS {
            return Err(PartitionKeyDefinitionError(paths));
        }
        Ok(Self { kind, paths })
    }

    /// How keys become effective ones.
    #[must_use]
    pub const fn kind(&self) -> PartitionKeyKind {
        self.kind
    }

    /// How many values a complete key has.
    #[must_use]
    pub const fn paths(&self) -> usize {
        self.paths
    }

    /// Where the items of this key are; `None` if the key does not fit the definition: it has too
    /// many values, or too few and is not hierarchical.
    ///
    /// The key without any value, of items that were made before their container had a partition
    /// key, is [`Epk::MIN`]; of a hierarchical definition, it is the beginning of every key.
    #[must_use]
    pub fn effective(&self, key: &PartitionKey) -> Option<EpkTarget> {
        let values: Values<'_> = key
            .values()
            .iter()
            .map(PartitionKeyValue::borrowed)
            .collect();
        self.target(&values)
    }

    /// The same for the text of the header; also `None` if that is no partition key.
    #[must_use]
    pub fn effective_of_header(&self, text: &str) -> Option<EpkTarget> {
        self.target(&read(text).ok()?)
    }

    fn target(&self, values: &[Value<'_>]) -> Option<EpkTarget> {
        let complete = values.len() == self.paths;
        let epk = match self.kind {
            PartitionKeyKind::MultiHash if values.len() <= self.paths => levels(values),
            PartitionKeyKind::HashV1 if complete => hash_v1(values),
            PartitionKeyKind::HashV2 if complete => Epk::from_bytes(&hash_v2(values)),
            PartitionKeyKind::HashV1 | PartitionKeyKind::HashV2 if values.is_empty() => Epk::MIN,
            _ => return None,
        };
        if self.kind == PartitionKeyKind::MultiHash && !complete {
            // No level's hash begins with FF, so this is beyond every key that begins like this.
            let max = Epk::from_bytes(&[epk.as_bytes(), &[0xff]].concat());
            return Some(EpkTarget::Range { min: epk, max });
        }
        Some(EpkTarget::Point(epk))
    }
}

fn levels(values: &[Value<'_>]) -> Epk {
    let mut bytes = Buffer::new();
    for value in values {
        bytes.extend_from_slice(&hash_v2(std::slice::from_ref(value)));
    }
    Epk::from_bytes(&bytes)
}

fn hash_v2(values: &[Value<'_>]) -> [u8; 16] {
    let mut bytes = Buffer::new();
    for value in values {
        write_hashed(value, &mut bytes, |text, bytes| {
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0xff);
        });
    }
    let mut hash = murmur3_128(&bytes).to_be_bytes();
    // Leaves room for the end of all ranges, FF.
    hash[0] &= 0x3f;
    hash
}

fn hash_v1(values: &[Value<'_>]) -> Epk {
    let mut hashed = Buffer::new();
    for value in values {
        write_hashed(value, &mut hashed, |text, bytes| {
            write_beginning(text, bytes);
            bytes.push(0x00);
        });
    }
    let mut bytes = Buffer::new();
    write_ordered(f64::from(murmur3_32(&hashed)), &mut bytes);
    for value in values {
        match value {
            Value::String(text) => write_shifted(text, &mut bytes),
            Value::Number(number) => write_ordered(number.get(), &mut bytes),
            Value::Bool(_) | Value::Null | Value::Undefined => {
                write_hashed(value, &mut bytes, |_, _| {});
            }
        }
    }
    Epk::from_bytes(&bytes)
}

/// A value as it is hashed.
fn write_hashed(value: &Value<'_>, bytes: &mut Buffer, write_text: impl FnOnce(&str, &mut Buffer)) {
    match value {
        Value::Undefined => bytes.push(marker::UNDEFINED),
        Value::Null => bytes.push(marker::NULL),
        Value::Bool(false) => bytes.push(marker::FALSE),
        Value::Bool(true) => bytes.push(marker::TRUE),
        Value::Number(number) => {
            bytes.push(marker::NUMBER);
            bytes.extend_from_slice(&number.get().to_le_bytes());
        }
        Value::String(text) => {
            bytes.push(marker::STRING);
            write_text(text, bytes);
        }
    }
}

/// As much of a string as version 1 looks at. The service cuts between UTF-16 code units: of a
/// character of two units that is cut in half it makes a replacement character.
fn write_beginning(text: &str, bytes: &mut Buffer) {
    let mut left = V1_UNITS;
    for (at, character) in text.char_indices() {
        let units = character.len_utf16();
        if units > left {
            bytes.extend_from_slice(&text.as_bytes()[..at]);
            if left > 0 {
                bytes.extend_from_slice("\u{fffd}".as_bytes());
            }
            return;
        }
        left -= units;
    }
    bytes.extend_from_slice(text.as_bytes());
}

/// A string as version 1 writes it: each byte one more, so that zero is left to end it. If it is
/// longer than that, there is one byte more and no end.
fn write_shifted(text: &str, bytes: &mut Buffer) {
    bytes.push(marker::STRING);
    let mut beginning = Buffer::new();
    write_beginning(text, &mut beginning);
    let written = beginning.iter().take(V1_BYTES + 1);
    // UTF-8 has no byte FF, so nothing wraps.
    bytes.extend(written.map(|byte| byte.wrapping_add(1)));
    if beginning.len() <= V1_BYTES {
        bytes.push(0x00);
    }
}

/// A number as version 1 writes it: shorter where its last bits are zero, and in the order of the
/// numbers. First eight bits, then seven to a byte, whose lowest bit says whether more follow.
fn write_ordered(number: f64, bytes: &mut Buffer) {
    const SIGN: u64 = 1 << 63;
    let bits = number.to_bits();
    let ordered = if bits & SIGN == 0 {
        bits | SIGN
    } else {
        bits.wrapping_neg()
    };
    bytes.push(marker::NUMBER);
    let [first, ..] = ordered.to_be_bytes();
    bytes.push(first);
    let mut rest = ordered << 8;
    loop {
        let [next, ..] = rest.to_be_bytes();
        rest <<= 7;
        if rest == 0 {
            bytes.push(next & 0xfe);
            return;
        }
        bytes.push(next | 0x01);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ordered(number: f64) -> Vec<u8> {
        let mut bytes = Buffer::new();
        write_ordered(number, &mut bytes);
        bytes.to_vec()
    }

    proptest! {
        #[test]
        fn the_order_of_numbers_is_that_of_their_bytes(a in any::<f64>(), b in any::<f64>()) {
            prop_assert_eq!(a.partial_cmp(&b), Some(ordered(a).cmp(&ordered(b))));
        }
    }
}
