//! The traps of a container's document.

use cosmos_core::partition::{ContainerError, ContainerProperties, PartitionKeyKind};
use proptest::prelude::*;

use PartitionKeyKind::{HashV1, HashV2, MultiHash};

fn read(key: &str) -> Result<Option<(PartitionKeyKind, usize)>, ContainerError> {
    let document = format!(
        r#"{{"id":"carts","_rid":"AbCdEfGhIjk=","indexingPolicy":{{"automatic":true}},{key}
            "_self":"dbs/AbCdEf==/colls/AbCdEfGhIjk=/","_ts":1700000000,"geospatialConfig":[]}}"#
    );
    let properties = ContainerProperties::parse(document.as_bytes())?;
    assert_eq!(properties.rid(), "AbCdEfGhIjk=");
    let definition = properties.definition();
    Ok(definition.map(|definition| (definition.kind(), definition.paths())))
}

#[test]
fn kind_version_and_paths_say_how_keys_are_hashed() {
    for (key, expected) in [
        (r#"{"paths":["/a"],"kind":"Hash","version":2}"#, (HashV2, 1)),
        (r#"{"paths":["/a"],"kind":"Hash","version":1}"#, (HashV1, 1)),
        (
            r#"{"paths":["/a","/b/c","/d"],"kind":"MultiHash","version":2}"#,
            (MultiHash, 3),
        ),
        (r#"{"paths":["/a"],"version":2,"new":[{}]}"#, (HashV2, 1)),
        (r#"{"paths":["/a"],"kind":"hash","version":2}"#, (HashV2, 1)),
        (
            r#"{"paths":["/a"],"kind":"Hash","version":2,"systemKey":false}"#,
            (HashV2, 1),
        ),
    ] {
        let found = read(&format!(r#""partitionKey":{key},"#)).unwrap();
        assert_eq!(found, Some(expected), "{key}");
    }
}

#[test]
fn a_version_that_is_missing_is_version_1() {
    for key in [
        r#"{"paths":["/a"],"kind":"Hash"}"#,
        r#"{"paths":["/a"],"kind":"Hash","version":null}"#,
        r#"{"paths":["/a"]}"#,
    ] {
        let found = read(&format!(r#""partitionKey":{key},"#)).unwrap();
        assert_eq!(found, Some((HashV1, 1)), "{key}");
    }
    let hierarchical = r#""partitionKey":{"paths":["/a","/b"],"kind":"MultiHash"},"#;
    assert_eq!(
        read(hierarchical).unwrap(),
        Some((MultiHash, 2)),
        "but hierarchical keys have only one way"
    );
}

#[test]
fn a_container_without_a_known_way_to_hash_has_no_definition() {
    for key in [
        "",
        r#""partitionKey":null,"#,
        r#""partitionKey":{},"#,
        r#""partitionKey":{"paths":null,"kind":"Hash","version":2},"#,
        r#""partitionKey":{"paths":[],"kind":"Hash","version":2},"#,
        r#""partitionKey":{"paths":["/_partitionKey"],"kind":"Hash","version":2,"systemKey":true},"#,
        r#""partitionKey":{"paths":["/a"],"kind":"Range"},"#,
        r#""partitionKey":{"paths":["/a"],"kind":"Range","version":2},"#,
        r#""partitionKey":{"paths":["/a"],"kind":"Hash","version":3},"#,
        r#""partitionKey":{"paths":["/a"],"kind":"Hash","version":0},"#,
        r#""partitionKey":{"paths":["/a"],"kind":"MultiHash","version":1},"#,
        r#""partitionKey":{"paths":["/a"],"kind":"MultiHash","version":3},"#,
    ] {
        assert_eq!(read(key).unwrap(), None, "{key}");
    }
}

#[test]
fn more_than_100_paths_are_an_error() {
    let paths = |count| {
        let paths = vec!["\"/a\""; count].join(",");
        read(&format!(
            r#""partitionKey":{{"paths":[{paths}],"version":2}},"#
        ))
    };
    assert_eq!(paths(100).unwrap(), Some((HashV2, 100)));
    assert!(matches!(paths(101), Err(ContainerError::Definition(_))));
    assert!(matches!(paths(10_000), Err(ContainerError::Definition(_))));
}

#[test]
fn a_text_that_is_no_document_is_an_error() {
    for text in [
        "",
        "null",
        "[]",
        "42",
        "<html></html>",
        r#"{"_rid":"a""#,
        r#"["a",{"paths":["/a"]}]"#,
        r#"{"_rid":7}"#,
        r#"{"_rid":"a","partitionKey":[["/a"],"Hash",2]}"#,
        r#"{"_rid":"a","partitionKey":{"paths":[1]}}"#,
        r#"{"_rid":"a","partitionKey":{"paths":["/a"],"version":"two"}}"#,
        r#"{"_rid":"a","partitionKey":{"paths":["/a"],"version":-1}}"#,
    ] {
        let read = ContainerProperties::parse(text.as_bytes());
        assert!(matches!(read, Err(ContainerError::Json(_))), "{text}");
    }
    assert!(ContainerProperties::parse(b"{\"_rid\":\"\xff\"}").is_err());
}

#[test]
fn a_container_without_an_identity_is_an_error() {
    let long = |length| format!(r#"{{"_rid":"{}"}}"#, "r".repeat(length));
    for text in ["{}", r#"{"_rid":null}"#, r#"{"_rid":""}"#, &long(256)] {
        let read = ContainerProperties::parse(text.as_bytes());
        assert!(matches!(read, Err(ContainerError::Rid)), "{text}");
    }
    let read = ContainerProperties::parse(long(255).as_bytes()).unwrap();
    assert_eq!(read.rid().len(), 255);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        key in "[\\[\\]{},:\"a-z0-9]{0,40}",
    ) {
        let _ = ContainerProperties::parse(&bytes);
        let text = format!(r#"{{"_rid":"a","partitionKey":{key}}}"#);
        let _ = ContainerProperties::parse(text.as_bytes());
    }
}
