//! One of the two sides of the comparison: an account of its own, and what is seen of it.

use std::error::Error;
use std::sync::Arc;

use cosmos_testbed::EmbeddedAccount;
use tokio::time::Instant;

use crate::load::Subject;
use crate::measure::{Recorder, Sampler};
use crate::options::Options;
use crate::outage;
use crate::progress::Watched;
use crate::results::ClientResults;
use crate::schedule::Schedule;
use crate::setup::{self, PerRegion};

/// An account, and everything that is measured of its one client.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) name: &'static str,
    pub(crate) account: Arc<EmbeddedAccount>,
    options: Options,
    schedule: Schedule,
    recorder: Arc<Recorder>,
    sampler: Sampler,
}

impl Side {
    pub(crate) async fn start(
        name: &'static str,
        options: &Options,
        schedule: Schedule,
    ) -> Result<Self, Box<dyn Error>> {
        let account = Arc::new(setup::start(options.account).await?);
        Ok(Self {
            name,
            options: options.clone(),
            schedule,
            recorder: Arc::new(Recorder::new(schedule)),
            sampler: Sampler::new(Arc::clone(&account), schedule),
            account,
        })
    }

    /// The client, as the load sees it.
    pub(crate) fn subject<C>(&self, client: C) -> Subject<C> {
        let recorder = Arc::clone(&self.recorder);
        Subject { client, recorder }
    }

    /// The client, as the progress display sees it.
    pub(crate) fn watched(&self) -> Watched {
        Watched {
            name: self.name,
            recorder: Arc::clone(&self.recorder),
            sampler: self.sampler.clone(),
        }
    }

    /// Takes the account through the outage. Returns the servers' counts at the beginning of each
    /// phase.
    pub(crate) async fn suffer(&self, start: Instant) -> Result<Vec<PerRegion>, Box<dyn Error>> {
        let outage = outage::run(&self.account, self.options.account, self.schedule, start);
        let (counts, ()) = tokio::join!(outage, self.sampler.clone().run(start));
        counts
    }

    /// Whether every request was one that the service would look at: well signed, dated and
    /// addressed.
    pub(crate) fn check(&self) -> Result<(), Box<dyn Error>> {
        match self.account.violations().first() {
            None => Ok(()),
            Some(violation) => Err(format!("{}: {}", self.name, violation.detail).into()),
        }
    }

    /// What it came to. `counts` are the servers' at the beginning of each phase; the last ones are
    /// read now, when every operation must have ended.
    pub(crate) fn results(&self, mut counts: Vec<PerRegion>, journals: bool) -> ClientResults {
        counts.push(setup::data_requests(&self.account));
        ClientResults::new(
            self.schedule,
            self.recorder.recorded(),
            &counts,
            self.sampler.timeline(),
            journals,
        )
    }
}
