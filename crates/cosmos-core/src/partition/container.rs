//! What a container's document says about its partition keys.
//!
//! A wrong guess puts keys into wrong ranges, so whatever is not known to be hashed in one of the
//! known ways has no definition: operations on such a container go on without a partition.

use serde::Deserialize;

use super::key::MAX_PATHS;
use super::{PartitionKeyDefinition, PartitionKeyDefinitionError, PartitionKeyKind};
use crate::json::{Capped, Object};

/// The most bytes of a resource id; the service's have a few dozen.
const MAX_RID: usize = 255;

/// What is read of a container's document, the answer to `GET /dbs/{db}/colls/{container}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerProperties {
    rid: Box<str>,
    definition: Option<PartitionKeyDefinition>,
}

/// Why a text is no document of a container.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// The text is not the JSON of a container (truncated, HTML ...).
    #[error("not a container's document")]
    Json(#[source] serde_json::Error),
    /// There is no resource id, or one that is longer than 255 bytes.
    #[error("a container's document without a resource id")]
    Rid,
    /// The partition key has more than 100 paths.
    #[error("a container's document with an impossible partition key")]
    Definition(#[source] PartitionKeyDefinitionError),
}

#[derive(Deserialize)]
struct Raw {
    #[serde(rename = "_rid", default)]
    rid: Option<String>,
    #[serde(rename = "partitionKey", default)]
    partition_key: Option<Object<RawKey>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawKey {
    #[serde(default)]
    paths: Option<Capped<String, MAX_PATHS>>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    system_key: Option<bool>,
}

impl ContainerProperties {
    /// Reads a container's document.
    ///
    /// # Errors
    ///
    /// [`ContainerError`] if it is none.
    pub fn parse(document: &[u8]) -> Result<Self, ContainerError> {
        let Object(raw): Object<Raw> =
            serde_json::from_slice(document).map_err(ContainerError::Json)?;
        let rid = raw.rid.unwrap_or_default();
        if rid.is_empty() || rid.len() > MAX_RID {
            return Err(ContainerError::Rid);
        }
        let definition = raw.partition_key.map(|Object(key)| key.definition());
        Ok(Self {
            rid: rid.into(),
            definition: definition.transpose()?.flatten(),
        })
    }

    /// The resource id, which is the container's identity: a container that is deleted and made
    /// again under the same name has another one.
    #[must_use]
    pub fn rid(&self) -> &str {
        &self.rid
    }

    /// How partition keys become effective ones; `None` for containers that were made without a
    /// partition key, and for definitions of a kind or version that is not known.
    #[must_use]
    pub const fn definition(&self) -> Option<PartitionKeyDefinition> {
        self.definition
    }
}

impl RawKey {
    fn definition(self) -> Result<Option<PartitionKeyDefinition>, ContainerError> {
        let Some(kind) = self.known_kind() else {
            return Ok(None);
        };
        let paths = match self.paths.map(Capped::all) {
            None => return Ok(None),
            Some(None) => MAX_PATHS + 1,
            Some(Some(paths)) if paths.is_empty() => return Ok(None),
            Some(Some(paths)) => paths.len(),
        };
        PartitionKeyDefinition::new(kind, paths)
            .map(Some)
            .map_err(ContainerError::Definition)
    }

    fn known_kind(&self) -> Option<PartitionKeyKind> {
        // A migrated container: the service made up the key's path.
        if self.system_key == Some(true) {
            return None;
        }
        let is = |name: &str| {
            let kind = self.kind.as_deref().unwrap_or("Hash");
            kind.eq_ignore_ascii_case(name)
        };
        match self.version {
            // Containers from before there were versions name none.
            None | Some(1) if is("Hash") => Some(PartitionKeyKind::HashV1),
            Some(2) if is("Hash") => Some(PartitionKeyKind::HashV2),
            // Hierarchical keys came later, and have only ever been hashed in one way.
            None | Some(2) if is("MultiHash") => Some(PartitionKeyKind::MultiHash),
            _ => None,
        }
    }
}
