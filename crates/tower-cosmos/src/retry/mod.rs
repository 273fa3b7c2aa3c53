//! The machine that the retrying layers share: try, decide, wait, get ready, try again.
//!
//! What to retry, where and after how long is a [`Policy`]; each layer brings its own, a thin one
//! around the tables in `cosmos-core`. Here are the rules that hold for all of them:
//!
//! * A decision is about an *attempt*: a call under which none was begun, or whose result is not
//!   the attempt's, is passed on.
//! * A wait that does not fit into what is left of the deadline is not begun: the last real
//!   answer is surfaced at once.
//! * The response is dropped before a wait, so that it does not hold a stream meanwhile. Without
//!   a wait it is kept until the inner service is ready, and given back if that fails, or is not so
//!   by the deadline. Without a deadline it is dropped if the service is not ready at once, which
//!   may be waiting for that very stream.
//! * Readiness is never held across a wait.

mod future;
mod kept;
mod service;

use std::time::Duration;

use cosmos_core::{Attempt, Route, Steering};
use futures::future::BoxFuture;
use http::HeaderMap;

pub use future::ResponseFuture;
pub use service::Retry;

/// A layer's rule for trying again.
pub trait Policy {
    /// Asks for what every attempt of an operation is to carry. By default nothing.
    fn prepare(&self, route: &Route) {
        let _ = route;
    }

    /// Decides on a failed or answered attempt, spending from a budget if it is to be repeated.
    ///
    /// `headers` are the answer's, where there is one.
    fn decide(&self, route: &Route, attempt: &Attempt, headers: Option<&HeaderMap>) -> Decision;
}

/// What a policy decided.
#[derive(Debug)]
pub enum Decision {
    /// The caller gets what there is.
    Surface,
    /// The request is sent again.
    Again(Again),
    /// The request is sent again if the future, once it has refreshed something, still says so.
    After(Refreshing),
}

/// How a request is sent again.
#[derive(Copy, Clone, Debug)]
pub struct Again {
    /// Where and why.
    pub steering: Steering,
    /// After how long.
    pub wait: Duration,
}

/// Something to wait for before sending again; `None` if there is nowhere left to send.
pub struct Refreshing(pub BoxFuture<'static, Option<Again>>);

impl std::fmt::Debug for Refreshing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Refreshing(..)")
    }
}
