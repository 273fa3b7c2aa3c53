//! The authorities that a leaf has shards for: a bounded table, the least recently used goes.

use std::sync::Arc;

use cosmos_core::FailureKind;
use http::Uri;

use super::shard::Shards;

/// Scheme, host and port.
#[derive(Copy, Clone, Debug)]
pub(super) struct Authority<'a> {
    https: bool,
    host: &'a str,
    port: u16,
}

impl<'a> Authority<'a> {
    /// The authority of an absolute `http` or `https` URI.
    pub(super) fn of(uri: &'a Uri) -> Option<Self> {
        let https = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let default_port = if https { 443 } else { 80 };
        Some(Self {
            https,
            host: uri.host().filter(|host| !host.is_empty())?,
            port: uri.port_u16().unwrap_or(default_port),
        })
    }
}

#[derive(Debug)]
struct Entry {
    https: bool,
    host: Box<str>,
    port: u16,
    used: u64,
    shards: Arc<Shards>,
}

impl Entry {
    fn is(&self, authority: Authority<'_>) -> bool {
        self.port == authority.port
            && self.https == authority.https
            && self.host.eq_ignore_ascii_case(authority.host)
    }

    /// Nobody but the table knows the shards: no call waits for them or uses them. Stable under
    /// the table's lock, because others get them only here.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.shards) == 1
    }
}

/// The table. An account has few authorities, so it is searched from end to end.
#[derive(Debug)]
pub(super) struct Authorities {
    entries: Vec<Entry>,
    max: usize,
    uses: u64,
}

impl Authorities {
    pub(super) const fn new(max: usize) -> Self {
        Self {
            entries: Vec::new(),
            max,
            uses: 0,
        }
    }

    /// The authority's shards, made if there are none.
    ///
    /// # Errors
    /// [`FailureKind::PoolLimit`] if the table is full of authorities in use.
    pub(super) fn get(
        &mut self,
        authority: Authority<'_>,
        make: impl FnOnce() -> Shards,
    ) -> Result<Arc<Shards>, FailureKind> {
        self.uses += 1;
        let used = self.uses;
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.is(authority)) {
            entry.used = used;
            return Ok(Arc::clone(&entry.shards));
        }
        if self.entries.len() >= self.max {
            let idle = self.entries.iter().enumerate();
            let (oldest, _) = idle
                .filter(|(_, entry)| entry.is_idle())
                .min_by_key(|(_, entry)| entry.used)
                .ok_or(FailureKind::PoolLimit)?;
            self.entries.swap_remove(oldest);
        }
        let shards = Arc::new(make());
        self.entries.push(Entry {
            https: authority.https,
            host: authority.host.into(),
            port: authority.port,
            used,
            shards: Arc::clone(&shards),
        });
        Ok(shards)
    }

    /// Every authority as `host:port`, with its shards.
    pub(super) fn iter(&self) -> impl Iterator<Item = (String, &Shards)> {
        self.entries.iter().map(|entry| {
            let name = format!("{}:{}", entry.host, entry.port);
            (name, &*entry.shards)
        })
    }
}
