//! What circuits cost: recording a failure, choosing a region, memory.
//!
//! `cargo bench -p cosmos-bench --bench circuits [-- --json]`

mod world;

use std::alloc::System;
use std::hint::black_box;
use std::io;

use cap::Cap;
use clap::Parser;
use cosmos_bench::{
    Arguments, Case, Goal, Report, interleaved, nanos_each, nanos_each_on_two_threads,
    slowest_nanos,
};
use world::World;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const SIZES: [u32; 3] = [1, 1_000, 100_000];
const OPEN: [u32; 3] = [0, 1_000, 100_000];

/// How many calls make one measurement.
const CALLS: usize = 100_000;

const REFERENCE: &str = "Azure SDK's Rust driver, copying its map: 0.4 us with none, 103 us with 1,000, 11,900 us \
     with 80,000; 308 bytes";

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let mut report = Report::default();
    recording(&mut report, arguments.rounds);
    first_failures(&mut report, arguments.rounds);
    choosing(&mut report, arguments.rounds);
    memory(&mut report);
    report.compare_with(REFERENCE);
    report.write(&mut io::stdout().lock(), arguments.json)
}

/// Recording a failure of a partition that is tracked.
fn recording(report: &mut Report, rounds: usize) {
    let worlds = SIZES.map(World::tracking);
    let mut cases: Vec<_> = worlds
        .iter()
        .map(|world| {
            let name = format!("record a failure, {} tracked", world.size());
            let calls = world.calls(CALLS);
            Case::new(name, move || {
                nanos_each(&calls, |number| world.fail(*number))
            })
        })
        .collect();
    let [.., large] = &worlds;
    let calls = large.calls(CALLS);
    cases.push(Case::new(
        format!("record a failure, {} tracked, two threads", large.size()),
        move || nanos_each_on_two_threads(&calls, |number| large.fail(*number)),
    ));
    let medians = interleaved(rounds, cases);
    for (index, (name, nanos)) in medians.iter().enumerate() {
        let goal = (index == 2).then_some(Goal::AtMost(500.0));
        report.add(name, *nanos, "ns", goal);
    }
    let ratio = medians[2].1 / medians[0].1;
    report.add(
        "record a failure, 100000 tracked / 1 tracked",
        ratio,
        "x",
        Some(Goal::AtMost(3.0)),
    );
    let ratio = medians[2].1 / medians[3].1;
    report.add(
        "record a failure, throughput two threads / one",
        ratio,
        "x",
        Some(Goal::AtLeast(1.7)),
    );
}

/// Recording the first failure of a partition: from none to 100,000 of them.
fn first_failures(report: &mut Report, rounds: usize) {
    let rounds = rounds.min(9);
    let every: Vec<u32> = (0..SIZES[2]).collect();
    let cases = vec![
        Case::new("record a first failure, 0 to 100000", || {
            let world = World::empty(SIZES[2]);
            nanos_each(&every, |number| world.fail(*number))
        }),
        Case::new("record a first failure, the slowest of 1000", || {
            let world = World::empty(SIZES[2]);
            slowest_nanos(&every, 1_000, |number| world.fail(*number))
        }),
    ];
    let goals = [Some(Goal::AtMost(500.0)), None];
    for ((name, nanos), goal) in interleaved(rounds, cases).into_iter().zip(goals) {
        report.add(name, nanos, "ns", goal);
    }
}

/// Choosing a region of three, with the standings of the partition's circuits.
fn choosing(report: &mut Report, rounds: usize) {
    let worlds = OPEN.map(World::open);
    let mut cases = Vec::new();
    for world in &worlds {
        let calls = world.calls(CALLS);
        let name = format!("choose a region, {} open", world.size());
        cases.push(Case::new(name, move || {
            nanos_each(&calls, |number| {
                let _ = black_box(world.choose(*number));
            })
        }));
    }
    for world in &worlds {
        let calls = world.calls(CALLS);
        let name = format!("choose a region, {} open, two threads", world.size());
        cases.push(Case::new(name, move || {
            nanos_each_on_two_threads(&calls, |number| {
                let _ = black_box(world.choose(*number));
            })
        }));
    }
    let medians = interleaved(rounds, cases);
    for (index, (name, nanos)) in medians.iter().enumerate() {
        let goal = (index == 0).then_some(Goal::AtMost(100.0));
        report.add(name, *nanos, "ns", goal);
    }
    for (index, open) in OPEN.iter().enumerate() {
        let ratio = medians[index].1 / medians[OPEN.len() + index].1;
        let name = format!("choose a region, {open} open, throughput two threads / one");
        report.add(name, ratio, "x", Some(Goal::AtLeast(1.7)));
    }
}

/// Bytes per (partition, region), everything that the table allocates counted.
fn memory(report: &mut Report) {
    let mut most: f64 = 0.0;
    let mut at_100_000 = 0.0;
    for size in (40_000..=200_000).step_by(4_000) {
        let world = World::empty(size);
        let before = ALLOCATOR.allocated();
        for number in 0..size {
            world.fail(number);
        }
        let bytes = bytes(ALLOCATOR.allocated() - before) / f64::from(size);
        most = most.max(bytes);
        if size == 100_000 {
            at_100_000 = bytes;
        }
    }
    let goal = Some(Goal::AtMost(128.0));
    report.add("memory per tracked, 100000 tracked", at_100_000, "B", goal);
    report.add("memory per tracked, most from 40000 on", most, "B", goal);
}

#[allow(clippy::cast_precision_loss)]
fn bytes(bytes: usize) -> f64 {
    bytes as f64
}
