//! Partition keys: what stands in the header, and back.
#![allow(missing_docs, clippy::unwrap_used)]

use cosmos_core::requests::{Number, PartitionKey, PartitionKeyError, PartitionKeyValue};
use proptest::prelude::*;

#[test]
fn keys_are_json_arrays_in_ascii() {
    for (key, expected) in [
        (PartitionKey::from("a"), r#"["a"]"#),
        (
            PartitionKey::from(String::from("日本")),
            r#"["\u65e5\u672c"]"#,
        ),
        (PartitionKey::from("😀"), r#"["\ud83d\ude00"]"#),
        (
            PartitionKey::from("\"\\\n\u{7f}\0"),
            r#"["\"\\\u000a\u007f\u0000"]"#,
        ),
        (PartitionKey::from(""), r#"[""]"#),
        (PartitionKey::from(true), "[true]"),
        (PartitionKey::from(-5), "[-5]"),
        (PartitionKey::from(u64::MAX), "[1.8446744073709552e19]"),
        (
            PartitionKey::from(9_007_199_254_740_993_i64),
            "[9007199254740992]",
        ),
        (PartitionKey::try_from(0.1).unwrap(), "[0.1]"),
        (PartitionKey::try_from(-0.0).unwrap(), "[-0]"),
        (PartitionKey::try_from(1e300).unwrap(), "[1e300]"),
        (PartitionKey::try_from(5e-324).unwrap(), "[5e-324]"),
        (PartitionKey::null(), "[null]"),
        (PartitionKey::undefined(), "[{}]"),
        (PartitionKey::empty(), "[]"),
        (PartitionKey::from(("tenant", 7)), r#"["tenant",7]"#),
        (
            PartitionKey::from(("a", false, PartitionKeyValue::Null)),
            r#"["a",false,null]"#,
        ),
    ] {
        assert_eq!(key.to_string(), expected);
        assert_eq!(key.to_header_value(), expected);
        assert_eq!(expected.parse::<PartitionKey>().unwrap(), key);
    }
}

#[test]
fn numbers_that_json_cannot_say_are_refused() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(
            PartitionKey::try_from(number),
            Err(PartitionKeyError::NotFinite)
        );
        assert_eq!(
            PartitionKeyValue::try_from(number),
            Err(PartitionKeyError::NotFinite)
        );
        assert_eq!(Number::new(number), Err(PartitionKeyError::NotFinite));
    }
}

#[test]
fn what_is_not_an_array_of_plain_values_is_refused() {
    for text in [
        "",
        "a",
        "\"a\"",
        "{}",
        "[",
        "[a]",
        "[[]]",
        "[{\"a\":1}]",
        "[1e999]",
        "[] []",
    ] {
        let error = text.parse::<PartitionKey>().unwrap_err();
        assert_eq!(error, PartitionKeyError::NotAPartitionKey, "{text}");
    }
    let unescaped = r#" [ "日本" , 1.0 ] "#.parse::<PartitionKey>().unwrap();
    assert_eq!(unescaped, PartitionKey::from(("日本", 1)));
}

fn value() -> impl Strategy<Value = PartitionKeyValue> {
    prop_oneof![
        any::<String>().prop_map(PartitionKeyValue::from),
        any::<i64>().prop_map(PartitionKeyValue::from),
        any::<f64>().prop_filter_map("finite", |number| number.try_into().ok()),
        any::<bool>().prop_map(PartitionKeyValue::from),
        Just(PartitionKeyValue::Null),
        Just(PartitionKeyValue::Undefined),
    ]
}

proptest! {
    #[test]
    fn every_key_comes_back_from_its_header(values in prop::collection::vec(value(), 0..4)) {
        let key: PartitionKey = values.into_iter().collect();
        let header = key.to_header_value();
        let text = header.to_str().unwrap();
        prop_assert!(text.is_ascii());
        prop_assert_eq!(text.parse::<PartitionKey>().unwrap(), key);
    }

    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = text.parse::<PartitionKey>();
    }
}
