//! The same operations again and again, for a profiler to look at.

use std::fmt;

use tower::Layer;

use super::failures::{failing_stack, steady};
use super::layers;
use crate::cost::Subject;
use crate::instant::{Failures, InstantLeaf};
use crate::operation::{self, account, one_key, read, reads};

/// Which path to look at.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Path {
    /// Point reads of the bare leaf.
    Leaf,
    /// Point reads that the first region answers.
    Healthy,
    /// The same without signing.
    HealthyUnsigned,
    /// Point reads that the second region answers.
    Failover,
}

/// Point reads on one path, ready to be done.
pub struct Profiled(Subject<'static>);

impl Profiled {
    /// Point reads through the recommended stack, or the bare leaf.
    #[must_use]
    pub fn new(path: Path) -> Self {
        let runtime = operation::runtime();
        Self(match path {
            Path::Leaf => reads("", runtime, InstantLeaf::new()),
            Path::Healthy => reads("", runtime, steady().layer(InstantLeaf::new())),
            Path::HealthyUnsigned => reads("", runtime, layers::unsigned(&account())),
            Path::Failover => {
                let failures = Failures::default();
                let mut stack = failing_stack(&failures);
                let key = one_key();
                Subject::new("", move |operations| {
                    operation::run(&runtime, async {
                        for _ in 0..operations {
                            failures.set(1);
                            read(&mut stack, &key).await;
                        }
                    });
                })
            }
        })
    }

    /// Does so many.
    pub fn run(&mut self, operations: u32) {
        self.0.run(operations);
    }
}

impl fmt::Debug for Profiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Profiled(..)")
    }
}
