//! Keys that fit their container's definition, keys that do not, and the order of all.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use cosmos_core::PartitionKey;
use cosmos_core::partition::PartitionKeyKind::{HashV1, HashV2, MultiHash};
use cosmos_core::partition::{Epk, EpkTarget, PartitionKeyDefinition, PartitionKeyDefinitionError};
use cosmos_core::requests::PartitionKeyValue;
use proptest::prelude::*;

use crate::{definition, epk, point};

#[test]
fn a_key_that_does_not_fit_the_definition_has_no_place() {
    for (kind, paths, header) in [
        (HashV1, 1, r#"["a","b"]"#),
        (HashV2, 1, r#"["a","b"]"#),
        (HashV2, 2, r#"["a"]"#),
        (HashV1, 3, r#"["a","b"]"#),
        (MultiHash, 2, r#"["a","b","c"]"#),
    ] {
        let key: PartitionKey = header.parse().unwrap();
        assert_eq!(definition(kind, paths).effective(&key), None, "{header}");
    }
}

#[test]
fn the_beginning_of_a_hierarchical_key_is_a_range() {
    let three = definition(MultiHash, 3);
    let beginning = "22E342F38A486A088463DFF7838A5963";
    let range = |min: &str| {
        let max = epk(&format!("{min}FF"));
        Some(EpkTarget::Range { min: epk(min), max })
    };
    assert_eq!(three.effective(&"redmond".into()), range(beginning));
    let two = format!("{beginning}19C08621B135968252FB34B4CF66F811");
    assert_eq!(three.effective(&("redmond", 5).into()), range(&two));
    assert_eq!(
        three.effective(&("redmond", 5, false).into()),
        Some(EpkTarget::Point(epk(&format!(
            "{two}2FE1BE91E90A3439635E0E9E37361EF2"
        ))))
    );
}

#[test]
fn a_key_without_values_is_the_first_of_all_or_the_beginning_of_every_hierarchical_one() {
    let key = PartitionKey::empty();
    for kind in [HashV1, HashV2] {
        for paths in [1, 2] {
            let target = definition(kind, paths).effective(&key);
            assert_eq!(target, Some(EpkTarget::Point(Epk::MIN)));
        }
    }
    let all = EpkTarget::Range {
        min: Epk::MIN,
        max: Epk::MAX,
    };
    assert_eq!(definition(MultiHash, 1).effective(&key), Some(all));
}

#[test]
fn null_undefined_and_the_empty_key_are_three_different_keys() {
    for kind in [HashV1, HashV2] {
        let of = |header| point(definition(kind, 1), header);
        assert_ne!(of("[null]"), of("[{}]"));
        assert_ne!(of("[{}]"), of("[]"));
        assert_ne!(of("[0]"), of("[-0.0]"), "and zero has two");
        assert_eq!(of("[1]"), of("[1.0]"), "while one has not");
    }
}

#[test]
fn a_definition_has_from_1_to_100_paths() {
    for kind in [HashV1, HashV2, MultiHash] {
        for paths in [1, 100] {
            let definition = definition(kind, paths);
            assert_eq!((definition.kind(), definition.paths()), (kind, paths));
        }
        for paths in [0, 101, usize::MAX] {
            let error: PartitionKeyDefinitionError =
                PartitionKeyDefinition::new(kind, paths).unwrap_err();
            assert!(error.to_string().contains(&paths.to_string()));
        }
    }
}

#[test]
fn a_bound_that_is_padded_with_zeros_is_the_same_bound() {
    let short = "06AB34CFE4E482236BCACBBF50E234AB";
    let long = format!("{short}{}", "00".repeat(16));
    assert_eq!(epk(short), epk(&long));
    assert_eq!(epk(short).cmp(&epk(&long)), Ordering::Equal);
    assert_eq!(hash(&epk(short)), hash(&epk(&long)));
    assert_eq!(epk("0000"), Epk::MIN);
    let beyond = epk(&format!("{long}01"));
    assert!(epk(short) < beyond && epk(&long) < beyond);
    assert_ne!(epk(short), beyond);
    assert_ne!(hash(&epk(short)), hash(&beyond));
    assert_eq!(
        epk(&long).to_string(),
        long,
        "and is written as it was read"
    );
}

fn hash(epk: &Epk) -> u64 {
    let mut hasher = DefaultHasher::new();
    epk.hash(&mut hasher);
    hasher.finish()
}

fn value() -> impl Strategy<Value = PartitionKeyValue> {
    prop_oneof![
        any::<String>().prop_map(PartitionKeyValue::from),
        "[a😀é]{90,110}".prop_map(PartitionKeyValue::from),
        any::<i64>().prop_map(PartitionKeyValue::from),
        any::<f64>().prop_filter_map("finite", |number| number.try_into().ok()),
        any::<bool>().prop_map(PartitionKeyValue::from),
        Just(PartitionKeyValue::Null),
        Just(PartitionKeyValue::Undefined),
    ]
}

fn keys() -> impl Strategy<Value = Vec<PartitionKeyValue>> {
    prop::collection::vec(value(), 0..5)
}

/// Few different bytes, so that texts share beginnings and end in zeros.
fn bound() -> impl Strategy<Value = String> {
    "(00|01|7F|FF){0,40}"
}

proptest! {
    #[test]
    fn any_key_has_a_place_before_the_end_or_none(values in keys(), paths in 1..5_usize) {
        let length = values.len();
        let key: PartitionKey = values.into_iter().collect();
        for kind in [HashV1, HashV2, MultiHash] {
            match definition(kind, paths).effective(&key) {
                Some(EpkTarget::Point(epk)) => {
                    prop_assert!(length == paths || length == 0);
                    prop_assert!(epk < Epk::MAX);
                    let read = Epk::parse(&epk.to_string());
                    prop_assert!(epk.as_bytes().len() > 512 || read == Ok(epk));
                }
                Some(EpkTarget::Range { min, max }) => {
                    prop_assert!(kind == MultiHash && length < paths);
                    prop_assert!(min < max && max <= Epk::MAX);
                }
                Some(other) => prop_assert!(false, "{other:?}"),
                None => prop_assert!(length > paths || (kind != MultiHash && length != paths)),
            }
        }
    }

    #[test]
    fn every_key_lies_in_the_range_of_its_beginning(values in prop::collection::vec(value(), 3)) {
        let three = definition(MultiHash, 3);
        let key: PartitionKey = values.iter().cloned().collect();
        let Some(EpkTarget::Point(epk)) = three.effective(&key) else {
            return Err(TestCaseError::fail("complete"));
        };
        for length in 0..3 {
            let beginning: PartitionKey = values[..length].iter().cloned().collect();
            let Some(EpkTarget::Range { min, max }) = three.effective(&beginning) else {
                return Err(TestCaseError::fail("incomplete"));
            };
            prop_assert!(min <= epk && epk < max);
        }
    }

    #[test]
    fn the_order_is_that_of_the_padded_bytes(a in bound(), b in bound(), c in bound()) {
        let padded = |hex: &str| format!("{hex:0<80}");
        let [x, y, z] = [&a, &b, &c].map(|hex| epk(hex));
        prop_assert_eq!(x.cmp(&y), padded(&a).cmp(&padded(&b)));
        prop_assert_eq!(x.cmp(&y), y.cmp(&x).reverse());
        prop_assert_eq!(x == y, x.cmp(&y) == Ordering::Equal);
        if x == y {
            prop_assert_eq!(hash(&x), hash(&y));
        }
        if x <= y && y <= z {
            prop_assert!(x <= z);
        }
        prop_assert_eq!(x.to_string(), a);
    }

    #[test]
    fn no_text_panics(text in "\\PC*", hex in "[0-9a-fA-F]{0,1030}") {
        let _ = Epk::parse(&text);
        let read = Epk::parse(&hex);
        prop_assert_eq!(read.is_ok(), hex.len() % 2 == 0 && hex.len() <= 1024);
    }
}
