//! The same operations again and again, for a profiler to look at.

use tower::Layer;

use super::failures::{failing_stack, steady};
use crate::instant::{Failures, InstantLeaf};
use crate::operation::{self, one_key, read};

/// Which path to look at.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Path {
    /// Point reads that the first region answers.
    Healthy,
    /// Point reads that the second region answers.
    Failover,
}

/// Does so many operations through the recommended stack.
pub fn profile(path: Path, operations: u32) {
    let runtime = operation::runtime();
    let failures = Failures::default();
    let key = one_key();
    let (mut stack, fails) = match path {
        Path::Healthy => (steady().layer(InstantLeaf::new()), 0),
        Path::Failover => (failing_stack(&failures), 1),
    };
    operation::run(&runtime, async {
        for _ in 0..operations {
            failures.set(fails);
            read(&mut stack, &key).await;
        }
    });
}
