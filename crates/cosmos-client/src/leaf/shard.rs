//! The shards of one authority, and the slots on them.
//!
//! A semaphore holds as many permits as all shards together may ever have streams. Whoever holds
//! one of them is sure of a slot: on a shard with room, or on a shard that may still be made.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper_util::client::legacy::Client;
use parking_lot::Mutex;
use tokio::sync::{AcquireError, Semaphore, TryAcquireError};

use super::connect::Connector;
use super::outgoing::Outgoing;

/// How many shards an authority has, and how many streams each of them.
#[derive(Copy, Clone, Debug)]
pub(super) struct Limits {
    pub(super) initial: usize,
    pub(super) max: usize,
    pub(super) streams: usize,
}

/// One pool of connections.
pub(super) struct Shard {
    pub(super) number: u16,
    pub(super) client: Client<Connector, Outgoing>,
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
}

impl Shards {
    pub(super) fn new(limits: Limits, make: MakeClient) -> Self {
        let mut table = Table::default();
        for _ in 0..limits.initial {
            let shard = table.make(&make, None);
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
        let shard = table.choose(self.limits, avoid, &self.make);
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
    /// The least busy shard with room, else a new one.
    ///
    /// Called with a permit that is not counted yet, so not every stream of every shard is in
    /// flight: if none of the others has room and no shard may be added, the one to avoid has.
    /// It is then taken out of the table, and a new shard takes its place; its streams go on.
    fn choose(&mut self, limits: Limits, avoid: Option<u16>, make: &MakeClient) -> Arc<Shard> {
        let least_busy = self
            .shards
            .iter()
            .filter(|shard| Some(shard.number) != avoid)
            .map(|shard| (shard.in_flight.load(Ordering::Acquire), shard))
            .filter(|(in_flight, _)| *in_flight < limits.streams)
            .min_by_key(|(in_flight, _)| *in_flight);
        if let Some((_, shard)) = least_busy {
            return Arc::clone(shard);
        }
        let new = self.make(make, avoid);
        if self.shards.len() >= limits.max {
            self.shards.retain(|shard| Some(shard.number) != avoid);
        }
        self.shards.push(Arc::clone(&new));
        new
    }

    /// A shard with a number that is free, and not the one to avoid.
    fn make(&mut self, make: &MakeClient, avoid: Option<u16>) -> Arc<Shard> {
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
        let connector = Connector::new(Resolver::new(None), tls.into(), limit, Protocol::Auto);
        let limits = Limits {
            initial,
            max,
            streams,
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
}
