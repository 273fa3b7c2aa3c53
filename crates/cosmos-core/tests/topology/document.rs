//! The traps of the account document.

use cosmos_core::{Access, TopologyError};

use crate::{GLOBAL, account, document, endpoint, location, read, reads, region, writes};

#[test]
fn a_text_that_is_no_document_is_an_error() {
    let whole = document(&["East US"], &["East US"], false);
    for text in [
        "",
        " ",
        "<html><body>503 Service Unavailable</body></html>",
        "\"East US\"",
        "42",
        "{}}",
        &whole[..whole.len() - 1],
        &whole[..whole.len() / 2],
        &format!("{whole}{whole}"),
    ] {
        assert!(
            matches!(read(text, &[]), Err(TopologyError::Json(_))),
            "{text:?}"
        );
    }
}

#[test]
fn bytes_that_are_no_text_are_an_error() {
    let global = endpoint(GLOBAL);
    for bytes in [
        &b"\xff\xfe{\x00}\x00"[..],
        b"{\"id\":\"\xff\"}",
        b"\x1f\x8b\x08\x00",
    ] {
        let read = cosmos_core::Topology::parse(bytes, &global, &[]);
        assert!(read.is_err(), "{bytes:?}");
    }
}

#[test]
fn a_document_without_a_region_is_an_error_even_if_it_is_whole() {
    for text in [
        "null",
        "{}",
        r#"{"id":"acct"}"#,
        r#"{"readableLocations":null,"writableLocations":null}"#,
        r#"{"readableLocations":[],"writableLocations":[]}"#,
        r#"{"readableLocations":[null],"writableLocations":[{}]}"#,
        r#"{"readableLocations":[{"name":"","databaseAccountEndpoint":""}]}"#,
        r#"{"ReadableLocations":[{"name":"East US","databaseAccountEndpoint":"https://a/"}]}"#,
    ] {
        assert!(
            matches!(read(text, &[]), Err(TopologyError::Empty)),
            "{text}"
        );
    }
}

#[test]
fn a_list_is_no_document_whatever_it_holds() {
    for text in [
        "[]".to_owned(),
        format!("[{}]", document(&["East US"], &["East US"], false)),
        format!("[[{0}],[{0}],true]", location("East US")),
    ] {
        let Err(TopologyError::Json(problem)) = read(&text, &[]) else {
            panic!("{text}");
        };
        assert!(
            problem.to_string().contains("expected an object"),
            "{problem}"
        );
    }
}

#[test]
fn wrong_types_are_an_error_rather_than_a_shorter_list() {
    let east = location("East US");
    for text in [
        format!(r#"{{"readableLocations":[{east},"West US 3"]}}"#),
        format!(r#"{{"readableLocations":[{east},7]}}"#),
        format!(r#"{{"readableLocations":[{east},["West US 3","https://b/"]]}}"#),
        format!(
            r#"{{"readableLocations":[{east},{{"name":1,"databaseAccountEndpoint":"https://b/"}}]}}"#
        ),
        format!(r#"{{"readableLocations":[{east}],"writableLocations":"East US"}}"#),
        format!(r#"{{"readableLocations":[{east}],"writableLocations":{east}}}"#),
        format!(r#"{{"readableLocations":[{east}],"enableMultipleWriteLocations":"true"}}"#),
        format!(r#"{{"readableLocations":[{east}],"enablePerPartitionFailoverBehavior":1}}"#),
    ] {
        assert!(
            matches!(read(&text, &[]), Err(TopologyError::Json(_))),
            "{text}"
        );
    }
}

#[test]
fn entries_without_a_usable_name_or_endpoint_are_skipped() {
    let good = location("West US 3");
    for bad in [
        "null",
        "{}",
        r#"{"name":"East US"}"#,
        r#"{"databaseAccountEndpoint":"https://a/"}"#,
        r#"{"name":null,"databaseAccountEndpoint":"https://a/"}"#,
        r#"{"name":"East US","databaseAccountEndpoint":null}"#,
        r#"{"name":"","databaseAccountEndpoint":"https://a/"}"#,
        r#"{"name":" \t","databaseAccountEndpoint":"https://a/"}"#,
        r#"{"name":"-_ ","databaseAccountEndpoint":"https://a/"}"#,
        r#"{"name":"East US","databaseAccountEndpoint":""}"#,
        r#"{"name":"East US","databaseAccountEndpoint":"  "}"#,
        r#"{"name":"East US","databaseAccountEndpoint":"not a url"}"#,
        r#"{"name":"East US","databaseAccountEndpoint":"acct-eastus:443"}"#,
        r#"{"name":"East US","databaseAccountEndpoint":"ftp://a/"}"#,
        r#"{"name":"East US","databaseAccountEndpoint":"https://user:key@a/"}"#,
    ] {
        let text = format!(r#"{{"readableLocations":[{bad},{good}],"writableLocations":[{bad}]}}"#);
        let topology = read(&text, &[]).unwrap();
        assert_eq!(reads(&topology), ["westus3"], "{bad}");
        assert_eq!(writes(&topology), ["westus3"], "{bad}");
        assert_eq!(topology.hub(), Some(region("West US 3")), "{bad}");
    }
}

#[test]
fn a_name_too_long_for_a_region_is_skipped() {
    let endless = "x".repeat(65);
    let topology = account(&[&endless, "East US"], &["East US"], false, &[]);
    assert_eq!(reads(&topology), ["eastus"]);
}

#[test]
fn unknown_fields_are_ignored_and_missing_flags_are_off() {
    let text = format!(
        r#"{{"id":"acct-eastus","_rid":"x","media":"//media/","unheardOf":{{"a":[1,{{}}]}},
            "userConsistencyPolicy":{{"defaultConsistencyLevel":"Session"}},
            "queryEngineConfiguration":"{{}}","readableLocations":[{0}],"writableLocations":[{0}]}}"#,
        r#"{"name":"East US","databaseAccountEndpoint":"https://a/","priority":0}"#
    );
    let topology = read(&text, &[]).unwrap();
    assert_eq!(reads(&topology), ["eastus"]);
    assert!(!topology.is_multi_write());
    assert!(!topology.has_per_partition_failover());
}

#[test]
fn flags_are_read_and_null_counts_as_off() {
    let flags = |multi: &str, partition: &str| {
        let text = format!(
            r#"{{"readableLocations":[{}],"enableMultipleWriteLocations":{multi},
                "enablePerPartitionFailoverBehavior":{partition}}}"#,
            location("East US")
        );
        let topology = read(&text, &[]).unwrap();
        (
            topology.is_multi_write(),
            topology.has_per_partition_failover(),
        )
    };
    assert_eq!(flags("true", "false"), (true, false));
    assert_eq!(flags("false", "true"), (false, true));
    assert_eq!(flags("null", "null"), (false, false));
}

#[test]
fn a_region_listed_twice_counts_once_with_its_first_endpoint() {
    let text = r#"{"readableLocations":[
            {"name":"East US","databaseAccountEndpoint":"https://first/"},
            {"name":"West US 3","databaseAccountEndpoint":"https://west/"},
            {"name":"east-us","databaseAccountEndpoint":"https://second/"}]}"#;
    let topology = read(text, &[]).unwrap();
    assert_eq!(reads(&topology), ["eastus", "westus3"]);
    assert_eq!(
        topology.endpoint(region("East US"), Access::Read),
        Some(&endpoint("https://first/"))
    );
}

#[test]
fn the_default_consistency_is_session_unless_the_document_says_otherwise() {
    let with = |policy: &str| {
        let document = document(&["eastus"], &["eastus"], false);
        let document = document.replacen('{', &format!("{{{policy}"), 1);
        read(&document, &[]).unwrap().has_session_consistency()
    };
    assert!(with(""));
    assert!(with(r#""userConsistencyPolicy":null,"#));
    assert!(with(r#""userConsistencyPolicy":{},"#));
    assert!(with(
        r#""userConsistencyPolicy":{"defaultConsistencyLevel":"session"},"#
    ));
    for level in ["Strong", "BoundedStaleness", "ConsistentPrefix", "Eventual"] {
        let policy = format!(r#""userConsistencyPolicy":{{"defaultConsistencyLevel":"{level}"}},"#);
        assert!(!with(&policy), "{level}");
    }
}
