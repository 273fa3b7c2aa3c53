//! The shards of one authority, and the slots on them.
//!
//! A semaphore holds as many permits as all shards together may ever have streams. Whoever holds
//! one of them is sure of a slot: on a shard with room, or on a shard that may still be made.
//! Shards that are suspected come last, and those that are sick or old are replaced (see
//! [`health`](super::health)).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper_util::client::legacy::Client;
use parking_lot::Mutex;
use tokio::sync::{AcquireError, Semaphore, TryAcquireError};
use tokio::time::Instant;

use super::connect::Connector;
use super::health::{Health, RETIRE_INTERVAL, Retirement};
use super::outgoing::Outgoing;

/// How many shards an authority has, and how many streams each of them.
#[derive(Copy, Clone, Debug)]
pub(super) struct Limits {
    pub(super) initial: usize,
    pub(super) max: usize,
    pub(super) streams: usize,
    pub(super) retirement: Retirement,
}

/// One pool of connections.
pub(super) struct Shard {
    pub(super) number: u16,
    pub(super) client: Client<Connector, Outgoing>,
    pub(super) health: Health,
    in_flight: AtomicUsize,
}

/// Makes the client of a new shard.
pub(super) type MakeClient = Arc<dyn Fn() -> Client<Connector, Outgoing> + Send + Sync>;

/// The shards of one scheme, host and port.
pub(super) struct Shards {
    limits: Limits,
    make: MakeClient,
    permits: Semaphore,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    shards: Vec<Arc<Shard>>,
    next: u16,
    retired: Option<Instant>,
}

impl Shards {
    pub(super) fn new(limits: Limits, make: MakeClient) -> Self {
        let mut table = Table::default();
        for _ in 0..limits.initial {
            let shard = table.make(&make, None, Instant::now());
            table.shards.push(shard);
        }
        Self {
            limits,
            make,
            permits: Semaphore::new(limits.max * limits.streams),
            table: Mutex::new(table),
        }
    }

    /// A slot, if one is free now and nobody waits for it.
    pub(super) fn try_reserve(
        self: &Arc<Self>,
        avoid: Option<u16>,
    ) -> Result<Slot, TryAcquireError> {
        self.permits.try_acquire()?.forget();
        Ok(self.choose(avoid))
    }

    /// A slot, in the order of asking.
    pub(super) async fn reserve(self: Arc<Self>, avoid: Option<u16>) -> Result<Slot, AcquireError> {
        // No await between the permit and the slot that gives it back.
        self.permits.acquire().await?.forget();
        Ok(self.choose(avoid))
    }

    /// Ends every wait for a slot, now and later.
    pub(super) fn close(&self) {
        self.permits.close();
    }

    /// The number of every shard, and how many streams it has in flight.
    pub(super) fn usage(&self) -> Vec<(u16, usize)> {
        let table = self.table.lock();
        let shards = table.shards.iter();
        shards
            .map(|shard| (shard.number, shard.in_flight.load(Ordering::Acquire)))
            .collect()
    }

    /// Turns a permit into a slot: the shard is chosen and counted under one lock.
    fn choose(self: &Arc<Self>, avoid: Option<u16>) -> Slot {
        let mut table = self.table.lock();
        let now = Instant::now();
        table.retire(self.limits.retirement, now);
        let shard = table.choose(self.limits, avoid, &self.make, now);
        shard.in_flight.fetch_add(1, Ordering::AcqRel);
        Slot {
            shards: Arc::clone(self),
            shard,
        }
    }
}

impl fmt::Debug for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shards")
            .field("limits", &self.limits)
            .field("usage", &self.usage())
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Takes out a shard that has got old, or has failed too often. One at a time, so that not all
    /// connections are made anew at once.
    fn retire(&mut self, retirement: Retirement, now: Instant) {
        let old = self
            .shards
            .iter()
            .position(|shard| shard.health.is_old(retirement, now));
        if let Some(index) = old {
            self.shards.remove(index);
            return;
        }
        let rested = self
            .retired
            .is_none_or(|last| now.saturating_duration_since(last) >= RETIRE_INTERVAL);
        let bad = self
            .shards
            .iter()
            .position(|shard| shard.health.is_bad(retirement));
        if let Some(index) = bad
            && rested
        {
            self.shards.remove(index);
            self.retired = Some(now);
        }
    }

    /// The least busy shard with room that is not suspected, else a new one, else a suspect.
    ///
    /// Called with a permit that is not counted yet, so not every stream of every shard is in
    /// flight: if none of the others has room and no shard may be added, the one to avoid has.
    /// It is then taken out of the table, and a new shard takes its place; its streams go on.
    fn choose(
        &mut self,
        limits: Limits,
        avoid: Option<u16>,
        make: &MakeClient,
        now: Instant,
    ) -> Arc<Shard> {
        let least_busy = self
            .shards
            .iter()
            .filter(|shard| Some(shard.number) != avoid)
            .map(|shard| (shard.in_flight.load(Ordering::Acquire), shard))
            .filter(|(in_flight, _)| *in_flight < limits.streams)
            .min_by_key(|(in_flight, shard)| (shard.health.is_suspected(), *in_flight));
        let may_add = self.shards.len() < limits.max;
        if let Some((_, shard)) = least_busy
            && !(shard.health.is_suspected() && may_add)
            && self.shards.len() >= limits.initial
        {
            return Arc::clone(shard);
        }
        let new = self.make(make, avoid, now);
        if self.shards.len() >= limits.max {
            self.shards.retain(|shard| Some(shard.number) != avoid);
        }
        self.shards.push(Arc::clone(&new));
        new
    }

    /// A shard with a number that is free, and not the one to avoid.
    fn make(&mut self, make: &MakeClient, avoid: Option<u16>, now: Instant) -> Arc<Shard> {
        let taken = |number| {
            Some(number) == avoid || self.shards.iter().any(|shard| shard.number == number)
        };
        let mut number = self.next;
        while taken(number) {
            number = number.wrapping_add(1);
        }
        self.next = number.wrapping_add(1);
        Arc::new(Shard {
            number,
            client: make(),
            health: Health::new(now),
            in_flight: AtomicUsize::new(0),
        })
    }
}

/// One stream of one shard, given back when dropped.
pub(super) struct Slot {
    shards: Arc<Shards>,
    pub(super) shard: Arc<Shard>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        // The count first: who gets the permit must find the room.
        self.shard.in_flight.fetch_sub(1, Ordering::AcqRel);
        self.shards.permits.add_permits(1);
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("shard", &self.shard.number)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyper_util::rt::TokioExecutor;
    use rustls::{ClientConfig, RootCertStore};

    use super::super::Protocol;
    use super::super::dial::Dial;
    use super::super::resolve::Resolver;
    use super::*;

    fn shards(initial: usize, max: usize, streams: usize) -> Arc<Shards> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let limit = Duration::from_secs(1);
        let dial = Dial::tcp(Resolver::new(None), limit);
        let connector = Connector::new(dial, tls.into(), limit, Protocol::Auto);
        let limits = Limits {
            initial,
            max,
            streams,
            retirement: Retirement {
                failures: 3,
                age: Duration::from_secs(600),
            },
        };
        let make = move || Client::builder(TokioExecutor::new()).build(connector.clone());
        Arc::new(Shards::new(limits, Arc::new(make)))
    }

    #[test]
    fn calls_spread_over_the_shards_and_new_ones_are_made_when_all_are_busy() {
        let shards = shards(2, 3, 2);
        let slots: Vec<_> = (0..6).map(|_| shards.try_reserve(None).unwrap()).collect();
        let numbers: Vec<_> = slots.iter().map(|slot| slot.shard.number).collect();
        assert_eq!(numbers, [0, 1, 0, 1, 2, 2]);
        assert!(shards.try_reserve(None).is_err());
        drop(slots);
        assert_eq!(shards.usage(), [(0, 0), (1, 0), (2, 0)]);
    }

    #[test]
    fn the_shard_to_avoid_is_replaced_if_only_it_has_room() {
        let shards = shards(2, 2, 1);
        let on_0 = shards.try_reserve(Some(1)).unwrap();
        let new = shards.try_reserve(Some(1)).unwrap();
        assert_eq!((on_0.shard.number, new.shard.number), (0, 2));
        assert_eq!(shards.usage(), [(0, 1), (2, 1)]);
        // Streams of a shard that was replaced keep their permits.
        drop(on_0);
        let on_0 = shards.try_reserve(Some(1)).unwrap();
        assert_eq!(on_0.shard.number, 0);
        assert!(shards.try_reserve(Some(0)).is_err());
    }

    #[test]
    fn no_shard_is_ever_above_its_limit() {
        let shards = shards(2, 4, 3);
        std::thread::scope(|scope| {
            for thread in 0..8_u16 {
                let shards = &shards;
                scope.spawn(move || {
                    for round in 0..2_000_u16 {
                        let avoid = (round % 3 == 0).then_some((round + thread) % 6);
                        let held: Vec<_> = (0..2)
                            .filter_map(|_| shards.try_reserve(avoid).ok())
                            .inspect(|slot| assert_ne!(Some(slot.shard.number), avoid))
                            .collect();
                        let usage = shards.usage();
                        assert!(usage.len() <= 4, "{usage:?}");
                        assert!(usage.iter().all(|(_, busy)| *busy <= 3), "{usage:?}");
                        drop(held);
                    }
                });
            }
        });
        assert!(shards.usage().iter().all(|(_, in_flight)| *in_flight == 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_suspected_shard_takes_nothing_while_others_can() {
        let shards = shards(2, 3, 2);
        let sick = shards.try_reserve(None).unwrap();
        sick.shard.health.failed();
        let others: Vec<_> = (0..4).map(|_| shards.try_reserve(None).unwrap()).collect();
        assert!(
            others
                .iter()
                .all(|slot| slot.shard.number != sick.shard.number)
        );
        // Only the suspect has room now.
        assert_eq!(
            shards.try_reserve(None).unwrap().shard.number,
            sick.shard.number
        );
        sick.shard.health.answered(http::StatusCode::OK);
        assert_eq!(shards.usage().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_shard_that_keeps_failing_is_replaced_and_its_streams_go_on() {
        let shards = shards(1, 1, 4);
        let on_0 = shards.try_reserve(None).unwrap();
        for _ in 0..3 {
            on_0.shard.health.failed();
        }
        assert_eq!(shards.try_reserve(None).unwrap().shard.number, 1);
        assert_eq!(shards.usage(), [(1, 0)]);
        drop(on_0);
        assert!((0..4).all(|_| shards.try_reserve(None).is_ok()));
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_fail_one_is_replaced_a_second() {
        let shards = shards(4, 4, 4);
        let fail_all = || {
            let slots: Vec<_> = (0..16)
                .filter_map(|_| shards.try_reserve(None).ok())
                .collect();
            for slot in &slots {
                (0..3).for_each(|_| slot.shard.health.failed());
            }
        };
        fail_all();
        for _ in 0..10 {
            fail_all();
        }
        let number = |shards: &Arc<Shards>| {
            shards
                .usage()
                .iter()
                .map(|(number, _)| *number)
                .max()
                .unwrap()
        };
        assert_eq!(number(&shards), 4, "four at first, and one new");
        tokio::time::advance(RETIRE_INTERVAL).await;
        drop(shards.try_reserve(None));
        assert_eq!(number(&shards), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_shard_is_replaced() {
        let shards = shards(2, 2, 4);
        tokio::time::advance(Duration::from_secs(600)).await;
        for _ in 0..2 {
            drop(shards.try_reserve(None));
        }
        let numbers: Vec<_> = shards.usage().iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [2, 3]);
    }
}
