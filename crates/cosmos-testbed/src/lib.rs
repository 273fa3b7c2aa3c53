//! Accounts to test against.
//!
//! [`embedded`] is a real multi-region account served over loopback HTTP, with fault switches and
//! the moves that accounts make; [`scripted`] is one whose regions do exactly what a test says, and
//! [`bounded`] one whose regions serve so much and no more, both on paused time.

pub mod bounded;
pub mod embedded;
pub mod scripted;

pub use bounded::BoundedAccount;
pub use embedded::EmbeddedAccount;
pub use scripted::ScriptedAccount;
