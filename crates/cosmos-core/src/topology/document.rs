//! The account document, read with all its traps: absent lists, blank entries, unknown names.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Location;
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

/// A JSON object and nothing else: a derived `Deserialize` takes an array, too, by position.
struct Object<T>(T);

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
