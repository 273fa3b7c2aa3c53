//! What others offer for the same purpose, on the same work.
//!
//! Tower's own timeout and retries are always measured; what takes minutes to build needs the
//! feature `peers`.

#[cfg(feature = "peers")]
mod driver;
#[cfg(feature = "peers")]
mod resilience;
mod tower;

use tokio::runtime::Runtime;

use crate::cost::Subject;

/// The name of the Azure driver's row.
pub(crate) const DRIVER: &str = "Azure driver (azure_data_cosmos_driver)";

/// Has the Azure SDK and its driver not ask the machine's metadata service who they are: that is not on
/// loopback. Nothing else keeps them from it, and a process cannot set its own variables without `unsafe`.
pub const WITHOUT_IMDS: (&str, &str) = ("COSMOS_DISABLE_IMDS", "1");

/// What to say of the peers that are not measured.
#[cfg(feature = "peers")]
pub(crate) const LEFT_OUT: Option<&str> = None;
/// What to say of the peers that are not measured.
#[cfg(not(feature = "peers"))]
pub(crate) const LEFT_OUT: Option<&str> =
    Some("tower-resilience, the Azure driver and the Azure SDK (build with --features peers)");

/// The peers' point reads.
pub(crate) fn subjects(runtime: &Runtime) -> Vec<Subject<'_>> {
    #[allow(unused_mut)]
    let mut subjects = vec![tower::subject(runtime)];
    #[cfg(feature = "peers")]
    subjects.extend([resilience::subject(runtime), driver::subject(runtime)]);
    subjects
}
