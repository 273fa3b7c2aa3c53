//! The layers on paused time, around the scripted account: which region saw which bytes when.

mod deadline;
mod exclusions;
mod failover;
mod marks;
mod reconnect;
mod refresh;
mod throttle;
