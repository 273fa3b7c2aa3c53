//! What is known of one container, and the one read of it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use cosmos_core::flight::{Flight, Stage, Ticket};
use cosmos_core::partition::PartitionKeyDefinition;
use cosmos_core::{AccountId, Partition, RangeId, Route};
use http::HeaderValue;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::reader::{self, LookupError, ReadMap};
use crate::clock::now;
use crate::metadata::Reads;
use crate::watch;

/// The longest that a read may take, all its requests together.
const LIMIT: Duration = Duration::from_secs(60);

/// How long a failed read is not tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// How long a map that was read afresh without news is not doubted again.
const TRUSTED: Duration = Duration::from_secs(5);

/// Why a container is read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It is not known.
    Unknown,
    /// The range that was found is gone, or about to be.
    Stale,
    /// It is another container by now.
    Another,
}

/// A container: a snapshot of how it is partitioned, and at most one read under way.
pub(super) struct Container {
    link: Box<str>,
    account: AccountId,
    known: ArcSwapOption<Known>,
    flight: Flight,
    task: Mutex<Option<AbortHandle>>,
    ended: watch::Sender<Ended>,
    // Whether the last read had no news.
    unchanged: AtomicBool,
    // Whether an answer has shown the map to be wrong, and it is not yet read afresh.
    doubted: AtomicBool,
    /// The number of its last use; of uses in a row only the first counts.
    pub(super) used: AtomicU64,
}

/// How a container is partitioned.
pub(super) struct Known {
    pub(super) rid: Box<str>,
    /// `None`: its items have no partition key.
    definition: Option<PartitionKeyDefinition>,
    ranges: ReadMap,
    pub(super) version: u64,
}

/// How the last read ended.
#[derive(Clone, Default)]
pub(super) struct Ended {
    error: Option<Arc<LookupError>>,
}

impl Known {
    /// Finds the range of a partition key and sets it in the route.
    pub(super) fn set_range(&self, route: &Route, key: &HeaderValue) {
        let (id, ancestors) = self.find(key).unzip();
        let ancestors = ancestors.filter(|ids| !ids.is_empty()).map(Arc::from);
        route.set_range(id.cloned(), ancestors, self.version);
        if id.is_none() {
            route.note_range_problem("the partition key belongs to no one range");
        }
    }

    fn find(&self, key: &HeaderValue) -> Option<(&RangeId, &[RangeId])> {
        let definition = self.definition.as_ref()?;
        let target = definition.effective_of_header(key.to_str().ok()?)?;
        self.ranges.map.find_with_ancestors(&target)
    }

    /// Lets go what is kept for ranges that were split or merged since, or for a container that is
    /// another one now. Returns whether there was any.
    fn forget_what_is_gone(&self, later: &Self, route: &Route, of: &Container) -> bool {
        if self.rid != later.rid {
            forget(of.account, route, &of.link, None);
            return true;
        }
        let gone = later.ranges.map.gone_since(&self.ranges.map);
        for range in &gone {
            forget(of.account, route, &of.link, Some(range));
        }
        !gone.is_empty()
    }
}

impl Container {
    pub(super) fn new(link: &str, account: AccountId) -> Self {
        Self {
            link: link.into(),
            account,
            known: ArcSwapOption::empty(),
            flight: Flight::default(),
            task: Mutex::default(),
            ended: watch::Sender::new(Ended::default()),
            unchanged: AtomicBool::new(false),
            doubted: AtomicBool::new(false),
            used: AtomicU64::new(0),
        }
    }

    pub(super) fn link(&self) -> &str {
        &self.link
    }

    /// Reads what is known, if anything is.
    pub(super) fn with_known<T>(&self, read: impl FnOnce(&Known) -> T) -> Option<T> {
        self.known.load().as_deref().map(read)
    }

    pub(super) fn known(&self) -> Option<Arc<Known>> {
        self.known.load_full()
    }

    /// When the read under way began; `None` if there is none.
    pub(super) fn reading_since(&self) -> Option<Instant> {
        let reading = self.flight.stage() == Stage::Running;
        reading.then(|| self.flight.started()).flatten()
    }

    /// An answer shows that the map is wrong. Returns whether to read it afresh for that: not if a
    /// read a short while ago had no news.
    pub(super) fn doubt(&self) -> bool {
        let lately = |began| now().saturating_duration_since(began) < TRUSTED;
        let trusted =
            self.unchanged.load(Ordering::Relaxed) && self.flight.started().is_some_and(lately);
        if !trusted {
            self.doubted.store(true, Ordering::Release);
        }
        !trusted
    }

    /// What to wait for before the map is looked at, if it is doubted and being read.
    pub(super) fn doubted(&self) -> Option<watch::Receiver<Ended>> {
        if !self.doubted.load(Ordering::Acquire) {
            return None;
        }
        let ended = self.ended.subscribe();
        (self.flight.stage() == Stage::Running).then_some(ended)
    }

    /// Why the last read failed, if it did.
    pub(super) fn problem(&self) -> Option<Arc<LookupError>> {
        self.ended.get().error
    }

    /// Reads the container, unless somebody does, or it was read since the snapshot `seen`. What
    /// the layers of `route` keep for ranges that turn out to be gone is let go.
    ///
    /// Returns what to wait for; `None` if there is nothing to wait for.
    pub(super) fn read(
        self: &Arc<Self>,
        reads: &Reads,
        route: &Route,
        seen: u64,
        cause: Cause,
    ) -> Option<watch::Receiver<Ended>> {
        let ended = self.ended.subscribe();
        let version = self.known.load().as_ref().map_or(0, |known| known.version);
        if version != seen {
            return None;
        }
        let runtime = Handle::try_current().ok()?;
        let pause = self.problem().map_or(Duration::ZERO, |_| PAUSE);
        let now = now();
        if !self.flight.due_in(now, pause).is_zero() {
            return None;
        }
        if let Ok(ticket) = self.flight.claim(now, Duration::ZERO) {
            let slot = Slot {
                container: Arc::downgrade(self),
                route: route.clone(),
                ticket,
                result: None,
            };
            let link = self.link.clone();
            let known = self.known().filter(|_| cause != Cause::Another);
            let reads = reads.clone();
            let reading = async move { read(&reads, &link, known.as_deref(), seen + 1).await };
            let task = runtime.spawn(fill(slot, reading));
            *self.task.lock() = Some(task.abort_handle());
        }
        Some(ended)
    }

    /// Forgets what is known, for the next operation to read it again.
    pub(super) fn forget(&self) {
        self.known.store(None);
    }

    /// Notes a use, unless it is the container used last anyhow.
    pub(super) fn touch(&self, uses: &AtomicU64) {
        if self.used.load(Ordering::Relaxed) != uses.load(Ordering::Relaxed) {
            let number = uses.fetch_add(1, Ordering::Relaxed) + 1;
            self.used.store(number, Ordering::Relaxed);
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if let Some(task) = self.task.get_mut().take() {
            task.abort();
        }
    }
}

async fn fill(mut slot: Slot, reading: impl Future<Output = Result<Known, LookupError>>) {
    let reading = tokio::time::timeout(LIMIT, reading);
    slot.result = Some(reading.await.unwrap_or(Err(LookupError::Late)));
}

async fn read(
    reads: &Reads,
    link: &str,
    known: Option<&Known>,
    version: u64,
) -> Result<Known, LookupError> {
    if let Some(known) = known {
        let ranges = reader::ranges(reads, link, Some(&known.ranges)).await?;
        // If they are of another container, its keys may be hashed in another way, too.
        if ranges.map.container().is_none_or(|rid| *rid == *known.rid) {
            return Ok(Known {
                rid: known.rid.clone(),
                definition: known.definition,
                ranges,
                version,
            });
        }
    }
    let properties = reader::properties(reads, link).await?;
    Ok(Known {
        rid: properties.rid().into(),
        definition: properties.definition(),
        ranges: reader::ranges(reads, link, None).await?,
        version,
    })
}

/// The one read under way. Freed on every outcome, even if its task is dropped.
struct Slot {
    container: Weak<Container>,
    // Of the operation that asked for the read, which may have been dropped since.
    route: Route,
    ticket: Ticket,
    result: Option<Result<Known, LookupError>>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(container) = self.container.upgrade() else {
            return;
        };
        let error = match self.result.take() {
            Some(Ok(known)) => {
                let known = Arc::new(known);
                let before = container.known.swap(Some(Arc::clone(&known)));
                let is_news = before.is_none_or(|before| {
                    before.forget_what_is_gone(&known, &self.route, &container)
                });
                container.unchanged.store(!is_news, Ordering::Relaxed);
                None
            }
            // No reason for others not to ask.
            Some(Err(error)) if error.is_excluded() => None,
            Some(Err(error)) => {
                tracing::warn!(%error, "the partitions of a container could not be read");
                Some(Arc::new(error))
            }
            None => std::thread::panicking().then(|| Arc::new(LookupError::Panicked)),
        };
        container.doubted.store(false, Ordering::Release);
        container.flight.end(&self.ticket);
        container.ended.send_modify(|ended| ended.error = error);
    }
}

/// Lets go what is kept for a range, or for all of a container.
pub(super) fn forget(account: AccountId, route: &Route, container: &str, range: Option<&RangeId>) {
    let partition = Partition { container, range };
    if let Some(breaker) = route.breaker(account) {
        breaker.forget(partition);
    }
    if let Some(memory) = route.write_regions(account) {
        memory.forget(partition);
    }
}
