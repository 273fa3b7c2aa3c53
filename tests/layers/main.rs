//! The layers on paused time, around the scripted account: which region saw which bytes when.

// Whatever is absent here fails the test.
#![allow(clippy::unwrap_used)]

mod classify;
mod deadline;
mod exclusions;
mod failover;
mod marks;
mod reconnect;
mod refresh;
mod retry_with;
mod session;
mod session_token;
mod throttle;
