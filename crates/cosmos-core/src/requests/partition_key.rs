//! Partition keys, as the service reads them from a header.

use std::fmt::{self, Write};
use std::str::FromStr;

use http::HeaderValue;

use super::{Value, read};

/// Why a value is not a partition key.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartitionKeyError {
    /// A number is infinite or not a number, which JSON cannot say.
    #[error("a partition key's number is not finite")]
    NotFinite,
    /// A text is not a JSON array of strings, numbers, booleans, nulls and empty objects.
    #[error("a partition key is not a JSON array of plain values")]
    NotAPartitionKey,
}

/// A number that is neither infinite nor `NaN`.
#[derive(Copy, Clone, Debug, PartialEq, PartialOrd)]
pub struct Number(f64);

impl Number {
    /// # Errors
    ///
    /// [`PartitionKeyError::NotFinite`] for infinities and `NaN`.
    pub fn new(value: f64) -> Result<Self, PartitionKeyError> {
        if value.is_finite() {
            Ok(Self(value))
        } else {
            Err(PartitionKeyError::NotFinite)
        }
    }

    /// The number itself.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// As JSON: whole numbers without a fraction, very large and very small ones with an exponent.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if size == 0.0 || (1e-6..1e17).contains(&size) {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:e}", self.0)
        }
    }
}

/// One value of a partition key.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionKeyValue {
    /// A string.
    String(String),
    /// A number; the service knows only double precision.
    Number(Number),
    /// A boolean.
    Bool(bool),
    /// A property that is there and null.
    Null,
    /// A property that is not there.
    Undefined,
}

impl PartitionKeyValue {
    fn write(&self, json: &mut impl Write) -> fmt::Result {
        match self {
            Self::String(text) => write_ascii(json, text),
            Self::Number(number) => write!(json, "{number}"),
            Self::Bool(value) => write!(json, "{value}"),
            Self::Null => json.write_str("null"),
            Self::Undefined => json.write_str("{}"),
        }
    }
}

/// Which logical partition a request is for: one value, or several if the container's key is
/// hierarchical.
///
/// ```
/// use cosmos_core::requests::PartitionKey;
///
/// assert_eq!(PartitionKey::from("日本").to_string(), r#"["\u65e5\u672c"]"#);
/// assert_eq!(PartitionKey::from(("tenant", 7, true)).to_string(), r#"["tenant",7,true]"#);
/// assert_eq!(PartitionKey::try_from(0.5)?.to_string(), "[0.5]");
/// assert_eq!(PartitionKey::undefined().to_string(), "[{}]");
/// # Ok::<(), cosmos_core::requests::PartitionKeyError>(())
/// ```
///
/// Numbers are double-precision: whole numbers beyond 2^53 are rounded, as the service does.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionKey {
    values: Vec<PartitionKeyValue>,
}

impl PartitionKey {
    /// The key of items in containers that were made without one.
    #[must_use]
    pub const fn empty() -> Self {
        Self { values: Vec::new() }
    }

    /// The key of items whose property is null.
    #[must_use]
    pub fn null() -> Self {
        PartitionKeyValue::Null.into()
    }

    /// The key of items that lack the property.
    #[must_use]
    pub fn undefined() -> Self {
        PartitionKeyValue::Undefined.into()
    }

    /// The values, from the first level of the hierarchy on.
    #[must_use]
    pub fn values(&self) -> &[PartitionKeyValue] {
        &self.values
    }

    /// The value of the header `x-ms-documentdb-partitionkey`.
    #[must_use]
    pub fn to_header_value(&self) -> HeaderValue {
        HeaderValue::try_from(self.to_string()).expect("escaped JSON is visible ASCII")
    }
}

/// As a JSON array in ASCII, as it stands in the header.
impl fmt::Display for PartitionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        for (index, value) in self.values.iter().enumerate() {
            if index > 0 {
                f.write_char(',')?;
            }
            value.write(f)?;
        }
        f.write_char(']')
    }
}

/// Reads what stands in the header, escaped or not.
impl FromStr for PartitionKey {
    type Err = PartitionKeyError;

    fn from_str(json: &str) -> Result<Self, Self::Err> {
        let values = read(json)?;
        Ok(values.into_iter().map(PartitionKeyValue::from).collect())
    }
}

impl FromIterator<PartitionKeyValue> for PartitionKey {
    fn from_iter<I: IntoIterator<Item = PartitionKeyValue>>(values: I) -> Self {
        Self {
            values: values.into_iter().collect(),
        }
    }
}

impl From<PartitionKeyValue> for PartitionKey {
    fn from(value: PartitionKeyValue) -> Self {
        Self {
            values: vec![value],
        }
    }
}

impl<A, B> From<(A, B)> for PartitionKey
where
    A: Into<PartitionKeyValue>,
    B: Into<PartitionKeyValue>,
{
    fn from((a, b): (A, B)) -> Self {
        Self {
            values: vec![a.into(), b.into()],
        }
    }
}

impl<A, B, C> From<(A, B, C)> for PartitionKey
where
    A: Into<PartitionKeyValue>,
    B: Into<PartitionKeyValue>,
    C: Into<PartitionKeyValue>,
{
    fn from((a, b, c): (A, B, C)) -> Self {
        Self {
            values: vec![a.into(), b.into(), c.into()],
        }
    }
}

impl From<Value<'_>> for PartitionKeyValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::String(text) => Self::String(text.into_owned()),
            Value::Number(number) => Self::Number(number),
            Value::Bool(value) => Self::Bool(value),
            Value::Null => Self::Null,
            Value::Undefined => Self::Undefined,
        }
    }
}

impl PartitionKeyValue {
    /// The value as if it had been read.
    pub(crate) fn borrowed(&self) -> Value<'_> {
        match self {
            Self::String(text) => Value::String(text.into()),
            Self::Number(number) => Value::Number(*number),
            Self::Bool(value) => Value::Bool(*value),
            Self::Null => Value::Null,
            Self::Undefined => Value::Undefined,
        }
    }
}

/// Conversions of plain values, to a value and to the key that has no other.
macro_rules! from {
    ($($plain:ty: $value:ident => $made:expr;)*) => {$(
        impl From<$plain> for PartitionKeyValue {
            fn from($value: $plain) -> Self {
                $made
            }
        }
        impl From<$plain> for PartitionKey {
            fn from(value: $plain) -> Self {
                PartitionKeyValue::from(value).into()
            }
        }
    )*};
}

from! {
    &str: text => Self::String(text.to_owned());
    &String: text => Self::String(text.clone());
    String: text => Self::String(text);
    bool: value => Self::Bool(value);
    Number: number => Self::Number(number);
    i8: number => Self::Number(Number(number.into()));
    i16: number => Self::Number(Number(number.into()));
    i32: number => Self::Number(Number(number.into()));
    u8: number => Self::Number(Number(number.into()));
    u16: number => Self::Number(Number(number.into()));
    u32: number => Self::Number(Number(number.into()));
    i64: number => Self::Number(Number(rounded(number.into())));
    u64: number => Self::Number(Number(rounded(number.into())));
}

impl TryFrom<f64> for PartitionKeyValue {
    type Error = PartitionKeyError;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Number::new(value).map(Self::Number)
    }
}

impl TryFrom<f64> for PartitionKey {
    type Error = PartitionKeyError;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        PartitionKeyValue::try_from(value).map(Self::from)
    }
}

/// The nearest number that the service knows.
#[allow(clippy::cast_precision_loss)]
fn rounded(number: i128) -> f64 {
    number as f64
}

/// A JSON string of visible ASCII only: headers take nothing else.
fn write_ascii(json: &mut impl Write, text: &str) -> fmt::Result {
    json.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(json, "\\{character}")?,
            ' '..='~' => json.write_char(character)?,
            // Characters beyond the first plane become two escapes.
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(json, "\\u{unit:04x}")?;
                }
            }
        }
    }
    json.write_char('"')
}
