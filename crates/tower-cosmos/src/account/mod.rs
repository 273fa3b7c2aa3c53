//! The account: which regions there are, how their endpoints stand, and when to look again.
//!
//! [`Account`] is a cheap handle that the routing layers share. It holds an atomic snapshot of the
//! account document, marks per region (reads and writes apart), and refreshes the document: at
//! most once per interval, one refresh at a time, in a task that no caller owns, trying the global
//! endpoint and then each regional one. A refresh that fails keeps what was known.
//!
//! ```
//! use tower_cosmos::{Account, KeyCredential};
//! use cosmos_core::signing::MasterKey;
//! # use tower::service_fn;
//! # use http::{Request, Response};
//! # use http_body_util::Full;
//! # use bytes::Bytes;
//! # let my_hyper_client = service_fn(|_: Request<Full<Bytes>>| async {
//! #     Ok::<_, std::convert::Infallible>(Response::new(Full::<Bytes>::default()))
//! # });
//! let key = KeyCredential::new(MasterKey::from_base64("c2VjcmV0")?);
//! let account = Account::builder("https://acct.documents.azure.com/", key)
//!     .preferred_regions(["West Europe", "North Europe"])
//!     .excluded_regions(["East US"])
//!     .build(my_hyper_client)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cancellation
//! Dropping a caller never ends a refresh that others wait for. The background task holds a weak
//! reference and ends with the last handle.

mod builder;
mod choice;
mod guard;
mod lease;
mod marks;
mod reader;
mod refresh;
mod refresh_error;

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwapOption, Guard};
use cosmos_core::policy::Jitter;
use cosmos_core::policy::session::{self, SessionPlan};
use cosmos_core::policy::{Verdict, marking};
use cosmos_core::retry_guard::RetryGuard;
use cosmos_core::{
    AccountId, Attempt, AttemptObserver, Endpoint, Operation, Outcome, Region, RegionSet, Route,
    Steering, Toll, Topology,
};
use http::Request;
use parking_lot::Mutex;

pub use builder::{AccountBuilder, AccountError};
pub(crate) use choice::Placement;
pub(crate) use marks::Marks;
pub(crate) use reader::Leaf;
pub use refresh_error::RefreshError;

use crate::clock::Clock;
use crate::credential::Credential;

/// A handle to an account's routing state. Clones share it.
#[derive(Clone)]
pub struct Account(Arc<Inner>);

struct Inner {
    id: AccountId,
    global: Endpoint,
    preferred: Vec<Region>,
    excluded: RegionSet,
    topology: ArcSwapOption<Topology>,
    marks: Arc<Marks>,
    refresher: refresh::Refresher,
    observer: Arc<Observer>,
    sequence: Arc<AtomicU64>,
    clock: Clock,
    classify: Option<Box<dyn Classify>>,
    guard: Option<RetryGuard>,
    watchers: Mutex<Vec<Weak<dyn TopologyWatcher>>>,
}

/// Hears when the account document was read afresh.
pub(crate) trait TopologyWatcher: Send + Sync {
    /// What was known before, and what is now.
    fn changed(&self, before: &Topology, now: &Topology);
}

/// An integrator's own verdicts. Implemented by closures.
pub trait Classify: Send + Sync + 'static {
    /// What is made of the specification's `verdict` on an outcome; return it unchanged for
    /// those that you do not care about.
    fn classify(&self, operation: Operation, outcome: Outcome, verdict: Verdict) -> Verdict;
}

impl<F> Classify for F
where
    F: Fn(Operation, Outcome, Verdict) -> Verdict + Send + Sync + 'static,
{
    fn classify(&self, operation: Operation, outcome: Outcome, verdict: Verdict) -> Verdict {
        self(operation, outcome, verdict)
    }
}

impl Account {
    /// The topology, once it is known.
    #[must_use]
    pub fn topology(&self) -> Option<Arc<Topology>> {
        self.0.topology.load_full()
    }

    /// The same for a moment. Unlike a handle of one's own it costs other threads nothing.
    pub(crate) fn snapshot(&self) -> Guard<Option<Arc<Topology>>> {
        self.0.topology.load()
    }

    /// The endpoint that the account was made with.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.0.global
    }

    /// The clock that dates and signatures are made by.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Whether every region accepts writes; false while the topology is not known.
    #[must_use]
    pub fn is_multi_write(&self) -> bool {
        self.0
            .topology
            .load()
            .as_ref()
            .is_some_and(|topology| topology.is_multi_write())
    }

    /// Asks for a fresh account document without waiting for it: at once if the interval since
    /// the last one has passed, else when it has.
    pub fn request_refresh(&self) {
        refresh::request(&self.0);
    }

    /// Asks for a fresh account document and waits until it was read, or could not be: at once if
    /// the interval since the last one has passed, else when it has.
    pub async fn refresh(&self) {
        refresh::refresh(&self.0).await;
    }

    /// How long a refresh that is asked for now has to wait for the interval to pass.
    pub(crate) fn refresh_due_in(&self, now: Instant) -> Duration {
        refresh::due_in(&self.0, now)
    }

    /// Waits until the topology is known.
    ///
    /// # Errors
    /// [`RefreshError`] if the account document could not be read, and the operation has no
    /// deadline or another try would not help.
    pub(crate) async fn wait_for_topology(
        &self,
        route: &Route,
    ) -> Result<Arc<Topology>, Arc<RefreshError>> {
        refresh::wait_for_topology(&self.0, route).await
    }

    /// Where the session retries of an operation go; `None` while the topology is not known.
    pub(crate) fn session_plan(&self, route: &Route) -> Option<SessionPlan> {
        let topology = self.snapshot();
        let topology = topology.as_deref()?;
        let excluded = route.rules().excluded.union(self.0.excluded);
        Some(session::plan(topology, route.operation(), excluded))
    }

    pub(crate) fn id(&self) -> AccountId {
        self.0.id
    }

    /// Whether a request is for this account: it names no host, or one of the account's, of which
    /// the global one is always known.
    pub(crate) fn concerns<B>(&self, request: &Request<B>) -> bool {
        let uri = request.uri();
        uri.authority().is_none()
            || self.0.global.is_of(uri)
            || (self.snapshot().as_deref()).is_some_and(|topology| topology.owns(uri))
    }

    /// How long an endpoint may take to answer a read of our own.
    pub(crate) fn read_timeout(&self) -> Duration {
        self.0.refresher.read_timeout()
    }

    /// Where the random part of waits for reads of our own comes from.
    pub(crate) fn jitter(&self) -> Jitter {
        self.0.refresher.jitter()
    }

    /// How many retries the guard lets go to a region now; `None` without a guard.
    #[must_use]
    pub fn retries_left(&self, region: Region) -> Option<u32> {
        self.0.guard.as_ref().map(|guard| guard.left(region))
    }

    /// The leaf for reads of our own.
    pub(crate) fn leaf(&self) -> Leaf {
        self.0.refresher.reader().leaf()
    }

    /// The credential for reads of our own.
    pub(crate) fn credential(&self) -> Arc<dyn Credential> {
        self.0.refresher.reader().credential()
    }

    /// The newest number handed out to an attempt; 0 before the first.
    pub(crate) fn sequence(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.0.sequence)
    }

    /// Has something hear of every fresh account document, for as long as it lives.
    pub(crate) fn watch(&self, watcher: Weak<dyn TopologyWatcher>) {
        let mut watchers = self.0.watchers.lock();
        watchers.retain(|watcher| watcher.strong_count() > 0);
        watchers.push(watcher);
    }

    pub(crate) fn observer(&self) -> Arc<dyn AttemptObserver> {
        Arc::clone(&self.0.observer) as _
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("endpoint", &self.0.global)
            .field("preferred", &self.0.preferred)
            .field("excluded", &self.0.excluded)
            .field("topology", &self.0.topology.load())
            .finish_non_exhaustive()
    }
}

/// Hears of attempts on the account's behalf.
///
/// Every attempt comes here several times, so what most of them need is at hand.
struct Observer {
    // Weak, so that a journal that somebody keeps does not keep the account.
    account: Weak<Inner>,
    marks: Arc<Marks>,
    has_guard: bool,
    has_verdicts: bool,
}

impl Observer {
    fn guarded(&self) -> Option<Arc<Inner>> {
        self.has_guard.then(|| self.account.upgrade()).flatten()
    }
}

impl AttemptObserver for Observer {
    fn ended(&self, operation: Operation, attempt: &Attempt, at_threshold: bool, now: Instant) {
        tracing::debug!(
            cosmos.region = attempt.region.name(),
            cosmos.reason = attempt.reason.name(),
            cosmos.outcome = ?attempt.outcome,
            cosmos.duration = ?attempt.duration,
            "attempt"
        );
        let effect = marking::effect(operation, attempt.outcome, attempt.oversight, at_threshold);
        self.marks.apply(attempt, effect, now);
        if let Some(guard) = self.guarded().as_ref().and_then(|it| it.guard.as_ref()) {
            guard::settle(guard, operation, attempt);
        }
        // A region that fails may have left the account, or be about to lose its role. One that says
        // so is believed at once.
        let refresh: fn(&Arc<Inner>) = if marking::denies_role(operation, attempt.outcome) {
            refresh::request
        } else if matches!(effect, marking::Effect::Mark { .. }) {
            refresh::request_at_leisure
        } else {
            return;
        };
        if let Some(inner) = self.account.upgrade() {
            refresh(&inner);
        }
    }

    fn pay(&self, route: &Route, steering: Steering) -> Toll {
        let Some(inner) = self.guarded() else {
            return Toll::Free;
        };
        let Some(guard) = &inner.guard else {
            return Toll::Free;
        };
        // Who says that another region is to be asked has not done anything, and that one would have
        // been asked anyway: it is no retry that adds to a region's load.
        let denied = |attempt: &Attempt| marking::denies_role(route.operation(), attempt.outcome);
        if route.with_attempts(|attempts| attempts.last().is_some_and(denied)) {
            return Toll::Free;
        }
        // A move is charged to where it leads.
        match Account(Arc::clone(&inner)).next_region(route, steering) {
            Some(target) if guard.take(target) => Toll::Paid(target),
            Some(_) => {
                route.note_problem("too many retries for what succeeds");
                Toll::Refused
            }
            // Nothing will be sent.
            None => Toll::Free,
        }
    }

    fn pay_back(&self, region: Region) {
        if let Some(inner) = self.guarded()
            && let Some(guard) = &inner.guard
        {
            guard.give_back(region);
        }
    }

    fn reclassify(&self, operation: Operation, outcome: Outcome, verdict: Verdict) -> Verdict {
        if !self.has_verdicts {
            return verdict;
        }
        let inner = self.account.upgrade();
        let classify = inner.as_ref().and_then(|inner| inner.classify.as_ref());
        classify.map_or(verdict, |hook| hook.classify(operation, outcome, verdict))
    }

    fn lists(&self, region: Region) -> bool {
        region == Region::GLOBAL
            || self.account.upgrade().is_none_or(|inner| {
                inner
                    .topology
                    .load()
                    .as_ref()
                    .is_none_or(|topology| topology.lists(region))
            })
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer(..)")
    }
}
