//! When the account document is read afresh: one refresh at a time, at most one per interval, in
//! a task of the account's own.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use cosmos_core::flight::{Flight, Stage, Ticket};
use cosmos_core::policy::Jitter;
use cosmos_core::{Access, Endpoint, Region, Route, Topology};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{sleep_until, timeout_at};

use super::Inner;
use super::reader::Reader;
use super::refresh_error::RefreshError;
use crate::clock::now;
use crate::watch;

/// When and how to refresh.
#[derive(Copy, Clone, Debug)]
pub(super) struct RefreshSettings {
    pub(super) interval: Duration,
    pub(super) period: Duration,
    pub(super) read_timeout: Duration,
    pub(super) jitter: Jitter,
}

impl Default for RefreshSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(5),
            period: Duration::from_secs(300),
            read_timeout: Duration::from_secs(5),
            jitter: Jitter::Random,
        }
    }
}

pub(super) struct Refresher {
    reader: Arc<Reader>,
    fallbacks: Vec<Endpoint>,
    settings: RefreshSettings,
    discovery: bool,
    flight: Flight,
    tasks: Mutex<Tasks>,
    finished: watch::Sender<Finished>,
}

#[derive(Default)]
struct Tasks {
    refresh: Option<AbortHandle>,
    // Of that refresh: somebody cannot wait until it is due, if it rests.
    hurry: Option<Arc<Notify>>,
    background: Option<AbortHandle>,
}

/// How many refreshes have ended, and how the last one did.
#[derive(Clone, Default)]
struct Finished {
    count: u64,
    last: Option<Failed>,
}

/// A refresh that failed.
#[derive(Clone)]
struct Failed {
    error: Arc<RefreshError>,
    ended: Instant,
}

impl Refresher {
    pub(super) fn new(
        reader: Reader,
        fallbacks: Vec<Endpoint>,
        settings: RefreshSettings,
        discovery: bool,
    ) -> Self {
        let finished = watch::Sender::new(Finished::default());
        let reader = Arc::new(reader);
        Self {
            reader,
            fallbacks,
            settings,
            discovery,
            flight: Flight::default(),
            tasks: Mutex::default(),
            finished,
        }
    }
}

impl Refresher {
    pub(super) fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(super) fn read_timeout(&self) -> Duration {
        self.settings.read_timeout
    }

    pub(super) fn jitter(&self) -> Jitter {
        self.settings.jitter
    }
}

impl Drop for Refresher {
    fn drop(&mut self) {
        let tasks = self.tasks.get_mut();
        for task in [tasks.refresh.take(), tasks.background.take()]
            .into_iter()
            .flatten()
        {
            task.abort();
        }
    }
}

/// Asks for a refresh. It starts now, or when the interval since the last one has passed.
pub(super) fn request(inner: &Arc<Inner>) {
    start(inner);
}

/// Asks for a refresh that nobody waits for: up to a quarter of the interval later than it could be,
/// so that clients that lost a region together do not all ask together.
pub(super) fn request_at_leisure(inner: &Arc<Inner>) {
    let RefreshSettings {
        interval, jitter, ..
    } = inner.refresher.settings;
    start_rested(inner, interval.mul_f64(0.25 * jitter.unsigned()));
}

/// Asks for a refresh and waits for it.
pub(super) async fn refresh(inner: &Arc<Inner>) {
    let mut finished = inner.refresher.finished.subscribe();
    if start(inner) != Stage::Idle {
        // The sender lives in `inner`, so this ends with the refresh.
        finished.changed().await;
    }
}

/// How long a refresh that is asked for now has to wait for the interval to pass.
pub(super) fn due_in(inner: &Inner, now: Instant) -> Duration {
    let refresher = &inner.refresher;
    refresher.flight.due_in(now, refresher.settings.interval)
}

/// Waits until the topology is known. Every failure on the way is noted in the journal; one that
/// time will not mend ends the wait, as does any if the operation has no deadline. A failure counts
/// from the operation's beginning on: layers that wait one after the other wait once.
pub(super) async fn wait_for_topology(
    inner: &Arc<Inner>,
    route: &Route,
) -> Result<Arc<Topology>, Arc<RefreshError>> {
    let keep_trying = route.deadline().is_some();
    let began = route.journal().began();
    let mut finished = inner.refresher.finished.subscribe();
    route.note_problem("the account's regions are not known yet");
    loop {
        if let Some(topology) = inner.topology.load_full() {
            return Ok(topology);
        }
        let failed = finished.get().last;
        if let Some(Failed { error, ended }) = failed
            && ended >= began
        {
            route.note_problem(&error.to_string());
            if !keep_trying || error.is_permanent() {
                return Err(error);
            }
        }
        if start(inner) == Stage::Idle {
            return Err(Arc::new(RefreshError::NoRuntime));
        }
        finished.changed().await;
    }
}

/// Starts or schedules a refresh unless one is under way. Returns the stage that this led to;
/// `Idle` means that there is no runtime to run it in, or nothing to read.
fn start(inner: &Arc<Inner>) -> Stage {
    let stage = start_rested(inner, Duration::ZERO);
    if stage == Stage::Scheduled
        && let Some(hurry) = &inner.refresher.tasks.lock().hurry
    {
        hurry.notify_one();
    }
    stage
}

/// The same with so much rest before it, if it is not under way yet.
fn start_rested(inner: &Arc<Inner>, rest: Duration) -> Stage {
    let refresher = &inner.refresher;
    let Ok(runtime) = Handle::try_current() else {
        return Stage::Idle;
    };
    if !refresher.discovery {
        return Stage::Idle;
    }
    let interval = refresher.settings.interval;
    let ticket = match refresher.flight.claim_rested(now(), interval, rest) {
        Ok(ticket) => ticket,
        Err(stage) => return stage,
    };
    let stage = refresher.flight.stage();
    // Not under a lock: a runtime that is shutting down drops the task, and its slot, at once.
    let slot = Slot {
        inner: Arc::downgrade(inner),
        ticket,
        error: None,
    };
    let hurry = Arc::<Notify>::default();
    let task = runtime.spawn(run(slot, Arc::clone(&hurry))).abort_handle();
    let lonely = {
        let mut tasks = refresher.tasks.lock();
        tasks.refresh = Some(task);
        tasks.hurry = Some(hurry);
        // A background task ends with its runtime, which may not be the last one.
        let background = tasks.background.as_ref();
        background.is_none_or(AbortHandle::is_finished)
    };
    if lonely {
        let task = background(Arc::downgrade(inner), refresher.settings);
        let task = runtime.spawn(task).abort_handle();
        if let Some(other) = refresher.tasks.lock().background.replace(task) {
            other.abort();
        }
    }
    stage
}

/// The one refresh under way. Freed on every outcome, even if its task is dropped.
struct Slot {
    inner: Weak<Inner>,
    ticket: Ticket,
    error: Option<Arc<RefreshError>>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.upgrade() {
            inner.refresher.flight.end(&self.ticket);
            let panicked = || std::thread::panicking().then(|| Arc::new(RefreshError::Panicked));
            let error = self.error.take().or_else(panicked);
            inner.refresher.finished.send_modify(|finished| {
                finished.count += 1;
                finished.last = error.map(|error| Failed {
                    error,
                    ended: now(),
                });
            });
        }
    }
}

async fn run(mut slot: Slot, hurry: Arc<Notify>) {
    let (due, earliest) = (slot.ticket.due(), slot.ticket.earliest());
    if timeout_at(due.into(), hurry.notified()).await.is_ok() {
        sleep_until(earliest.into()).await;
    }
    let Some(plan) = slot.inner.upgrade().map(|inner| Plan::of(&inner)) else {
        return;
    };
    match plan.read().await {
        Ok(topology) => {
            if let Some(inner) = slot.inner.upgrade() {
                apply(&inner, plan.known.as_deref(), topology);
            }
        }
        Err(error) => {
            tracing::warn!(error = %error, "the account document could not be refreshed");
            slot.error = Some(Arc::new(error));
        }
    }
}

/// What a refresh needs. It does not hold the account, so that one that is dropped meanwhile
/// ends the refresh, too.
struct Plan {
    reader: Arc<Reader>,
    global: Endpoint,
    others: Vec<Endpoint>,
    preferred: Vec<Region>,
    known: Option<Arc<Topology>>,
}

impl Plan {
    fn of(inner: &Inner) -> Self {
        inner.refresher.flight.run(now());
        let known = inner.topology.load_full();
        let others = match &known {
            Some(topology) => topology.regional_endpoints(),
            None => inner.refresher.fallbacks.clone(),
        };
        Self {
            reader: Arc::clone(&inner.refresher.reader),
            global: inner.global.clone(),
            others,
            preferred: inner.preferred.clone(),
            known,
        }
    }

    /// Tries the global endpoint, then each regional one, once each. The caller's exclusions do
    /// not matter here: they are about data.
    async fn read(&self) -> Result<Topology, RefreshError> {
        let mut failure = None;
        for endpoint in std::iter::once(&self.global).chain(&self.others) {
            match self.read_from(endpoint).await {
                Ok(topology) => return Ok(topology),
                Err(error) => {
                    tracing::debug!(endpoint = %endpoint, error = %error, "account read failed");
                    failure.get_or_insert(error);
                }
            }
        }
        Err(failure.unwrap_or(RefreshError::Timeout))
    }

    async fn read_from(&self, endpoint: &Endpoint) -> Result<Topology, RefreshError> {
        let document = self.reader.read(endpoint, self.known.is_none()).await?;
        let topology = Topology::parse(&document, &self.global, &self.preferred)?;
        Ok(match &self.known {
            Some(known) => topology.succeeding(known),
            None => topology,
        })
    }
}

fn apply(inner: &Inner, known: Option<&Topology>, topology: Topology) {
    let now = now();
    for access in [Access::Read, Access::Write] {
        if known.is_some_and(|known| topology.list_differs(known, access)) {
            tracing::info!(access = ?access, "the account's regions have changed");
            inner.marks.list_changed(access, now);
        }
    }
    let unknown = topology.unknown_preferences();
    if known.is_none_or(|known| known.unknown_preferences() != unknown) {
        for region in unknown {
            tracing::warn!(
                cosmos.region = region.name(),
                "preferred, but not in the account"
            );
        }
    }
    let topology = Arc::new(topology);
    inner.topology.store(Some(Arc::clone(&topology)));
    if let Some(known) = known {
        let watchers = inner.watchers.lock().clone();
        for watcher in watchers.iter().filter_map(Weak::upgrade) {
            watcher.changed(known, &topology);
        }
    }
}

/// Asks for a refresh every now and then, for as long as the account lives.
async fn background(account: Weak<Inner>, settings: RefreshSettings) {
    loop {
        let period = settings
            .period
            .mul_f64(1.0 + 0.1 * settings.jitter.signed());
        tokio::time::sleep(period).await;
        let Some(inner) = account.upgrade() else {
            return;
        };
        request(&inner);
    }
}
