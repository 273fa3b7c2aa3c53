//! What a region holds: its documents, and the writes that every region has made as far as it knows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use parking_lot::Mutex;

/// Partition key and id.
pub(crate) type Key = (String, String);

/// What a document is worth; `None`: it is not there.
pub(crate) type State = Option<u64>;

/// A write that a region has accepted.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) key: Key,
    pub(crate) state: State,
    pub(crate) etag: String,
    /// When, and where: of two writes of one document the later one wins, everywhere.
    stamp: (u64, usize),
}

/// How a change travels between regions.
pub(crate) type Wired = (Key, State, String, u64);

impl Change {
    pub(crate) fn wired(&self) -> Wired {
        let (key, state, etag) = (self.key.clone(), self.state, self.etag.clone());
        (key, state, etag, self.stamp.0)
    }

    fn unwired((key, state, etag, at): Wired, origin: usize) -> Self {
        Self {
            key,
            state,
            etag,
            stamp: (at, origin),
        }
    }
}

/// The durable part of a region: it outlives a crash of its host.
#[derive(Debug)]
pub(crate) struct Disk {
    region: usize,
    /// The writes that each region has made, in its order, as far as they are here.
    logs: Vec<Vec<Change>>,
    documents: BTreeMap<Key, Change>,
}

/// The regions' disks.
pub(crate) type Disks = Vec<Mutex<Disk>>;

pub(crate) fn disks(regions: usize) -> Disks {
    let disk = |region| {
        Mutex::new(Disk {
            region,
            logs: vec![Vec::new(); regions],
            documents: BTreeMap::new(),
        })
    };
    (0..regions).map(disk).collect()
}

/// Whether every region knows what every other one has accepted.
pub(crate) fn converged(disks: &Disks) -> bool {
    let progress = |disk: &Mutex<Disk>| disk.lock().progress();
    let first = progress(&disks[0]);
    disks.iter().all(|disk| progress(disk) == first)
}

impl Disk {
    /// The document, if it is there.
    pub(crate) fn get(&self, key: &Key) -> Option<&Change> {
        let stored = self.documents.get(key);
        stored.filter(|stored| stored.state.is_some())
    }

    /// The documents of a partition key that are there.
    pub(crate) fn partition(&self, partition: &str) -> impl Iterator<Item = &Change> {
        let all = self.documents.iter();
        all.filter(move |((key, _), stored)| key == partition && stored.state.is_some())
            .map(|(_, stored)| stored)
    }

    /// Accepts a write. What this returns is on the disk.
    pub(crate) fn write(&mut self, key: Key, state: State, now: Duration) -> Change {
        let number = self.logs[self.region].len() + 1;
        let change = Change {
            key,
            state,
            etag: format!("\"{}-{number}\"", self.region),
            stamp: (nanoseconds(now), self.region),
        };
        self.take(self.region, change.clone());
        change
    }

    /// How many writes of each region are here.
    pub(crate) fn progress(&self) -> Vec<usize> {
        self.logs.iter().map(Vec::len).collect()
    }

    /// The region's own writes after the first so many.
    pub(crate) fn since(&self, known: usize) -> Vec<Wired> {
        let own = &self.logs[self.region];
        own.iter().skip(known).map(Change::wired).collect()
    }

    /// Takes over what another region has written after the first so many.
    pub(crate) fn replicate(&mut self, origin: usize, known: usize, changes: Vec<Wired>) {
        // An answer that came twice says nothing new.
        let have = self.logs[origin].len();
        for change in changes.into_iter().skip(have - known) {
            self.take(origin, Change::unwired(change, origin));
        }
    }

    fn take(&mut self, origin: usize, change: Change) {
        let newer = |stored: &Change| stored.stamp > change.stamp;
        if !self.documents.get(&change.key).is_some_and(newer) {
            self.documents.insert(change.key.clone(), change.clone());
        }
        self.logs[origin].push(change);
    }

    /// The session token: the progress of every region.
    pub(crate) fn token(&self) -> String {
        let progress = self.progress();
        let mut token = format!("0:1#{}", progress.iter().sum::<usize>());
        for (region, count) in progress.iter().enumerate() {
            let _ = write!(token, "#{region}={count}");
        }
        token
    }

    /// Whether everything that a session has seen is here.
    pub(crate) fn covers(&self, token: &str) -> bool {
        let regions = token.split('#').skip(2).filter_map(|part| {
            let (region, count) = part.split_once('=')?;
            Some((region.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
        });
        let mut seen = regions.peekable();
        assert!(seen.peek().is_some(), "{token:?} is no token of ours");
        seen.all(|(region, count)| self.logs[region].len() >= count)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("a short simulation")
}
