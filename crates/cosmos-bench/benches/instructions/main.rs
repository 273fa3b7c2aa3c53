//! Instructions of the stack's operations, counted by callgrind: the same on a busy machine.
//!
//! `cargo bench -p cosmos-bench --bench instructions`, then `cosmos-bench instructions` to hold them
//! against the baseline. Needs valgrind, and `gungraun-runner` of the library's version.
//!
//! One thread, and the random numbers of activity ids from a seed. Valgrind has no SHA
//! instructions, so that a signature counts for more here than it takes.

// What the macros make is public and has no documentation.
#![allow(missing_docs)]

use std::hint::black_box;

use cosmos_bench::{OPERATIONS_COUNTED, Path, Profiled};
use gungraun::{library_benchmark, library_benchmark_group, main};

fn warm(path: Path) -> Profiled {
    fastrand::seed(7);
    let mut profiled = Profiled::new(path);
    profiled.run(OPERATIONS_COUNTED);
    profiled
}

// Given back, so that letting go of the stack is not counted.
#[library_benchmark(setup = warm)]
#[bench::leaf(Path::Leaf)]
#[bench::healthy(Path::Healthy)]
#[bench::healthy_unsigned(Path::HealthyUnsigned)]
#[bench::failover(Path::Failover)]
fn point_reads(mut profiled: Profiled) -> Profiled {
    black_box(&mut profiled).run(OPERATIONS_COUNTED);
    profiled
}

library_benchmark_group!(name = operations, benchmarks = point_reads);
main!(library_benchmark_groups = operations);
