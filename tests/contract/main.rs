//! What every layer keeps to, whatever it is for: one suite that all of them pass.

// Whatever is absent here fails the test.
#![allow(clippy::unwrap_used)]

mod amplification;
mod auto_traits;
mod cancellation;
mod foreign;
mod lending;
mod passing;
mod readiness;
mod repairs;

use cosmos_tests::kinds;
