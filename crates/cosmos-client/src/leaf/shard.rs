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
            let shard = table.make(&make);
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
        let new = self.make(make);
        if self.shards.len() >= limits.max {
            self.shards.retain(|shard| Some(shard.number) != avoid);
        }
        self.shards.push(Arc::clone(&new));
        new
    }

    fn make(&mut self, make: &MakeClient) -> Arc<Shard> {
        while self.shards.iter().any(|shard| shard.number == self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let number = self.next;
        self.next = self.next.wrapping_add(1);
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
