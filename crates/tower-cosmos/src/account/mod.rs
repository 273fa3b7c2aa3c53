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
mod marks;
mod reader;
mod refresh;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use cosmos_core::policy::session::{self, SessionPlan};
use cosmos_core::policy::{Verdict, is_repeatable, marking};
use cosmos_core::selection::{self, Choice, History, View, access};
use cosmos_core::{
    Attempt, AttemptObserver, Endpoint, FailureKind, Operation, Outcome, Region, RegionSet, Route,
    Steering, Topology,
};

pub use builder::{AccountBuilder, AccountError};
pub(crate) use marks::{Marks, Trial};
pub use refresh::RefreshError;

use crate::clock::{Clock, now};

/// A handle to an account's routing state. Clones share it.
#[derive(Clone)]
pub struct Account(Arc<Inner>);

struct Inner {
    global: Endpoint,
    preferred: Vec<Region>,
    excluded: RegionSet,
    topology: ArcSwapOption<Topology>,
    marks: Arc<Marks>,
    refresher: refresh::Refresher,
    observer: Arc<Observer>,
    sequence: AtomicU64,
    clock: Clock,
    classify: Option<Box<dyn Classify>>,
}

/// Where an attempt goes.
#[derive(Debug)]
pub(crate) struct Placement {
    pub(crate) choice: Choice,
    pub(crate) trial: Option<Trial>,
    /// Whether another region could take over if this one does not answer.
    pub(crate) has_alternative: bool,
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

    /// The region that an attempt with this steering would go to; `None` if nothing may be sent.
    pub(crate) fn next_region(&self, route: &Route, steering: Steering) -> Option<Region> {
        let topology = self.topology()?;
        let choice = self.ask(&topology, route, steering, now(), selection::choose);
        choice.ok().map(|choice| choice.region)
    }

    /// Where the session retries of an operation go; `None` while the topology is not known.
    pub(crate) fn session_plan(&self, route: &Route) -> Option<SessionPlan> {
        let topology = self.topology()?;
        let excluded = route.rules().excluded.union(self.0.excluded);
        Some(session::plan(&topology, route.operation(), excluded))
    }

    /// Chooses a region and takes the trial that the choice needs.
    pub(crate) fn choose_and_take(
        &self,
        topology: &Topology,
        route: &Route,
        now: Instant,
    ) -> Result<Placement, FailureKind> {
        let rules = route.rules();
        // Only what may be sent again can be taken over.
        let repeatable = is_repeatable(rules.operation, rules.retry_writes);
        let question = |view: &View<'_>| {
            let choice = selection::choose(view)?;
            let alternative = repeatable && selection::has_alternative(view, choice.region);
            Ok((choice, alternative))
        };
        loop {
            let (choice, has_alternative) =
                self.ask(topology, route, route.steering, now, question)?;
            let take = || {
                let access = access(rules.operation);
                Marks::take_trial(&self.0.marks, choice.region, access, now)
            };
            let trial = choice.trial.then(take).flatten();
            if !choice.trial || trial.is_some() {
                return Ok(Placement {
                    choice,
                    trial,
                    has_alternative,
                });
            }
            // Lost to another request: the region now stands as marked, so choose again. Each
            // round takes one region out of the choice, so this ends.
        }
    }

    /// Asks selection about the operation as it stands.
    fn ask<T>(
        &self,
        topology: &Topology,
        route: &Route,
        steering: Steering,
        now: Instant,
        question: impl FnOnce(&View<'_>) -> T,
    ) -> T {
        let rules = route.rules();
        let history = route.with_attempts(History::of);
        question(&View {
            topology,
            operation: rules.operation,
            excluded: rules.excluded.union(self.0.excluded),
            strict: rules.strict,
            steering,
            history: &history,
            marks: &self.0.marks.at(now),
            circuits: None,
        })
    }

    pub(crate) fn next_sequence(&self) -> u64 {
        self.0.sequence.fetch_add(1, Ordering::Relaxed)
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

/// Hears of attempts on the account's behalf. Weak, so that a journal that somebody keeps does
/// not keep the account.
struct Observer(std::sync::Weak<Inner>);

impl AttemptObserver for Observer {
    fn ended(&self, operation: Operation, attempt: &Attempt, now: Instant) {
        let Some(inner) = self.0.upgrade() else {
            return;
        };
        tracing::debug!(
            cosmos.region = attempt.region.name(),
            cosmos.reason = attempt.reason.name(),
            cosmos.outcome = ?attempt.outcome,
            cosmos.duration = ?attempt.duration,
            "attempt"
        );
        let effect = marking::effect(operation, attempt.outcome);
        inner.marks.apply(attempt, effect, now);
        // A region that fails may have left the account, or be about to lose its role.
        if matches!(effect, marking::Effect::Mark { .. }) {
            refresh::request(&inner);
        }
    }

    fn reclassify(&self, operation: Operation, outcome: Outcome, verdict: Verdict) -> Verdict {
        let inner = self.0.upgrade();
        let classify = inner.as_ref().and_then(|inner| inner.classify.as_ref());
        classify.map_or(verdict, |hook| hook.classify(operation, outcome, verdict))
    }

    fn lists(&self, region: Region) -> bool {
        region == Region::GLOBAL
            || self.0.upgrade().is_none_or(|inner| {
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
