//! How routing state travels: steering goes in by value, facts come out through the journal.
//!
//! [`Route`] is the one request extension that the layers share. The first of them to see a
//! request makes it from the request and the caller's [`OperationOptions`]; the others find it.

mod attempts;
mod entering;
mod observer;
mod options;
mod original;
mod partition;
mod steering;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use smallvec::SmallVec;

pub use attempts::Position;
pub use entering::Entered;
pub use observer::{
    AnswerListener, AttemptObserver, Breaker, Ended, RangeLookup, Toll, WriteRegionMemory,
};
pub use options::OperationOptions;
pub use original::Original;
pub use steering::Steering;

use crate::headers;
use crate::journal::Record;
use crate::policy::{Verdict, verdict};
use crate::{Journal, Operation, Outcome, Region, RegionSet, Status};
use partition::Target;

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
}

/// Everything that the layers share about one operation.
#[derive(Debug)]
pub(crate) struct OperationState {
    pub(crate) rules: Rules,
    pub(crate) began: Instant,
    pub(crate) record: Mutex<Record>,
    pub(crate) target: Target,
    observer: OnceLock<Arc<dyn AttemptObserver>>,
    breaker: OnceLock<(AccountId, Arc<dyn Breaker>)>,
    write_regions: OnceLock<(AccountId, Arc<dyn WriteRegionMemory>)>,
    ranges: OnceLock<Arc<dyn RangeLookup>>,
    listener: OnceLock<Arc<dyn AnswerListener>>,
    activity_id: OnceLock<HeaderValue>,
    foreign: AtomicBool,
    hub_only: AtomicBool,
    headers: Mutex<SmallVec<[(HeaderName, HeaderValue); 2]>>,
}

/// Tells the accounts of a process apart: what one account's layers plant is nothing to another.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct AccountId(u64);

impl AccountId {
    /// One that no other account has.
    #[must_use]
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
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

impl Route {
    /// The route of an operation that begins now.
    #[must_use]
    pub fn new(operation: Operation, options: Option<&OperationOptions>, now: Instant) -> Self {
        Self::make(operation, options, now, |_| {})
    }

    fn make(
        operation: Operation,
        options: Option<&OperationOptions>,
        now: Instant,
        complete: impl FnOnce(&mut Target),
    ) -> Self {
        let defaults = OperationOptions::default();
        let options = options.unwrap_or(&defaults);
        let record = Record::with_deadline(options.deadline_from(now));
        let mut target = Target::of_options(options);
        complete(&mut target);
        let route = Self {
            operation: Arc::new(OperationState {
                rules: Rules {
                    operation,
                    excluded: options.excluded(),
                    strict: options.is_strict(),
                    retry_writes: options.retries_writes(),
                },
                began: now,
                record: Mutex::new(record),
                target,
                observer: OnceLock::new(),
                breaker: OnceLock::new(),
                write_regions: OnceLock::new(),
                ranges: OnceLock::new(),
                listener: OnceLock::new(),
                activity_id: OnceLock::new(),
                foreign: AtomicBool::new(false),
                hub_only: AtomicBool::new(false),
                headers: Mutex::default(),
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

    /// When the operation began.
    #[must_use]
    pub fn began(&self) -> Instant {
        self.operation.began
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

    /// Has every attempt from here on carry a header, unless the request has it already.
    ///
    /// A layer asks for headers in this way and does not put them on the request itself: only
    /// `EndpointLayer` knows whether the request is for the account.
    pub fn put_header(&self, name: HeaderName, value: HeaderValue) {
        let mut headers = self.operation.headers.lock();
        if !headers.iter().any(|(known, _)| *known == name) {
            headers.push((name, value));
        }
    }

    /// Puts on an attempt's request the headers that layers asked for.
    pub fn add_headers(&self, map: &mut HeaderMap) {
        for (name, value) in &*self.operation.headers.lock() {
            headers::put_if_absent(map, name, || value.clone());
        }
    }

    /// Whether the operation asks to be processed in the hub only, from here on.
    #[must_use]
    pub fn is_hub_only(&self) -> bool {
        self.operation.hub_only.load(Ordering::Relaxed)
    }

    /// Asks for the operation to be processed in the hub only, from its next attempt on.
    pub fn set_hub_only(&self) {
        self.operation.hub_only.store(true, Ordering::Relaxed);
        self.put_header(headers::HUB_REGION_PROCESSING_ONLY, headers::value::TRUE);
    }

    /// What an outcome of this operation asks for.
    #[must_use]
    pub fn verdict(&self, multi_write: bool, outcome: Outcome) -> Verdict {
        let rules = self.rules();
        // A region that was asked for hub processing says in this way that it is not the hub.
        let not_the_hub =
            self.is_hub_only() && outcome == Outcome::Answered(Status::WRITE_FORBIDDEN);
        let verdict = if not_the_hub {
            Verdict::WriteRegionMoved
        } else {
            verdict(rules.operation, rules.retry_writes, multi_write, outcome)
        };
        match self.operation.observer.get() {
            // The client's own deadline is nobody's to overrule.
            Some(observer) if outcome != Outcome::Answered(Status::CLIENT_OPERATION_TIMEOUT) => {
                observer.reclassify(rules.operation, outcome, verdict)
            }
            _ => verdict,
        }
    }

    /// The operation's `x-ms-activity-id`, made once by `make`.
    pub fn activity_id(&self, make: impl FnOnce() -> HeaderValue) -> HeaderValue {
        self.operation.activity_id.get_or_init(make).clone()
    }

    /// Plants the account that hears of attempts; the first one stays.
    pub fn observe(&self, observer: impl FnOnce() -> Arc<dyn AttemptObserver>) {
        self.operation.observer.get_or_init(observer);
    }

    /// Takes from the account's retry guard what sending again with this steering costs.
    #[must_use]
    pub fn pay(&self, steering: Steering) -> Toll {
        let observer = self.operation.observer.get();
        observer.map_or(Toll::Free, |observer| observer.pay(self, steering))
    }

    /// Gives back what was paid for an attempt that is not made.
    pub fn pay_back(&self, region: Region) {
        if let Some(observer) = self.operation.observer.get() {
            observer.pay_back(region);
        }
    }

    /// Plants the breaker that oversees the operation's attempts at an account; the first one stays.
    pub fn plant_breaker(&self, account: AccountId, breaker: impl FnOnce() -> Arc<dyn Breaker>) {
        let planted = || (account, breaker());
        self.operation.breaker.get_or_init(planted);
    }

    /// The account's breaker, if there is one.
    #[must_use]
    pub fn breaker(&self, account: AccountId) -> Option<&Arc<dyn Breaker>> {
        of_account(&self.operation.breaker, account)
    }

    /// Plants the memory of where an account's partitions accept writes; the first one stays.
    pub fn plant_write_regions(
        &self,
        account: AccountId,
        memory: impl FnOnce() -> Arc<dyn WriteRegionMemory>,
    ) {
        let planted = || (account, memory());
        self.operation.write_regions.get_or_init(planted);
    }

    /// The memory of where the account's partitions accept writes, if there is one.
    #[must_use]
    pub fn write_regions(&self, account: AccountId) -> Option<&Arc<dyn WriteRegionMemory>> {
        of_account(&self.operation.write_regions, account)
    }

    /// Plants what finds out the operation's partition; the first one stays. Returns whether it is
    /// this one.
    pub fn plant_ranges(&self, ranges: &Arc<dyn RangeLookup>) -> bool {
        let planted = self.operation.ranges.get_or_init(|| Arc::clone(ranges));
        Arc::ptr_eq(planted, ranges)
    }

    /// What finds out the operation's partition, if anything does.
    #[must_use]
    pub fn ranges(&self) -> Option<&Arc<dyn RangeLookup>> {
        self.operation.ranges.get()
    }

    /// Plants what hears of the operation's answers; the first one stays.
    pub fn listen(&self, listener: impl FnOnce() -> Arc<dyn AnswerListener>) {
        self.operation.listener.get_or_init(listener);
    }

    /// Tells of an answer.
    pub fn answered(&self, status: Status, headers: &HeaderMap) {
        if let Some(ranges) = self.ranges() {
            ranges.answered(self, status, headers);
        }
        if let Some(listener) = self.operation.listener.get() {
            listener.answered(self.operation(), status, headers);
        }
    }

    /// Whether the account still has the region; true while no account was met.
    #[must_use]
    pub fn lists(&self, region: Region) -> bool {
        self.operation
            .observer
            .get()
            .is_none_or(|observer| observer.lists(region))
    }
}

fn of_account<T>(planted: &OnceLock<(AccountId, T)>, account: AccountId) -> Option<&T> {
    let (owner, planted) = planted.get()?;
    (*owner == account).then_some(planted)
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
