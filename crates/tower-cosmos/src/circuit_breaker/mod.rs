//! A partition is sick in one region: the per-partition circuit breaker (PPCB).
//!
//! One partition of a container can fail in a region while all others are well. Failing over each
//! time costs every request of that partition an attempt, and avoiding the region costs all others
//! their nearest one. With this layer a partition that fails in a region too often (10 reads or 5
//! writes in a row, or 90 % of at least 100 requests in a minute) is sent elsewhere, it alone.
//! After 60 s one request probes the region: if it is well, the partition returns; if not, the next
//! probe goes after 120 s (circuit-breaker specification).
//!
//! It steers and never refuses: where no region is left, requests go where they would have gone. It
//! oversees documents, where there is another region to go to: reads, and writes if every region
//! accepts them (the writes of other accounts are `PpafLayer`'s). On attempts that it oversees, a
//! failure marks the endpoint only if it could not be reached. Failures of metadata operations are
//! counted per endpoint with the same thresholds before the endpoint is marked.
//!
//! It is on by default; settings come from code, from the environment variables that the other
//! SDKs know, or are the defaults (see [`BreakerOptions`]).
//!
//! ```
//! use tower_cosmos::circuit_breaker::BreakerOptions;
//! use tower_cosmos::{Account, CircuitBreakerLayer};
//!
//! # fn compose(account: Account) -> Result<(), cosmos_core::policy::SettingError> {
//! let layer = CircuitBreakerLayer::new(account)
//!     .options(BreakerOptions::new().reads_tolerated(5))?;
//! // Last: other options begin with other circuits.
//! let circuits = layer.circuits();
//! # Ok(())
//! # }
//! ```
//!
//! The states, as [`Circuits`] tells of them:
//!
//! | state | requests of the partition | until |
//! |---|---|---|
//! | healthy | go to the region; failures are counted | the fifth write or tenth read in a row fails |
//! | unhealthy tentative | go elsewhere | `first_wait`, 60 s; then one request probes |
//! | healthy tentative | one probes, the others go elsewhere | the probe's answer |
//! | unhealthy: a probe has failed | go elsewhere | `next_wait`, 120 s; then one request probes |
//!
//! Switched off, one failure of one partition marks its endpoint for all of them, for a minute.
//!
//! # Order
//! Anywhere above `EndpointLayer` (below it, it does nothing), which asks the circuits for every attempt and tells them how it
//! ended: so the breaker works per attempt wherever it stands, with and without other layers.
//! `PartitionLayer`, outside, tells which partition it is; without, there is one circuit per
//! container and region.
//!
//! # Cancellation
//! An attempt that is dropped counts as a failure if it had waited for 1 s, or for half of the
//! operation's deadline, else as nothing. A probe that is dropped gives its lease back.
//!
//! # Extensions
//! Plants its circuits in the operation's [`Route`](cosmos_core::Route).

mod breaker;
mod circuits;
mod layer;

pub use circuits::{Circuits, Transitions};
pub use cosmos_core::health::{
    BreakerOptions, BreakerSettings, Circuit, Counters, State, Transition,
};
pub use layer::{CircuitBreaker, CircuitBreakerLayer, CircuitBreakerPreparation};
