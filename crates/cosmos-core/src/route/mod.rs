//! How routing state travels: steering goes in by value, facts come out through the journal.
//!
//! [`Route`] is the one request extension that the layers share. The first of them to see a
//! request makes it from the request and the caller's [`OperationOptions`]; the others find it.

mod options;
mod steering;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::HeaderValue;
use parking_lot::Mutex;

pub use options::OperationOptions;
pub use steering::Steering;

use crate::journal::Record;
use crate::{
    Attempt, AttemptId, Begin, FailureKind, Journal, Operation, Outcome, Phase, Reason, Region,
    RegionSet, Spent,
};

/// What an account wants to know of, and to be asked about, the attempts of an operation.
///
/// Planted by `EndpointLayer`, so that a layer without an account handle can settle an attempt
/// with the same consequences as `EndpointLayer` itself, and ask whether a region is still there.
pub trait AttemptObserver: Send + Sync + fmt::Debug {
    /// An attempt has ended, or was settled.
    fn ended(&self, operation: Operation, attempt: &Attempt, now: Instant);

    /// Whether the account still has the region.
    fn lists(&self, region: Region) -> bool;
}

/// What is fixed for the operation.
#[derive(Debug)]
pub struct Rules {
    /// What the request does.
    pub operation: Operation,
    /// The regions that the caller excluded for this operation.
    pub excluded: RegionSet,
    /// Whether to refuse, rather than ask one region, if every candidate is excluded.
    pub strict: bool,
    /// Whether writes are sent again after an ambiguous failure.
    pub retry_writes: bool,
    /// The partition key range that the caller named.
    pub range: Option<Box<str>>,
}

/// Everything that the layers share about one operation.
#[derive(Debug)]
pub(crate) struct OperationState {
    pub(crate) rules: Rules,
    pub(crate) began: Instant,
    pub(crate) record: Mutex<Record>,
    observer: OnceLock<Arc<dyn AttemptObserver>>,
    activity_id: OnceLock<HeaderValue>,
    foreign: AtomicBool,
}

/// The shared routing state of one operation, and the steering of its next attempt.
///
/// A request extension. Cloning it shares the operation and copies the steering.
#[derive(Clone)]
pub struct Route {
    operation: Arc<OperationState>,
    /// Where and why the next attempt goes; a routing layer changes it on the copy it sends on.
    pub steering: Steering,
    // How many attempts there were when a layer of ours gave the steering its reason.
    steered: usize,
    // How many endpoint layers have passed on the attempt that this very request is.
    passes: u32,
}

/// How many attempts an operation had made when a layer's call began.
#[derive(Copy, Clone, Debug)]
pub struct Position(usize);

impl Route {
    /// Finds the request's route, or makes it: then this layer is the operation's first.
    ///
    /// Returns `None` for a request that is nothing of Cosmos DB and carries no options: it is to
    /// pass through untouched.
    #[must_use]
    pub fn enter<B>(request: &mut http::Request<B>, now: Instant) -> Option<Entered> {
        if let Some(route) = request.extensions().get::<Self>() {
            return Some(Entered {
                route: route.clone(),
                first: false,
            });
        }
        let operation = operation_of(request)?;
        let route = Self::new(operation, request.extensions().get(), now);
        request.extensions_mut().insert(route.clone());
        Some(Entered { route, first: true })
    }

    /// Whether a request is one for an account, so that [`enter`](Self::enter) finds or makes a
    /// route.
    #[must_use]
    pub fn concerns<B>(request: &http::Request<B>) -> bool {
        request.extensions().get::<Self>().is_some() || operation_of(request).is_some()
    }

    /// The route of an operation that begins now.
    #[must_use]
    pub fn new(operation: Operation, options: Option<&OperationOptions>, now: Instant) -> Self {
        let defaults = OperationOptions::default();
        let options = options.unwrap_or(&defaults);
        let record = Record::with_deadline(options.deadline_from(now));
        let route = Self {
            operation: Arc::new(OperationState {
                rules: Rules {
                    operation,
                    excluded: options.excluded(),
                    strict: options.is_strict(),
                    retry_writes: options.retries_writes(),
                    range: options.range().map(Into::into),
                },
                began: now,
                record: Mutex::new(record),
                observer: OnceLock::new(),
                activity_id: OnceLock::new(),
                foreign: AtomicBool::new(false),
            }),
            steering: Steering::default(),
            steered: 0,
            passes: 0,
        };
        if let Some(slot) = options.slot() {
            slot.fill(route.journal());
        }
        route
    }

    /// What is fixed for the operation.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.operation.rules
    }

    /// What the request does.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation.rules.operation
    }

    /// The operation's journal, for the caller.
    #[must_use]
    pub fn journal(&self) -> Journal {
        Journal(Arc::clone(&self.operation))
    }

    /// Shortens the deadline to `timeout` after the operation's beginning, if that is earlier.
    /// Returns the deadline that holds.
    pub fn limit(&self, timeout: Option<Duration>) -> Option<Instant> {
        let mut record = self.operation.record.lock();
        // A timeout that leads beyond what the clock can hold is no deadline.
        let limit = timeout.and_then(|timeout| self.operation.began.checked_add(timeout));
        record.deadline = match (record.deadline, limit) {
            (Some(set), Some(limit)) => Some(set.min(limit)),
            (set, limit) => set.or(limit),
        };
        record.deadline
    }

    /// The instant at which the operation must have ended.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.operation.record.lock().deadline
    }

    /// Whether the deadline has passed. Remembered in the journal, so that attempts dropped
    /// because of it are not taken for failures.
    #[must_use]
    pub fn expired(&self, now: Instant) -> bool {
        self.operation.record.lock().check_deadline(now)
    }

    /// Whether the request turned out to be for a host that is not the account's.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.operation.foreign.load(Ordering::Relaxed)
    }

    /// Notes that the request is for a host that is not the account's: it passes untouched.
    pub fn set_foreign(&self) {
        self.operation.foreign.store(true, Ordering::Relaxed);
    }

    /// The operation's `x-ms-activity-id`, made once by `make`.
    pub fn activity_id(&self, make: impl FnOnce() -> HeaderValue) -> HeaderValue {
        self.operation.activity_id.get_or_init(make).clone()
    }

    /// Plants the account that hears of attempts; the first one stays.
    pub fn observe(&self, observer: impl FnOnce() -> Arc<dyn AttemptObserver>) {
        self.operation.observer.get_or_init(observer);
    }

    /// Whether the account still has the region; true while no account was met.
    #[must_use]
    pub fn lists(&self, region: Region) -> bool {
        self.operation
            .observer
            .get()
            .is_none_or(|observer| observer.lists(region))
    }

    /// Marks the beginning of a layer's call, for [`conclude`](Self::conclude).
    #[must_use]
    pub fn position(&self) -> Position {
        Position(self.operation.record.lock().len())
    }

    /// Begins an attempt.
    ///
    /// # Errors
    /// Why nothing may be sent: the deadline has passed, the stored procedure may have run, every
    /// region is excluded, or there were too many attempts already.
    pub fn begin(&self, now: Instant, begin: Begin) -> Result<AttemptId, FailureKind> {
        self.operation
            .record
            .lock()
            .begin(self.operation(), now, begin)
    }

    /// The route of the next request, as a layer that sends again steers it.
    #[must_use]
    pub fn steered(&self, steering: Steering) -> Self {
        Self {
            steering,
            steered: self.position().0,
            passes: 0,
            ..self.clone()
        }
    }

    /// Why the next attempt is made: the steering's reason, once. Whoever sends the same request
    /// again is no layer of ours.
    #[must_use]
    pub fn reason(&self) -> Reason {
        if self.position().0 == self.steered {
            self.steering.reason
        } else {
            Reason::Foreign
        }
    }

    /// The route of the request that an attempt is.
    #[must_use]
    pub fn placed(&self, attempt: AttemptId) -> Self {
        let mut placed = self.clone();
        placed.steering.attempt = Some(attempt);
        placed.passes = 0;
        placed
    }

    /// The route to pass on if this very request is an attempt under way, which an
    /// `EndpointLayer` below the one that began it sees for the first time. `None`: it is no
    /// attempt yet, or was sent again in between.
    #[must_use]
    pub fn passed(&self) -> Option<Self> {
        let attempt = self.steering.attempt?;
        let first = self.operation.record.lock().pass(attempt, self.passes);
        first.then(|| Self {
            passes: self.passes + 1,
            ..self.clone()
        })
    }

    /// Ends an attempt and tells the account. A second end of the same attempt does nothing.
    pub fn end(&self, id: AttemptId, now: Instant, outcome: Outcome) {
        let ended = self.operation.record.lock().end(id, now, outcome);
        if let Some(attempt) = ended {
            self.tell(&attempt, now);
        }
    }

    /// Settles what was begun under a call that has now returned, and names the last attempt
    /// begun under it. `None`: the call sent nothing, so its result is not an attempt's.
    #[must_use]
    pub fn conclude(&self, since: Position, now: Instant) -> Option<Attempt> {
        let (settled, last) = {
            let mut record = self.operation.record.lock();
            let settled = record.settle(since.0, now);
            (
                settled,
                record
                    .attempts()
                    .get(since.0..)
                    .and_then(<[Attempt]>::last)
                    .copied(),
            )
        };
        for attempt in &settled {
            self.tell(attempt, now);
        }
        last
    }

    /// Notes how far the leaf got with an attempt.
    pub fn note_phase(&self, id: AttemptId, phase: Phase) {
        self.operation
            .record
            .lock()
            .update(id, |attempt| attempt.phase = phase);
    }

    /// Notes which connection shard carries an attempt.
    pub fn note_shard(&self, id: AttemptId, shard: u16) {
        self.operation
            .record
            .lock()
            .update(id, |attempt| attempt.shard = Some(shard));
    }

    /// The attempt of this number, as it stands.
    #[must_use]
    pub fn attempt(&self, id: AttemptId) -> Option<Attempt> {
        self.operation
            .record
            .lock()
            .attempts()
            .get(id.0 as usize)
            .copied()
    }

    /// Reads the attempts made so far.
    pub fn with_attempts<T>(&self, read: impl FnOnce(&[Attempt]) -> T) -> T {
        read(self.operation.record.lock().attempts())
    }

    /// Reads or spends budgets; deciding and spending in one call is atomic.
    pub fn with_spent<T>(&self, decide: impl FnOnce(&mut Spent) -> T) -> T {
        decide(&mut self.operation.record.lock().spent)
    }

    fn tell(&self, attempt: &Attempt, now: Instant) {
        if let Some(observer) = self.operation.observer.get() {
            observer.ended(self.operation(), attempt, now);
        }
    }
}

fn operation_of<B>(request: &http::Request<B>) -> Option<Operation> {
    let method = request.method();
    let classified = Operation::classify(method, request.uri().path(), request.headers());
    // Options say that it is meant for the account, so it goes where metadata goes.
    let meant = || request.extensions().get::<OperationOptions>().is_some();
    classified.or_else(|| meant().then(|| Operation::unclassified(method)))
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route")
            .field("operation", &self.operation.rules.operation)
            .field("steering", &self.steering)
            .field("journal", &self.journal())
            .finish_non_exhaustive()
    }
}

/// What [`Route::enter`] found or made.
#[derive(Debug)]
pub struct Entered {
    /// The route.
    pub route: Route,
    /// Whether it was made just now.
    pub first: bool,
}
