//! Whatever a server sends: never a panic, and never a topology that cannot be routed by. In a
//! process of its own, because damaged names are regions, too, and there is room for few.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::HashSet;

use cosmos_core::{Access, Endpoint, Region, Topology};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const DOCUMENT: &str = r#"{"id":"acct","_self":"","_rid":"acct.documents.azure.com",
    "readableLocations":[
        {"name":"East US","databaseAccountEndpoint":"https://acct-eastus.documents.azure.com:443/"},
        {"name":"West US 3","databaseAccountEndpoint":"https://acct-westus3.documents.azure.com/"}],
    "writableLocations":[
        {"name":"East US","databaseAccountEndpoint":"https://acct-eastus.documents.azure.com:443/"}],
    "enableMultipleWriteLocations":false,"enablePerPartitionFailoverBehavior":true}"#;

/// What must hold for anything that was accepted.
fn assert_routable(topology: &Topology) -> Result<(), TestCaseError> {
    for access in [Access::Read, Access::Write] {
        let order = topology.order(access);
        prop_assert!(!order.is_empty());
        prop_assert!(!order.contains(&Region::GLOBAL));
        let distinct: HashSet<&Region> = order.iter().collect();
        prop_assert_eq!(distinct.len(), order.len());
        for region in order {
            prop_assert!(topology.lists(*region));
            prop_assert!(topology.endpoint(*region, access).is_some());
        }
    }
    prop_assert!(topology.hub().is_some_and(|hub| topology.lists(hub)));
    prop_assert!(
        topology
            .last_resort()
            .is_some_and(|last| topology.lists(last))
    );
    Ok(())
}

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    let global = Endpoint::parse("https://acct.documents.azure.com").unwrap();
    let preferred = ["West US 3", "Japan East", "East US"].map(|name| Region::named(name).unwrap());
    if let Ok(topology) = Topology::parse(bytes, &global, &preferred) {
        assert_routable(&topology)?;
        let before = Topology::fixed(&global);
        assert_routable(&topology.succeeding(&before))?;
    }
    Ok(())
}

#[derive(Clone, Debug)]
enum Mutation {
    Replace(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize),
    Truncate(Index),
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let len = bytes.len();
        match self {
            Self::Replace(at, byte) => bytes[at.index(len)] = *byte,
            Self::Insert(at, more) => {
                let at = at.index(len);
                bytes.splice(at..at, more.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = at.index(len);
                bytes.drain(at..len.min(at + count));
            }
            Self::Repeat(at, count) => {
                let at = at.index(len);
                let part = bytes[at..len.min(at + count)].to_vec();
                bytes.splice(at..at, part);
            }
            Self::Truncate(at) => bytes.truncate(at.index(len)),
        }
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let piece = select(vec![
        "{", "}", "[", "]", ",", "\"", "null", "[]", "{}", "\\u0000", "1e999",
    ]);
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (any::<Index>(), piece).prop_map(|(at, text)| Mutation::Insert(at, text.into())),
        (any::<Index>(), 1..40_usize).prop_map(|(at, count)| Mutation::Remove(at, count)),
        (any::<Index>(), 1..200_usize).prop_map(|(at, count)| Mutation::Repeat(at, count)),
        any::<Index>().prop_map(Mutation::Truncate),
    ]
}

/// Entries of a list, good and bad.
fn entries() -> impl Strategy<Value = String> {
    let entry = select(vec![
        r#"{"name":"East US","databaseAccountEndpoint":"https://east/"}"#,
        r#"{"name":"west-us_3","databaseAccountEndpoint":"https://west/"}"#,
        r#"{"name":"North Europe","databaseAccountEndpoint":"https://north/"}"#,
        "null",
        "{}",
        "7",
        r#"{"name":"","databaseAccountEndpoint":"https://a/"}"#,
        r#"{"name":"Japan East","databaseAccountEndpoint":"://"}"#,
    ]);
    prop::collection::vec(entry, 0..5).prop_map(|entries| format!("[{}]", entries.join(",")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes)?;
    }

    #[test]
    fn a_damaged_document_is_read_or_refused(
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let mut bytes = DOCUMENT.as_bytes().to_vec();
        for mutation in &mutations {
            mutation.apply(&mut bytes);
        }
        check(&bytes)?;
    }

    #[test]
    fn lists_with_bad_entries_give_routable_topologies_or_none(
        readable in prop_oneof![entries(), Just("null".to_owned())],
        writable in prop_oneof![entries(), Just("null".to_owned())],
        flag in select(vec!["true", "false", "null", "1"]),
    ) {
        check(format!(
            r#"{{"readableLocations":{readable},"writableLocations":{writable},
                "enableMultipleWriteLocations":{flag}}}"#
        ).as_bytes())?;
    }
}
