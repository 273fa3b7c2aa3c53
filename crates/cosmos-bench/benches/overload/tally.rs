//! What is counted: requests at the regions, and how operations ended.

use std::collections::BTreeMap;
use std::time::Duration;

use cosmos_core::{Reason, Route};
use cosmos_testbed::bounded::Arrival;

use crate::schedule::{PHASES, Phase, REGIONS};

/// In what slices it is asked whether all is as it was.
const SLICE: Duration = Duration::from_millis(100);

/// What one run counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) phases: BTreeMap<Phase, Counts>,
    // By slice: requests, operations begun, operations failed.
    slices: BTreeMap<u128, [u64; 3]>,
}

/// What is counted in a phase. Operations belong to the phase in which they begin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) operations: u64,
    pub(crate) failed: u64,
    pub(crate) refused: u64,
    pub(crate) first: [u64; REGIONS.len()],
    pub(crate) retries: [u64; REGIONS.len()],
}

impl Counts {
    pub(crate) fn all_first(&self) -> u64 {
        self.first.iter().sum()
    }

    pub(crate) fn all_retries(&self) -> u64 {
        self.retries.iter().sum()
    }

    pub(crate) fn sent(&self) -> u64 {
        self.all_first() + self.all_retries()
    }

    pub(crate) fn at(&self, region: usize) -> u64 {
        self.first[region] + self.retries[region]
    }
}

impl Tally {
    pub(crate) fn arrived(&mut self, arrival: &Arrival<'_>) {
        let region = REGIONS
            .iter()
            .position(|name| name.eq_ignore_ascii_case(arrival.region));
        let (false, Some(region)) = (arrival.reads_account, region) else {
            return;
        };
        self.slice(arrival.at)[0] += 1;
        let route = arrival.request.extensions().get::<Route>();
        let first = route.is_some_and(|route| route.steering.reason == Reason::First);
        let counts = self.phases.entry(Phase::at(arrival.at)).or_default();
        let counts = if first {
            &mut counts.first
        } else {
            &mut counts.retries
        };
        counts[region] += 1;
    }

    pub(crate) fn ended(&mut self, began: Duration, failed: bool, refused: bool) {
        let slice = self.slice(began);
        slice[1] += 1;
        slice[2] += u64::from(failed);
        let counts = self.phases.entry(Phase::at(began)).or_default();
        counts.operations += 1;
        counts.failed += u64::from(failed);
        counts.refused += u64::from(refused);
    }

    fn slice(&mut self, at: Duration) -> &mut [u64; 3] {
        let slice = at.as_nanos() / SLICE.as_nanos();
        self.slices.entry(slice).or_default()
    }

    /// How long after healing the last operation began that failed, and how long after it the regions
    /// saw the last retries. `None`: to the phase's end.
    pub(crate) fn back_to_normal(&self, healed: Phase) -> [Option<Duration>; 2] {
        let healed = healed.span();
        let first = healed.start.as_nanos() / SLICE.as_nanos();
        let end = healed.end.as_nanos() / SLICE.as_nanos();
        let last = |bad: fn(&[u64; 3]) -> bool| {
            let mut slices = self.slices.range(first..end);
            let last = slices
                .rfind(|(_, slice)| bad(slice))
                .map(|(slice, _)| *slice);
            let after = last.map_or(0, |last| last + 1 - first);
            let after = u32::try_from(after).unwrap_or(u32::MAX);
            (last != Some(end - 1)).then(|| SLICE * after)
        };
        // A stray probe is no storm: one request in a hundred more than there are operations.
        let storms = |[requests, operations, _]: &[u64; 3]| requests * 100 > operations * 101;
        [last(|[_, _, failed]| *failed > 0), last(storms)]
    }
}

/// How many seconds a run takes.
pub(crate) fn length() -> u64 {
    PHASES.iter().map(|(_, span)| span.end).max().unwrap_or(0)
}
