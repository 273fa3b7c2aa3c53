//! What a caller asks of one operation.

use std::time::{Duration, Instant};

use crate::{JournalSlot, Region, RegionError, RegionSet};

/// What a caller asks of one operation, put into the request's extensions.
///
/// ```
/// use std::time::Duration;
/// use cosmos_core::{JournalSlot, OperationOptions, requests};
///
/// let slot = JournalSlot::new();
/// let mut request = requests::read_item("shop", "orders", "42", &"customer-7".into()).build()?;
/// request.extensions_mut().insert(
///     OperationOptions::new()
///         .exclude_regions(["West Europe"])?
///         .timeout(Duration::from_secs(2))
///         .journal_slot(&slot),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The value can be used for many requests: every operation gets a journal of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct OperationOptions {
    excluded: RegionSet,
    strict: bool,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    range: Option<Box<str>>,
    retry_writes: bool,
    slot: Option<JournalSlot>,
}

impl Default for OperationOptions {
    fn default() -> Self {
        Self {
            excluded: RegionSet::EMPTY,
            strict: false,
            timeout: None,
            deadline: None,
            range: None,
            retry_writes: true,
            slot: None,
        }
    }
}

impl OperationOptions {
    /// Options that change nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Excludes regions by name, in addition to those that the account excludes. No attempt of
    /// the operation goes there while another candidate exists.
    ///
    /// # Errors
    /// [`RegionError`] if a name is blank, too long, or does not fit: an exclusion is never lost.
    pub fn exclude_regions<I, N>(mut self, names: I) -> Result<Self, RegionError>
    where
        I: IntoIterator<Item = N>,
        N: AsRef<str>,
    {
        for name in names {
            self.excluded.insert(Region::named(name.as_ref())?);
        }
        Ok(self)
    }

    /// Excludes a region.
    pub fn exclude(mut self, region: Region) -> Self {
        self.excluded.insert(region);
        self
    }

    /// With `true`, an operation whose every candidate region is excluded is refused with a typed
    /// error. Default `false`: exactly one request goes to the hub (multi-write accounts: to the
    /// first preferred write region).
    pub fn strict_exclusions(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Limits the operation to this time from its beginning. The tightest of this, `deadline` and
    /// the limit of a `DeadlineLayer` wins. Default: none.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Limits the operation to this instant. One that has passed sends nothing.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Names the partition key range that the operation is for, where the caller knows it.
    pub fn partition_key_range(mut self, id: impl Into<Box<str>>) -> Self {
        self.range = Some(id.into());
        self
    }

    /// With `false`, a write is not sent again after a failure that leaves open whether it was
    /// carried out. Default `true`, as the retry specification says. Ours, beyond it.
    pub fn retry_writes(mut self, retry: bool) -> Self {
        self.retry_writes = retry;
        self
    }

    /// Where to put the operation's journal, readable even if the operation's future is dropped.
    pub fn journal_slot(mut self, slot: &JournalSlot) -> Self {
        self.slot = Some(slot.clone());
        self
    }

    pub(crate) fn excluded(&self) -> RegionSet {
        self.excluded
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.strict
    }

    pub(crate) fn retries_writes(&self) -> bool {
        self.retry_writes
    }

    pub(crate) fn range(&self) -> Option<&str> {
        self.range.as_deref()
    }

    pub(crate) fn slot(&self) -> Option<&JournalSlot> {
        self.slot.as_ref()
    }

    pub(crate) fn deadline_from(&self, now: Instant) -> Option<Instant> {
        let by_timeout = self.timeout.and_then(|timeout| now.checked_add(timeout));
        match (self.deadline, by_timeout) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}
