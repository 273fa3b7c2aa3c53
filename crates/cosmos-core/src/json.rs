//! Reading documents that a server sent.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A JSON object and nothing else: a derived `Deserialize` takes an array, too, by position.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// A JSON array of which at most `MAX` elements and one more are kept: whoever finds that many
/// knows that there were too many, and no document can make it hold more.
pub(crate) struct Capped<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> Capped<T, MAX> {
    /// The elements, or `None` if there were more than `MAX`.
    pub(crate) fn all(self) -> Option<Vec<T>> {
        (self.0.len() <= MAX).then_some(self.0)
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Capped<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(CappedVisitor(PhantomData))
    }
}

struct CappedVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for CappedVisitor<T, MAX> {
    type Value = Capped<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() <= MAX {
            match array.next_element()? {
                Some(element) => kept.push(element),
                None => return Ok(Capped(kept)),
            }
        }
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Capped(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(json: &str) -> Option<Vec<u32>> {
        serde_json::from_str::<Capped<u32, 3>>(json).unwrap().all()
    }

    #[test]
    fn an_array_that_is_too_long_is_read_to_its_end_and_not_kept() {
        assert_eq!(three("[]"), Some(vec![]));
        assert_eq!(three("[1,2,3]"), Some(vec![1, 2, 3]));
        assert_eq!(three("[1,2,3,4]"), None);
        assert_eq!(three("[1,2,3,4,{\"of\":[\"any kind\"]},6]"), None);
        let cut = serde_json::from_str::<Capped<u32, 3>>("[1,2,3,4,5,");
        assert!(
            cut.is_err(),
            "a document that was cut off is still an error"
        );
    }

    #[test]
    fn an_error_says_what_was_expected() {
        let array = serde_json::from_str::<Capped<u32, 3>>("{}").err().unwrap();
        assert!(array.to_string().contains("expected an array"), "{array}");
        let object = serde_json::from_str::<Object<()>>("[]").err().unwrap();
        assert!(
            object.to_string().contains("expected an object"),
            "{object}"
        );
    }
}
