//! What the account's endpoints read, and what that says of where a client's operations went.

use std::time::Duration;

use cosmos_testbed::embedded::{Endpoint, WireEntry};
use tokio::time::Instant;

use super::fault::Fault;
use super::scene::{PREFERRED, Scene};

/// How finely it is looked at.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// How many slices in a row the preferred region has to have the operations again.
const SLICES_BACK: u32 = 10;

/// The share of a region's requests that is as good as all.
const NEARLY_ALL: f64 = 0.99;

/// Requests of the preferred region so late in a fault say that nobody moved.
const TOO_LATE_TO_MOVE: Duration = Duration::from_millis(500);

/// A request for an item whose operation the fault affects.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    at: Instant,
    preferred: bool,
}

/// Follows the account's log.
#[derive(Debug)]
pub(super) struct Wire {
    fault: Fault,
    next: u64,
    requests: u64,
    affected: Vec<Seen>,
    /// Where the second begins that is looked at next.
    looked_from: Option<Instant>,
}

impl Wire {
    /// From now on.
    pub(super) fn new(fault: Fault, scene: &Scene) -> Self {
        let last = scene.account.wire_log().last().map(|entry| entry.sequence);
        Self {
            fault,
            next: last.map_or(0, |last| last + 1),
            requests: 0,
            affected: Vec::new(),
            looked_from: None,
        }
    }

    /// Takes in what was read since the last time. The log holds several seconds' worth.
    pub(super) fn follow(&mut self, scene: &Scene) {
        for entry in scene.account.wire_log_from(self.next) {
            self.next = entry.sequence + 1;
            self.requests += 1;
            if let Some(key) = item(&entry)
                && self
                    .fault
                    .affects(entry.method != "GET", scene.sick_keys.contains(key))
            {
                self.affected.push(Seen {
                    at: entry.read_at,
                    preferred: entry.endpoint == Endpoint::region(PREFERRED),
                });
            }
        }
    }

    /// Requests of every sort, metadata included.
    pub(super) fn requests(&self) -> u64 {
        self.requests
    }

    /// When the client had left the preferred region, counted from the beginning of a fault.
    pub(super) fn moved(&self, began: Instant, ended: Instant) -> Option<Duration> {
        moved(&self.affected, began, ended)
    }

    /// When the preferred region had the operations again, counted from the end of a fault; after that
    /// nothing else can be asked for.
    pub(super) fn back(&mut self, ended: Instant) -> Option<Duration> {
        let from = self.looked_from.get_or_insert(ended);
        back(&mut self.affected, from).then(|| *from - ended)
    }
}

/// The partition key of a request for an item.
fn item(entry: &WireEntry) -> Option<&str> {
    let key = entry.partition_key.as_deref()?;
    entry.path.contains("/docs").then_some(key)
}

/// After the last slice in which the preferred region read more than a hundredth of the requests: the
/// first request elsewhere. `None` if that slice is the fault's last, or nothing went elsewhere.
fn moved(seen: &[Seen], began: Instant, ended: Instant) -> Option<Duration> {
    let during = || seen.iter().filter(|seen| (began..ended).contains(&seen.at));
    let slice = |at: Instant| (at - began).as_millis() / SLICE.as_millis();
    let mut slices = std::collections::BTreeMap::<u128, (u64, u64)>::new();
    for seen in during() {
        let (preferred, all) = slices.entry(slice(seen.at)).or_default();
        *preferred += u64::from(seen.preferred);
        *all += 1;
    }
    let stays = |(preferred, all): &(u64, u64)| share(*preferred, *all) > 1.0 - NEARLY_ALL;
    let last = slices.iter().rev().find(|(_, counts)| stays(counts));
    let last = last.map(|(last, _)| *last);
    let left = during()
        .filter(|seen| seen.preferred && last == Some(slice(seen.at)))
        .map(|seen| seen.at)
        .max()
        .unwrap_or(began);
    if ended - left < TOO_LATE_TO_MOVE {
        return None;
    }
    let mut after = during().filter(|seen| !seen.preferred && seen.at >= left);
    after.next().map(|first| first.at - began)
}

/// Moves on to the beginning of the first second in which the preferred region read nearly all requests,
/// and tells whether there is one so far. What was before is let go: there is a lot to look at.
fn back(seen: &mut Vec<Seen>, from: &mut Instant) -> bool {
    let length = SLICE * SLICES_BACK;
    let Some(now) = seen.last().map(|seen| seen.at) else {
        return false;
    };
    while *from + length <= now {
        seen.retain(|seen| seen.at >= *from);
        let window = seen.iter().filter(|seen| seen.at < *from + length);
        let (preferred, all) = window.fold((0, 0), |(preferred, all), seen| {
            (preferred + u64::from(seen.preferred), all + 1)
        });
        if all > 0 && share(preferred, all) >= NEARLY_ALL {
            return true;
        }
        *from += SLICE;
    }
    false
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn share(some: u64, all: u64) -> f64 {
    some as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Duration = Duration::from_secs(10);

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A request every ten milliseconds up to here.
    fn seen(began: Instant, until: u64, preferred: impl Fn(u64) -> bool) -> Vec<Seen> {
        let times = (0..until).step_by(10);
        times
            .map(|at| Seen {
                at: began + millis(at),
                preferred: preferred(at),
            })
            .collect()
    }

    #[tokio::test]
    async fn a_client_has_moved_with_its_first_request_after_the_last_to_the_region() {
        let began = Instant::now();
        let requests = seen(began, 10_000, |at| at < 250);
        assert_eq!(moved(&requests, began, began + TEN), Some(millis(250)));
    }

    #[tokio::test]
    async fn silence_is_no_move() {
        let began = Instant::now();
        let mut requests = seen(began, 10_000, |at| at < 20);
        requests.retain(|seen| !(millis(20)..millis(6000)).contains(&(seen.at - began)));
        assert_eq!(moved(&requests, began, began + TEN), Some(millis(6000)));
        requests.retain(|seen| seen.preferred);
        assert_eq!(moved(&requests, began, began + TEN), None);
    }

    #[tokio::test]
    async fn who_asks_the_region_first_each_time_has_not_moved() {
        let began = Instant::now();
        let requests = seen(began, 10_000, |at| at % 20 == 0);
        assert_eq!(moved(&requests, began, began + TEN), None);
    }

    #[tokio::test]
    async fn a_single_probe_does_not_count() {
        let began = Instant::now();
        let mut requests = Vec::new();
        for _ in 0..20 {
            requests.extend(seen(began, 10_000, |at| at < 250));
        }
        requests.push(Seen {
            at: began + millis(9_000),
            preferred: true,
        });
        assert_eq!(moved(&requests, began, began + TEN), Some(millis(250)));
    }

    #[tokio::test]
    async fn a_client_is_back_when_the_region_has_nearly_all_for_a_second() {
        let ended = Instant::now();
        let requests = seen(ended, 5000, |at| at >= 2000 || at % 100 == 0);
        let (early, late) = requests.split_at(290);
        let (mut so_far, mut from) = (early.to_vec(), ended);
        assert!(!back(&mut so_far, &mut from));
        so_far.extend(late);
        assert!(back(&mut so_far, &mut from));
        assert_eq!(from, ended + millis(2000));
    }
}
