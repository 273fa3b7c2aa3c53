//! The one place where the account reads wall time.

use std::time::SystemTime;

/// The service judges `x-ms-date` against its own clock, which a client cannot move. This account is
/// a server, so it reads the machine's clock and not one that a test could have paused.
#[expect(clippy::disallowed_methods, reason = "a server's own clock, see above")]
pub(crate) fn wall() -> SystemTime {
    SystemTime::now()
}

/// What durations are measured with. Follows tokio's clock.
pub(crate) fn monotonic() -> tokio::time::Instant {
    tokio::time::Instant::now()
}
