//! Over real sockets: the stack beside the bare hyper client that is under it.

use cosmos_core::BoxError;

use super::goals;
use crate::loopback::{Drive, Driven, Kind, Protocol, Server};
use crate::measure::median;
use crate::{Report, Section};

const TITLE: &str = "Over loopback, documents of 1 KiB";
const NOTE: &str = "medians of seven interleaved pairs, each client a process of one thread; latencies and processor time in us; x, +cpu: medians of the pairs' own";
const COLUMNS: &[&str] = &[
    "reads/s",
    "p50",
    "p99",
    "p99.9",
    "cpu",
    "x reads/s",
    "x p99",
    "+cpu",
];

const PAIRS: usize = 7;
const MILLIS: u64 = 1_000;
const AT_A_TIME: [usize; 3] = [1, 16, 64];

/// A plain client and the stack, one right after the other.
type Pair = [Driven; 2];

pub(super) fn section(goals: &mut Report) -> Result<Section, BoxError> {
    let mut section = Section::new(TITLE, NOTE, COLUMNS);
    for (protocol, name) in [(Protocol::Http1, "HTTP/1.1"), (Protocol::Http2, "HTTP/2")] {
        for at_a_time in AT_A_TIME {
            let name = format!("{name}, {at_a_time} at a time");
            let pairs = pairs(protocol, at_a_time)?;
            add(&mut section, goals, &name, at_a_time, &pairs);
        }
    }
    Ok(section)
}

fn pairs(protocol: Protocol, at_a_time: usize) -> Result<Vec<Pair>, BoxError> {
    let server = Server::start()?;
    let drive = |kind| {
        let drive = Drive {
            endpoint: server.endpoint().to_owned(),
            kind,
            protocol,
            at_a_time,
            millis: MILLIS,
        };
        drive.apart()
    };
    let pair = |number: usize| {
        // In turn, so that neither is always the first.
        if number.is_multiple_of(2) {
            Ok([drive(Kind::Plain)?, drive(Kind::Stack)?])
        } else {
            let stack = drive(Kind::Stack)?;
            Ok([drive(Kind::Plain)?, stack])
        }
    };
    (0..PAIRS).map(pair).collect()
}

fn add(section: &mut Section, goals: &mut Report, name: &str, at_a_time: usize, pairs: &[Pair]) {
    let of = |which: usize, figure: fn(&Driven) -> f64| {
        median(pairs.iter().map(|pair| figure(&pair[which])).collect())
    };
    let own = |which| {
        let figures: [fn(&Driven) -> f64; 5] = [
            |it| it.per_second,
            |it| it.p50,
            |it| it.p99,
            |it| it.p999,
            |it| it.cpu,
        ];
        figures.map(|figure| Some(of(which, figure)))
    };
    let between = |figure: fn(&Driven, &Driven) -> f64| {
        let of_pair = |[plain, stack]: &Pair| figure(plain, stack);
        median(pairs.iter().map(of_pair).collect())
    };
    let throughput = between(|plain, stack| stack.per_second / plain.per_second);
    let p99 = between(|plain, stack| stack.p99 / plain.p99);
    let cpu = between(|plain, stack| stack.cpu - plain.cpu);
    section.add(
        format!("bare hyper, {name}"),
        own(0).into_iter().chain([None; 3]),
    );
    let beside = [throughput, p99, cpu].map(Some);
    section.add(format!("stack, {name}"), own(1).into_iter().chain(beside));
    let busiest = at_a_time == AT_A_TIME[2];
    goals::loopback(goals, name, cpu, busiest.then_some((throughput, p99)));
}
