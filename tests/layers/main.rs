//! The layers on paused time, around the scripted account: which region saw which bytes when.

// Whatever is absent here fails the test.
#![allow(clippy::unwrap_used)]

mod answers;
mod budgets;
mod circuits;
mod classify;
mod composition;
mod deadline;
mod exclusions;
mod failover;
mod kinds_of_operation;
mod marks;
mod moved_partitions;
mod partitions;
mod reconnect;
mod refresh;
mod region_names;
mod repeated_writes;
mod request_bodies;
mod retry_guard;
mod retry_with;
mod session;
mod session_token;
mod signing;
mod slow_bodies;
mod throttle;
mod topology_changes;
