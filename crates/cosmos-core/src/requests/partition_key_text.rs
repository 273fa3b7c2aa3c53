//! Reading a partition key's header without copying it: every operation on an item is looked up by it.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor};
use smallvec::SmallVec;

use super::{Number, PartitionKeyError};

/// One value of a partition key, as it stands in a text. See
/// [`PartitionKeyValue`](super::PartitionKeyValue).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'t> {
    /// A piece of the text, unless there are escapes in it.
    String(Cow<'t, str>),
    Number(Number),
    Bool(bool),
    Null,
    Undefined,
}

/// The values of a key: one, or up to three levels of a hierarchy.
pub(crate) type Values<'t> = SmallVec<[Value<'t>; 3]>;

/// The values of a partition key's header.
///
/// # Errors
/// [`PartitionKeyError::NotAPartitionKey`].
pub(crate) fn read(json: &str) -> Result<Values<'_>, PartitionKeyError> {
    serde_json::from_str(json)
        .map(|Read(values)| values)
        .map_err(|_| PartitionKeyError::NotAPartitionKey)
}

struct Read<'t>(Values<'t>);

impl<'de> Deserialize<'de> for Read<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfKey;

        impl<'de> Visitor<'de> for OfKey {
            type Value = Read<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of plain values")
            }

            fn visit_seq<A>(self, mut values: A) -> Result<Read<'de>, A::Error>
            where
                A: serde::de::SeqAccess<'de>,
            {
                let mut read = Values::new();
                while let Some(value) = values.next_element()? {
                    read.push(value);
                }
                Ok(Read(read))
            }
        }

        deserializer.deserialize_seq(OfKey)
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfValue)
    }
}

struct OfValue;

impl OfValue {
    fn number<E: Error>(number: f64) -> Result<Value<'static>, E> {
        let unexpected = |_| E::invalid_value(Unexpected::Float(number), &Self);
        Number::new(number).map(Value::Number).map_err(unexpected)
    }
}

impl<'de> Visitor<'de> for OfValue {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number, a boolean, null or {}")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(text.to_owned())))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value<'de>, E> {
        Self::number(number)
    }

    // The service knows only double precision.
    #[allow(clippy::cast_precision_loss)]
    fn visit_u64<E: Error>(self, number: u64) -> Result<Value<'de>, E> {
        Self::number(number as f64)
    }

    #[allow(clippy::cast_precision_loss)]
    fn visit_i64<E: Error>(self, number: i64) -> Result<Value<'de>, E> {
        Self::number(number as f64)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Value<'de>, A::Error> {
        // A number comes as a map, too, if anything in the build turns serde_json's
        // `arbitrary_precision` on: its own type knows which.
        match serde_json::Value::deserialize(MapAccessDeserializer::new(entries))? {
            serde_json::Value::Object(entries) if entries.is_empty() => Ok(Value::Undefined),
            serde_json::Value::Number(number) => Self::number(number.as_f64().unwrap_or(f64::NAN)),
            _ => Err(A::Error::invalid_type(Unexpected::Map, &self)),
        }
    }
}
