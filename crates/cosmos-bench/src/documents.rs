//! What the instant account says, to our stack and to the peers.

use std::fmt::Write as _;

/// The account's global endpoint.
pub(crate) const ENDPOINT: &str = "https://bench.documents.azure.com/";
/// The host of the region that is preferred.
pub(crate) const PREFERRED_HOST: &str = "bench-eastus.documents.azure.com";
/// A key that signs nothing of value.
pub(crate) const KEY: &str =
    "YSBrZXkgdGhhdCBzaWducyBub3RoaW5nIG9mIHZhbHVlLCBidXQgaXMgYXMgbG9uZyBhcyBhIHJlYWwga2V5";
/// The etag of the map of ranges.
pub(crate) const ETAG: &str = "\"ranges-1\"";
/// How many partition key ranges the container has.
pub(crate) const RANGES: u32 = 64;

/// The item.
pub(crate) const ITEM: &str = r#"{"id":"1","pk":"p","city":"Amsterdam","items":3,"_rid":"AAAAAAAAAAABAAAAAAAAAA==","_self":"dbs/AAAAAA==/colls/AAAAAAAAAAA=/docs/AAAAAAAAAAABAAAAAAAAAA==/","_etag":"\"0000-1\"","_attachments":"attachments/","_ts":1700000000}"#;

/// The headers of the answer to a point read.
pub(crate) const ANSWER: [(&str, &str); 14] = [
    ("content-type", "application/json"),
    ("date", "Tue, 14 Nov 2023 22:13:20 GMT"),
    ("etag", "\"0000-1\""),
    ("x-ms-activity-id", "0bb0c1b4-6a0e-4d1c-9d0a-6b1f4c1b7a11"),
    ("x-ms-gatewayversion", "version=2.14.0"),
    ("x-ms-item-lsn", "17"),
    (
        "x-ms-last-state-change-utc",
        "Tue, 14 Nov 2023 20:13:20.000 GMT",
    ),
    ("x-ms-request-charge", "1"),
    (
        "x-ms-resource-quota",
        "documentSize=10240;documentsSize=10485760;documentsCount=-1;",
    ),
    (
        "x-ms-resource-usage",
        "documentSize=0;documentsSize=1;documentsCount=1;",
    ),
    ("x-ms-schemaversion", "1.18"),
    ("x-ms-serviceversion", "version=2.14.0.0"),
    ("x-ms-session-token", "0:-1#17"),
    ("x-ms-transport-request-id", "9"),
];

const ACCOUNT: &str = r#"{
    "_self": "", "id": "bench", "_rid": "bench.documents.azure.com",
    "media": "//media/", "addresses": "//addresses/", "_dbs": "//dbs/",
    "writableLocations": [
        {"name": "East US", "databaseAccountEndpoint": "https://bench-eastus.documents.azure.com:443/"}
    ],
    "readableLocations": [
        {"name": "East US", "databaseAccountEndpoint": "https://bench-eastus.documents.azure.com:443/"},
        {"name": "West US", "databaseAccountEndpoint": "https://bench-westus.documents.azure.com:443/"},
        {"name": "North Europe", "databaseAccountEndpoint": "https://bench-northeurope.documents.azure.com:443/"}
    ],
    "enableMultipleWriteLocations": false,
    "userReplicationPolicy": {"minReplicaSetSize": 3, "maxReplicasetSize": 4},
    "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
    "systemReplicationPolicy": {"minReplicaSetSize": 3, "maxReplicasetSize": 4},
    "readPolicy": {"primaryReadCoefficient": 1, "secondaryReadCoefficient": 1},
    "queryEngineConfiguration": "{}"
}"#;

const DATABASE: &str = r#"{"id": "d", "_rid": "AAAAAA==", "_self": "dbs/AAAAAA==/", "_etag": "\"0000-1\"", "_ts": 1700000000}"#;

const CONTAINER: &str = r#"{
    "id": "c", "_rid": "AAAAAAAAAAA=", "_self": "dbs/AAAAAA==/colls/AAAAAAAAAAA=/", "_etag": "\"0000-1\"", "_ts": 1700000000,
    "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}
}"#;

/// The account document, its regions at these endpoints.
#[must_use]
pub(crate) fn account(endpoints: &[String]) -> String {
    let names = ["eastus", "westus", "northeurope"];
    let regions = names.iter().zip(endpoints);
    regions.fold(ACCOUNT.to_owned(), |text, (name, endpoint)| {
        text.replace(
            &format!("https://bench-{name}.documents.azure.com:443/"),
            endpoint,
        )
    })
}

/// The item, so many bytes long.
#[must_use]
pub(crate) fn padded_item(bytes: usize) -> String {
    const FILL: &str = r#","fill":""}"#;
    let begin = ITEM.trim_end_matches('}');
    let fill = ".".repeat(bytes.saturating_sub(begin.len() + FILL.len()));
    format!(r#"{begin},"fill":"{fill}"}}"#)
}

/// The status and the document of a metadata read; `unchanged` if the reader has the map already.
#[must_use]
pub(crate) fn metadata(path: &str, unchanged: bool) -> (u16, String) {
    let parts = path.split('/').filter(|part| !part.is_empty()).count();
    match parts {
        0 => (200, ACCOUNT.to_owned()),
        2 => (200, DATABASE.to_owned()),
        4 => (200, CONTAINER.to_owned()),
        _ if unchanged => (304, String::new()),
        _ => (200, ranges()),
    }
}

/// The map: the space of hashes in parts of the same size.
fn ranges() -> String {
    let bound = |number: u32| match number {
        0 => String::new(),
        RANGES => "FF".to_owned(),
        number => format!("{number:02X}"),
    };
    let mut text =
        format!(r#"{{"_rid": "AAAAAAAAAAA=", "_count": {RANGES}, "PartitionKeyRanges": ["#);
    for number in 0..RANGES {
        let comma = if number == 0 { "" } else { "," };
        let (min, max) = (bound(number), bound(number + 1));
        // Writing into a string does not fail.
        let _ = write!(
            text,
            r#"{comma}{{"id": "{number}", "_rid": "AAAAAAAAAAACAAAAAAAAUA==", "minInclusive": "{min}", "maxExclusive": "{max}", "parents": [], "status": "online"}}"#
        );
    }
    text.push_str("]}");
    text
}
