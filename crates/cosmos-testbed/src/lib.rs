//! Accounts to test against.
//!
//! [`embedded`] is a real multi-region account served over loopback HTTP, with fault switches and
//! the moves that accounts make; [`scripted`] is one whose regions do exactly what a test says, on
//! paused time.

pub mod embedded;
pub mod scripted;

pub use embedded::EmbeddedAccount;
pub use scripted::ScriptedAccount;
