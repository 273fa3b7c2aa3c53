//! The account document, read with all its traps: absent lists, blank entries, unknown names.

use serde::Deserialize;

use super::Location;
use crate::json::Object;
use crate::region::MAX_REGIONS;
use crate::{Endpoint, Region};

/// Why a text is no account document to route by.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// The text is not the JSON of an account document (truncated, HTML ...).
    #[error("not an account document")]
    Json(#[source] serde_json::Error),
    /// The document lists no region that could be used.
    #[error("the account document lists no region")]
    Empty,
}

/// What routing needs of the document.
pub(super) struct Document {
    pub(super) readable: Vec<Location>,
    pub(super) writable: Vec<Location>,
    pub(super) multi_write: bool,
    pub(super) per_partition_failover: bool,
    pub(super) session_consistency: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    #[serde(default)]
    readable_locations: Option<RawLocations>,
    #[serde(default)]
    writable_locations: Option<RawLocations>,
    #[serde(default)]
    enable_multiple_write_locations: Option<bool>,
    #[serde(default)]
    enable_per_partition_failover_behavior: Option<bool>,
    #[serde(default)]
    user_consistency_policy: Option<Object<RawConsistency>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawConsistency {
    #[serde(default)]
    default_consistency_level: Option<String>,
}

type RawLocations = Vec<Option<Object<RawLocation>>>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawLocation {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    database_account_endpoint: Option<String>,
}

pub(super) fn read(document: &[u8]) -> Result<Document, TopologyError> {
    let raw: Option<Object<Raw>> = serde_json::from_slice(document).map_err(TopologyError::Json)?;
    let Object(raw) = raw.ok_or(TopologyError::Empty)?;
    let readable = locations(raw.readable_locations);
    let writable = locations(raw.writable_locations);
    if readable.is_empty() && writable.is_empty() {
        return Err(TopologyError::Empty);
    }
    Ok(Document {
        readable,
        writable,
        multi_write: raw.enable_multiple_write_locations.unwrap_or(false),
        per_partition_failover: raw.enable_per_partition_failover_behavior.unwrap_or(false),
        session_consistency: raw
            .user_consistency_policy
            .and_then(|Object(policy)| policy.default_consistency_level)
            .is_none_or(|level| level.eq_ignore_ascii_case("session")),
    })
}

fn locations(raw: Option<RawLocations>) -> Vec<Location> {
    let mut found: Vec<Location> = Vec::new();
    for Object(entry) in raw.into_iter().flatten().flatten().take(MAX_REGIONS) {
        // During a failover the list may hold an entry with a blank name or endpoint.
        let (Some(name), Some(url)) = (entry.name, entry.database_account_endpoint) else {
            continue;
        };
        if name.trim().is_empty() || url.trim().is_empty() {
            continue;
        }
        let (region, endpoint) = match (Region::named(&name), Endpoint::parse(&url)) {
            (Ok(region), Ok(endpoint)) => (region, endpoint),
            (Err(error), _) => {
                tracing::warn!(error = %error, "skipped a region of the account document");
                continue;
            }
            (_, Err(error)) => {
                tracing::warn!(error = %error, "skipped a region of the account document");
                continue;
            }
        };
        if !found.iter().any(|location| location.region == region) {
            found.push(Location { region, endpoint });
        }
    }
    found
}
