//! Real sockets: a minimal server in a process of its own, and clients in others, so that what a client's
//! process takes is what the client takes.

mod drive;
mod process;
mod serve;

pub(crate) use drive::{ALLOWED, Driven};
pub use drive::{Drive, Kind, Protocol};
pub(crate) use process::Server;
pub use serve::serve;
