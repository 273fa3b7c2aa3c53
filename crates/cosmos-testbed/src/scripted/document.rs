//! Account documents for scripts.

use serde_json::json;

/// An account document under construction.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) readable: Vec<String>,
    pub(super) writable: Vec<String>,
    multi_write: bool,
    per_partition_failover: bool,
}

impl Document {
    /// A single-write account; the first region is the hub.
    pub fn single_write<N: Into<String>>(regions: impl IntoIterator<Item = N>) -> Self {
        let readable: Vec<String> = regions.into_iter().map(Into::into).collect();
        let writable = readable.iter().take(1).cloned().collect();
        Self {
            readable,
            writable,
            multi_write: false,
            per_partition_failover: false,
        }
    }

    /// A multi-write account.
    pub fn multi_write<N: Into<String>>(regions: impl IntoIterator<Item = N>) -> Self {
        let readable: Vec<String> = regions.into_iter().map(Into::into).collect();
        let writable = readable.clone();
        Self {
            readable,
            writable,
            multi_write: true,
            per_partition_failover: false,
        }
    }

    /// Replaces the list of writable regions; the first one is the hub.
    #[must_use]
    pub fn writable<N: Into<String>>(mut self, regions: impl IntoIterator<Item = N>) -> Self {
        self.writable = regions.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the flag for per-partition automatic failover.
    #[must_use]
    pub fn per_partition_failover(mut self, enabled: bool) -> Self {
        self.per_partition_failover = enabled;
        self
    }

    /// The document's JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let locations = |names: &[String]| -> Vec<serde_json::Value> {
            names
                .iter()
                .map(|name| json!({"name": name, "databaseAccountEndpoint": endpoint_of(name)}))
                .collect()
        };
        json!({
            "id": "scripted",
            "_rid": "scripted.test",
            "_self": "",
            "readableLocations": locations(&self.readable),
            "writableLocations": locations(&self.writable),
            "enableMultipleWriteLocations": self.multi_write,
            "enablePerPartitionFailoverBehavior": self.per_partition_failover,
            "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
        })
        .to_string()
    }
}

/// The host label of a region: lower case without blanks.
pub(crate) fn label_of(region: &str) -> String {
    region.to_lowercase().replace(' ', "")
}

fn endpoint_of(region: &str) -> String {
    format!("https://scripted-{}.test:443/", label_of(region))
}
