//! What the servers read: every data request, by range, region and time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cosmos_examples::frame::Frame;
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval};

use crate::setup::{REGIONS, World, header};

/// How often the servers' log is read: long before it is full.
const TICK: Duration = Duration::from_millis(250);

/// One number for each of [`REGIONS`].
pub(crate) type PerRegion = [u64; REGIONS.len()];

/// What the servers counted.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// By range and slice of the run.
    pub(crate) slices: Vec<Vec<PerRegion>>,
    /// When the preferred region read requests for the sick partition, counted from the start.
    pub(crate) sick_at_preferred: Vec<Duration>,
}

impl Requests {
    /// How many requests each region read for a range.
    pub(crate) fn of_range(&self, range: usize) -> PerRegion {
        let mut sum = PerRegion::default();
        for slice in &self.slices[range] {
            for (sum, requests) in sum.iter_mut().zip(slice) {
                *sum += requests;
            }
        }
        sum
    }
}

/// Follows the servers' log.
#[derive(Debug)]
pub(crate) struct Watch {
    log: Arc<Log>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Log {
    world: World,
    frame: Frame,
    start: Instant,
    ranges: HashMap<String, usize>,
    state: Mutex<(u64, Requests)>,
}

/// Follows the servers' log from now on.
pub(crate) fn watch(world: &World, frame: &Frame, start: Instant) -> Watch {
    let keys = world.keys.iter();
    let slices = vec![PerRegion::default(); frame.slices()];
    let requests = Requests {
        slices: vec![slices; world.ranges.len()],
        sick_at_preferred: Vec::new(),
    };
    let log = Arc::new(Log {
        world: world.clone(),
        frame: frame.clone(),
        start,
        ranges: keys.map(|(key, range)| (header(key), *range)).collect(),
        state: Mutex::new((0, requests)),
    });
    let reading = Arc::clone(&log);
    let task = tokio::spawn(async move {
        let mut ticks = interval(TICK);
        loop {
            ticks.tick().await;
            reading.read();
        }
    });
    Watch { log, task }
}

impl Watch {
    /// What the servers have read, the last requests included.
    pub(crate) async fn end(self) -> Requests {
        self.task.abort();
        let _ = self.task.await;
        self.log.read();
        let state = self.log.state.lock();
        state.1.clone()
    }
}

impl Log {
    fn read(&self) {
        let mut state = self.state.lock();
        let (next, requests) = &mut *state;
        for entry in self.world.account.wire_log_from(*next) {
            *next = entry.sequence + 1;
            let range = entry
                .partition_key
                .as_ref()
                .and_then(|key| self.ranges.get(key));
            let region = entry.endpoint.region_name();
            let region = region.and_then(|name| REGIONS.iter().position(|region| *region == name));
            let (Some(range), Some(region)) = (range, region) else {
                continue;
            };
            let at = entry.read_at.saturating_duration_since(self.start);
            // What is read after the load's end belongs to its last operations.
            let slice = self.frame.slice_at(at).min(self.frame.slices() - 1);
            requests.slices[*range][slice][region] += 1;
            if *range == 0 && region == 0 {
                requests.sick_at_preferred.push(at);
            }
        }
    }
}
