//! Reads a response's body to its end, so that one that breaks off is a failed attempt.
//!
//! A body that ends early, stands still or is larger than the limit becomes an error of the
//! attempt, which the layers above can repeat elsewhere; the caller gets whole bodies only. One of
//! more than 1024 frames without data is too large, too.
//!
//! # Order
//! Below `EndpointLayer`, above the layer that limits how long a body may stand still.
//!
//! # Cancellation
//! Dropping the future drops the body, which frees its connection or stream.
//!
//! # Extensions
//! None.

mod future;
mod service;

pub use future::ResponseFuture;
pub use service::{Buffer, BufferLayer};
