//! What an operation's attempts say about regions.

use smallvec::SmallVec;

use crate::{Attempt, Outcome, Region, Status};

/// How often each region was attempted in this operation, and where it failed.
#[derive(Clone, Debug, Default)]
pub struct History {
    regions: SmallVec<[Seen; 4]>,
    last: Option<Region>,
}

#[derive(Copy, Clone, Debug)]
struct Seen {
    region: Region,
    attempts: u32,
    last: usize,
    failed: bool,
}

impl History {
    /// Sums up the attempts of an operation.
    #[must_use]
    pub fn of(attempts: &[Attempt]) -> Self {
        let mut history = Self::default();
        for (number, attempt) in attempts.iter().enumerate() {
            let failed = failed_in_region(attempt.outcome);
            history.last = Some(attempt.region);
            match history
                .regions
                .iter_mut()
                .find(|seen| seen.region == attempt.region)
            {
                Some(seen) => {
                    seen.attempts += 1;
                    seen.last = number;
                    seen.failed |= failed;
                }
                None => history.regions.push(Seen {
                    region: attempt.region,
                    attempts: 1,
                    last: number,
                    failed,
                }),
            }
        }
        history
    }

    /// Whether the region failed in this operation.
    #[must_use]
    pub fn tried(&self, region: Region) -> bool {
        self.find(region).is_some_and(|seen| seen.failed)
    }

    /// How often the region was attempted, and how recently: the smaller, the better.
    #[must_use]
    pub fn usage(&self, region: Region) -> (u32, usize) {
        self.find(region)
            .map_or((0, 0), |seen| (seen.attempts, seen.last))
    }

    /// The region of the last attempt.
    #[must_use]
    pub fn last_region(&self) -> Option<Region> {
        self.last
    }

    fn find(&self, region: Region) -> Option<&Seen> {
        self.regions.iter().find(|seen| seen.region == region)
    }
}

/// Whether an outcome says that this region cannot serve the operation now, so that another one
/// is to be preferred for the rest of it.
#[must_use]
pub fn failed_in_region(outcome: Outcome) -> bool {
    match outcome {
        Outcome::InFlight => false,
        Outcome::Abandoned => true,
        Outcome::Failed(kind) => kind.is_regional(),
        Outcome::Answered(
            Status::WRITE_FORBIDDEN
            | Status::DATABASE_ACCOUNT_NOT_FOUND
            | Status::READ_SESSION_NOT_AVAILABLE
            | Status::SYSTEM_RESOURCE_UNAVAILABLE,
        ) => true,
        Outcome::Answered(Status::CLIENT_OPERATION_TIMEOUT) => false,
        Outcome::Answered(status) => status.is_server_error() || matches!(status.code(), 408 | 410),
    }
}
