//! The one probe of an open circuit.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use cosmos_core::{AccountId, Breaker, Partition, RangeId, Region, Route};

use crate::clock::now;

/// The lease for a probe. Its attempt's outcome settles it; dropped without one, it goes back, so
/// that the next request may probe.
#[must_use]
pub(crate) struct Lease {
    breaker: Arc<dyn Breaker>,
    route: Route,
    // The operation may turn out to be for another range meanwhile.
    range: Option<RangeId>,
    region: Region,
    sequence: u64,
}

impl Lease {
    /// Takes the lease; `None` if another request has it.
    pub(super) fn take(
        account: AccountId,
        route: &Route,
        region: Region,
        sequence: u64,
        now: Instant,
    ) -> Option<Self> {
        let breaker = route.breaker(account)?;
        let range = route.range();
        let partition = Partition {
            container: route.container().unwrap_or_default(),
            range: range.as_ref(),
        };
        let taken = breaker.take_probe(partition, region, sequence, now);
        taken.then(|| Self {
            breaker: Arc::clone(breaker),
            route: route.clone(),
            range,
            region,
            sequence,
        })
    }

    /// Something has moved in the attempt: it is alive.
    pub(crate) fn renew(&self) {
        self.breaker
            .renew(self.partition(), self.region, self.sequence, now());
    }

    fn partition(&self) -> Partition<'_> {
        Partition {
            container: self.route.container().unwrap_or_default(),
            range: self.range.as_ref(),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.breaker
            .release(self.partition(), self.region, self.sequence, now());
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.region).finish()
    }
}
