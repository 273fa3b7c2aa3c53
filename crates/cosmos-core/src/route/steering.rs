//! Where and why the next attempt goes.

use crate::{AttemptId, Reason, Region};

/// What a routing layer decided about the next attempt; everything else is left to selection.
///
/// Whoever moves to another region clears the pin.
#[derive(Copy, Clone, Debug, Default)]
pub struct Steering {
    /// The region whose answer is being repeated. Holds for one attempt; beats first choice, what
    /// was tried, mark and open circuit, never an exclusion.
    pub pin: Option<Region>,
    /// The region to prefer if nothing speaks against it.
    pub first_choice: Option<Region>,
    /// The connection shard that just failed: another one is to be used.
    pub avoid_shard: Option<u16>,
    /// Why the attempt is made.
    pub reason: Reason,
    /// The region whose retry guard was paid for the attempt.
    pub paid: Option<Region>,
    /// The attempt that this very request is, set by `EndpointLayer` for the layers below it.
    pub attempt: Option<AttemptId>,
}

impl Steering {
    /// The same region again, for this reason.
    #[must_use]
    pub fn again(self, region: Region, reason: Reason) -> Self {
        Self {
            pin: Some(region),
            reason,
            avoid_shard: None,
            paid: None,
            attempt: None,
            ..self
        }
    }

    /// On to another region, for this reason.
    #[must_use]
    pub fn onward(self, reason: Reason) -> Self {
        Self {
            pin: None,
            reason,
            avoid_shard: None,
            paid: None,
            attempt: None,
            ..self
        }
    }
}
