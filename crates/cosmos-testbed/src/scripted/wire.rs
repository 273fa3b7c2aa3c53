//! What the regions saw.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};

/// One request as a region saw it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WireEntry {
    /// The region's name as the document spells it; `global` for the global endpoint.
    pub region: String,
    /// When it arrived, since the account was made.
    pub at: Duration,
    /// Its method.
    pub method: Method,
    /// Its path and query, byte for byte.
    pub path: String,
    /// All of its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl WireEntry {
    /// A header's text; empty if it is absent or no text.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

/// Requests in the order in which they arrived.
#[derive(Clone, Debug, Default)]
pub struct Wire(pub Vec<WireEntry>);

impl Wire {
    /// The regions in order, such as `A A B`.
    #[must_use]
    pub fn regions(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|entry| entry.region.as_str()).collect();
        names.join(" ")
    }

    /// When the requests arrived, in whole milliseconds.
    #[must_use]
    pub fn times_ms(&self) -> Vec<u128> {
        self.0.iter().map(|entry| entry.at.as_millis()).collect()
    }

    /// How many requests a region saw.
    #[must_use]
    pub fn count(&self, region: &str) -> usize {
        self.0.iter().filter(|entry| entry.region == region).count()
    }

    /// How many requests there were.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.0 {
            writeln!(
                f,
                "{:>10.3?} {:<16} {} {}",
                entry.at, entry.region, entry.method, entry.path
            )?;
        }
        Ok(())
    }
}
