//! The containers that are known: bounded, each read once for all who ask.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use cosmos_core::health::{Signal, signal};
use cosmos_core::{Action, Outcome, RangeLookup, Resource, Route, Status, causes, headers};
use http::{HeaderMap, HeaderValue};
use parking_lot::Mutex;

use super::container::{Cause, Container, Ended, Known, forget};
use crate::Account;
use crate::clock::now;
use crate::metadata::{self, Reads};
use crate::watch;

/// The containers of an account.
pub(super) struct Cache {
    account: Account,
    service: metadata::Service,
    max_containers: usize,
    limit: Duration,
    // Looked at by every operation and hardly ever changed, so it is a snapshot: what threads write in
    // common, if only to count readers, costs each of them more than the look.
    containers: ArcSwap<Containers>,
    growing: Mutex<()>,
    uses: AtomicU64,
}

type Containers = HashMap<Box<str>, Arc<Container>>;

impl Cache {
    pub(super) fn new(account: &Account, max_containers: usize, limit: Duration) -> Self {
        Self {
            account: account.clone(),
            service: metadata::service(account),
            max_containers,
            limit,
            containers: ArcSwap::default(),
            growing: Mutex::default(),
            // More than any container has, that was never used.
            uses: AtomicU64::new(1),
        }
    }

    /// Sets an operation's range, if that is possible without waiting. Else the container to wait
    /// for.
    pub(super) fn look_up(&self, route: &Route) -> Option<Waiting> {
        let (link, key) = (route.container()?, route.partition_key()?);
        // What the caller says holds; and once it is an attempt, its region is chosen.
        if route.is_range_by_caller() || route.steering.attempt.is_some() {
            return None;
        }
        let set = |container: &Arc<Container>| {
            container.touch(&self.uses);
            container.doubted().is_none()
                && container
                    .with_known(|known| known.set_range(route, key))
                    .is_some()
        };
        if self.containers.load().get(link).is_some_and(set) {
            return None;
        }
        let container = self.container(link);
        let doubted = container.doubted();
        Some(Waiting {
            key: key.clone(),
            container,
            doubted,
        })
    }

    /// Waits until a container is known, for as long as an operation may wait for that.
    pub(super) fn wait(&self, waiting: Waiting, route: &Route) -> impl Future<Output = ()> + use<> {
        let Waiting {
            key,
            container,
            doubted,
        } = waiting;
        let reads = self.reads(route);
        let (account, limit) = (self.account.clone(), self.limit);
        let route = route.clone();
        async move {
            // Apart from the limit: without regions, nothing at all can be sent.
            let topology = account.wait_for_topology(&route);
            if !matches!(in_time(route.deadline(), topology).await, Some(Ok(_))) {
                route.note_range_problem("the account's regions are not known");
                return;
            }
            let ended = match doubted {
                Some(ended) => Some(ended),
                None => container.read(&reads, &route, 0, Cause::Unknown),
            };
            let until = until(&container, limit, &route);
            let late = match ended {
                Some(mut ended) => in_time(until, ended.changed()).await.is_none(),
                None => false,
            };
            match container.known() {
                Some(known) => known.set_range(&route, &key),
                None if late => {
                    route.note_range_problem("the container could not be read in time");
                }
                None => route.note_range_problem(&problem_of(&container)),
            }
        }
    }

    fn container(&self, link: &str) -> Arc<Container> {
        let found = || {
            let containers = self.containers.load();
            let container = containers.get(link)?;
            container.touch(&self.uses);
            Some(Arc::clone(container))
        };
        found().unwrap_or_else(|| {
            let _one_at_a_time = self.growing.lock();
            found().unwrap_or_else(|| self.add(link))
        })
    }

    fn add(&self, link: &str) -> Arc<Container> {
        let container = Arc::new(Container::new(link, self.account.id()));
        container.touch(&self.uses);
        let mut containers = Containers::clone(&self.containers.load());
        make_room(&mut containers, self.max_containers);
        containers.insert(link.into(), Arc::clone(&container));
        self.containers.store(Arc::new(containers));
        container
    }

    fn known(&self, link: &str) -> Option<(Arc<Container>, Arc<Known>)> {
        let container = self.containers.load().get(link).cloned()?;
        let known = container.known()?;
        Some((container, known))
    }

    /// Reads a container afresh that an answer shows to be known wrongly. The operations that come
    /// meanwhile wait for it: what they go by, such as their session token, depends on their range.
    fn doubt(&self, route: &Route, cause: Cause) {
        let known = route.container().and_then(|link| self.known(link));
        let Some((container, known)) = known else {
            return;
        };
        // The answer may be about a map that was read afresh since.
        let up_to_date = cause == Cause::Another || known.version == route.range_version();
        if up_to_date && container.doubt() {
            let _ = container.read(&self.reads(route), route, known.version, cause);
        }
    }

    fn reads(&self, route: &Route) -> Reads {
        Reads::of(self.account.id(), &self.service, route)
    }

    /// Reads a container afresh for an operation whose range was stale.
    fn refresh(&self, route: &Route, cause: Cause) -> Option<impl Future<Output = ()> + use<>> {
        let (link, key) = (route.container()?, route.partition_key()?.clone());
        let container = self.container(link);
        let before = container.known();
        let seen = before.as_ref().map_or(0, |known| known.version);
        // Somebody has read it since this operation looked.
        let stale = route.range_version() == seen || before.is_none() || cause == Cause::Another;
        let reads = self.reads(route);
        let ended = stale
            .then(|| container.read(&reads, route, seen, cause))
            .flatten();
        let (limit, route) = (self.limit, route.clone());
        Some(async move {
            if let Some(mut ended) = ended {
                // A read that hangs does not keep the operation from other regions.
                let until = until(&container, limit, &route);
                let _ = in_time(until, ended.changed()).await;
            }
            match container.known() {
                Some(known) => known.set_range(&route, &key),
                None => route.note_range_problem(&problem_of(&container)),
            }
        })
    }
}

/// Until when an operation waits for a container that is being read.
fn until(container: &Container, limit: Duration, route: &Route) -> Option<Instant> {
    let now = now();
    // Who comes later to a read that hangs waits no longer than who came first.
    let since = container.reading_since().unwrap_or(now);
    // Half of the time that is left stays for the operation itself.
    let half = route
        .deadline()
        .map(|deadline| now + deadline.saturating_duration_since(now) / 2);
    [since.checked_add(limit), half].into_iter().flatten().min()
}

/// What a future gives, if it does before this instant.
async fn in_time<T>(until: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match until {
        Some(until) => tokio::time::timeout_at(until.into(), future).await.ok(),
        None => Some(future.await),
    }
}

/// A container that an operation waits for.
pub(super) struct Waiting {
    key: HeaderValue,
    container: Arc<Container>,
    // The end of the read that its map is doubted until.
    doubted: Option<watch::Receiver<Ended>>,
}

/// Why a container is not known.
fn problem_of(container: &Container) -> String {
    match container.problem() {
        Some(error) => causes(&*error)
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(": "),
        None => "the container has not been read".to_owned(),
    }
}

/// Removes the container used longest ago, if there is no room for another one.
fn make_room(containers: &mut Containers, max: usize) {
    while containers.len() >= max.max(1) {
        let oldest = containers
            .values()
            .min_by_key(|container| container.used.load(Ordering::Relaxed));
        let Some(link) = oldest.map(|container| Box::from(container.link())) else {
            return;
        };
        containers.remove::<str>(&link);
    }
}

/// What is planted in routes. Weak, so that a journal that somebody keeps keeps no cache.
#[derive(Clone)]
pub(super) struct Lookup(pub(super) Weak<Cache>);

impl RangeLookup for Lookup {
    fn refresh(&self, route: Route) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let last = route.with_attempts(|attempts| attempts.last().map(|attempt| attempt.outcome));
        let cause = if last == Some(Outcome::Answered(Status::NAME_CACHE_STALE)) {
            Cause::Another
        } else {
            Cause::Stale
        };
        let refreshed = self
            .0
            .upgrade()
            .and_then(|cache| cache.refresh(&route, cause));
        match refreshed {
            Some(refreshed) => Box::pin(refreshed),
            None => Box::pin(std::future::ready(())),
        }
    }

    fn corrected(&self, route: &Route) {
        if let Some(cache) = self.0.upgrade() {
            cache.doubt(route, Cause::Stale);
        }
    }

    fn answered(&self, route: &Route, status: Status, headers: &HeaderMap) {
        let operation = route.operation();
        let deletes = operation.resource() == Resource::Container
            && operation.action() == Action::Delete
            && status.is_success();
        // A region that fails, or lags behind, may name what is not so.
        let is_told = operation.resource() == Resource::Item
            && signal(operation, Outcome::Answered(status), Duration::ZERO, None)
                == Signal::Success;
        let rid = headers.get(headers::CONTENT_PATH).filter(|_| is_told);
        let mismatch = status == Status::COLLECTION_RID_MISMATCH;
        if !deletes && !mismatch && rid.is_none() {
            return;
        }
        let (Some(cache), Some(link)) = (self.0.upgrade(), route.container()) else {
            return;
        };
        let containers = cache.containers.load();
        let Some(container) = containers.get(link) else {
            return;
        };
        let Some(another) = container.with_known(|known| rid.is_some_and(|rid| *rid != *known.rid))
        else {
            return;
        };
        if deletes {
            container.forget();
            forget(cache.account.id(), route, link, None);
        }
        if another || mismatch {
            cache.doubt(route, Cause::Another);
        }
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lookup(..)")
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("containers", &self.containers.load().len())
            .field("max_containers", &self.max_containers)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
