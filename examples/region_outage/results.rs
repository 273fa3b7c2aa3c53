//! What a run came to, for whoever shows it.

use std::time::Duration;

use crate::measure::{Recorded, Slice, Tally, Timeline};
use crate::options::Options;
use crate::schedule::Schedule;
use crate::setup::{PerRegion, REGIONS};

/// Everything that a run has shown.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) options: Options,
    pub(crate) schedule: Schedule,
    pub(crate) plain: ClientResults,
    pub(crate) stack: ClientResults,
}

/// What was seen of one client.
#[derive(Debug)]
pub(crate) struct ClientResults {
    pub(crate) total: PhaseResults,
    pub(crate) phases: Vec<PhaseResults>,
    pub(crate) slices: Vec<Slice>,
    pub(crate) timeline: Timeline,
    pub(crate) examples: Vec<String>,
    /// Whether the client keeps journals.
    pub(crate) journals: bool,
    pub(crate) failover: WriteFailover,
}

/// What was seen of one client in one phase, or in all of them.
#[derive(Debug)]
pub(crate) struct PhaseResults {
    /// Of the operations that were due in the phase.
    pub(crate) tally: Tally,
    /// What the servers read during the phase; of the last one, until every operation had ended.
    pub(crate) requests: PerRegion,
}

/// How writes fared when the hub moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteFailover {
    /// Writes that failed of those that were due while two regions were listed as writable.
    pub(crate) failed_while_both_listed: u64,
    /// How long after the failover had begun the last write that failed was due: zero if none failed
    /// from then on, `None` if they still failed at the end.
    pub(crate) recovered_after: Option<Duration>,
}

impl ClientResults {
    /// `counts` are the servers' counts at the beginning of each phase, and at the end.
    pub(crate) fn new(
        schedule: Schedule,
        recorded: Recorded,
        counts: &[PerRegion],
        timeline: Timeline,
        journals: bool,
    ) -> Self {
        let failover = WriteFailover::of(schedule, &recorded);
        let mut total = Tally::new();
        for tally in &recorded.phases {
            total.merge(tally);
        }
        let between = counts.windows(2).map(|pair| difference(&pair[1], &pair[0]));
        let phases = recorded.phases.into_iter().zip(between);
        let requests = match counts {
            [first, .., last] => difference(last, first),
            _ => PerRegion::default(),
        };
        Self {
            total: PhaseResults {
                tally: total,
                requests,
            },
            phases: phases
                .map(|(tally, requests)| PhaseResults { tally, requests })
                .collect(),
            slices: recorded.slices,
            timeline,
            examples: recorded.examples,
            journals,
            failover,
        }
    }
}

impl WriteFailover {
    fn of(schedule: Schedule, recorded: &Recorded) -> Self {
        let began = schedule.failover().announced;
        // The load's last second: too late to call it recovered.
        let late = schedule.total().saturating_sub(Duration::from_secs(1));
        let recovered_after = match recorded.last_failed_write {
            None => Some(Duration::ZERO),
            Some(last) => (last < late).then(|| last.saturating_sub(began)),
        };
        Self {
            failed_while_both_listed: recorded.writes_failed_in_failover,
            recovered_after,
        }
    }
}

fn difference(later: &PerRegion, earlier: &PerRegion) -> PerRegion {
    std::array::from_fn::<_, { REGIONS.len() }, _>(|region| later[region] - earlier[region])
}
