//! Reads the servers' counts at equal intervals.

use std::sync::Arc;

use cosmos_examples::frame::Frame;
use cosmos_testbed::EmbeddedAccount;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::schedule::Schedule;
use crate::setup::{PerRegion, REGIONS, data_requests};

/// How many data requests each region read in each slice of the run.
pub(crate) type Timeline = Vec<PerRegion>;

/// Follows one account's counts over time.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    account: Arc<EmbeddedAccount>,
    frame: Frame,
    timeline: Arc<Mutex<Timeline>>,
}

impl Sampler {
    pub(crate) fn new(account: Arc<EmbeddedAccount>, schedule: Schedule) -> Self {
        Self {
            account,
            frame: schedule.frame(),
            timeline: Arc::default(),
        }
    }

    /// Reads the counts at the end of every slice, until the last.
    pub(crate) async fn run(self, start: Instant) {
        let mut last = data_requests(&self.account);
        for slice in 1..=self.frame.slices() {
            sleep_until(start + self.frame.slice_start(slice)).await;
            let now = data_requests(&self.account);
            self.timeline
                .lock()
                .push(std::array::from_fn(|region| now[region] - last[region]));
            last = now;
        }
    }

    /// The latest requests per second, for each region.
    pub(crate) fn last_rates(&self) -> [f64; REGIONS.len()] {
        let slice = self.frame.slice_start(1).as_secs_f64();
        let last = self.timeline.lock().last().copied().unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        last.map(|requests| requests as f64 / slice)
    }

    /// What was read so far.
    pub(crate) fn timeline(&self) -> Timeline {
        self.timeline.lock().clone()
    }
}
