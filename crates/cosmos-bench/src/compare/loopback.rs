//! Over real sockets: the stack beside the bare hyper client that is under it.

use cosmos_core::BoxError;

use super::goals;
use crate::loopback::{Drive, Driven, Kind, Protocol, Server};
use crate::measure::median;
use crate::{Report, Section};

const TITLE: &str = "Over loopback, documents of 1 KiB";
const NOTE: &str = "For a machine that does nothing else: medians of seven interleaved rounds, each client a process of one thread; p50, p99, p99.9 and cpu, the process's own time for a read, in us.
  x reads/s, x p99, +cpu: beside the bare client of the round. The spinning one does nothing but spin for the 4 us that the layers may take";
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

const ROUNDS: usize = 7;
const MILLIS: u64 = 1_000;
const AT_A_TIME: [usize; 3] = [1, 16, 64];

/// Who is measured in each round; the first is what the others are held against.
const CLIENTS: [(Kind, &str); 3] = [
    (Kind::Plain, "bare hyper"),
    (Kind::Spinning, "bare hyper, spinning"),
    (Kind::Stack, "stack"),
];

type Round = [Driven; CLIENTS.len()];

pub(super) fn section(goals: &mut Report) -> Result<Section, BoxError> {
    let mut section = Section::new(TITLE, NOTE, COLUMNS);
    for (protocol, name) in [(Protocol::Http1, "HTTP/1.1"), (Protocol::Http2, "HTTP/2")] {
        for at_a_time in AT_A_TIME {
            let name = format!("{name}, {at_a_time} at a time");
            eprintln!("loopback: {name}");
            let rounds = rounds(protocol, at_a_time)?;
            add(&mut section, goals, &name, at_a_time, &rounds);
        }
    }
    Ok(section)
}

fn rounds(protocol: Protocol, at_a_time: usize) -> Result<Vec<Round>, BoxError> {
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
    let round = |number: usize| {
        let mut round = [Driven::default(); CLIENTS.len()];
        for turn in 0..CLIENTS.len() {
            // In turn, so that nobody is always the first.
            let which = (number + turn) % CLIENTS.len();
            round[which] = drive(CLIENTS[which].0)?;
        }
        Ok(round)
    };
    (0..ROUNDS).map(round).collect()
}

fn add(section: &mut Section, goals: &mut Report, name: &str, at_a_time: usize, rounds: &[Round]) {
    for (which, (kind, client)) in CLIENTS.into_iter().enumerate() {
        let figures: [fn(&Driven) -> f64; 5] = [
            |it| it.per_second,
            |it| it.p50,
            |it| it.p99,
            |it| it.p999,
            |it| it.cpu,
        ];
        let own = figures.map(|figure| {
            let figures = rounds.iter().map(|round| figure(&round[which]));
            median(figures.collect())
        });
        let beside = (kind != Kind::Plain).then(|| beside(rounds, which));
        if let (Kind::Stack, Some([throughput, p99, cpu])) = (kind, beside) {
            let busiest = at_a_time == AT_A_TIME[2];
            goals::loopback(goals, name, cpu, busiest.then_some((throughput, p99)));
        }
        let beside = beside.map_or([None; 3], |beside| beside.map(Some));
        let own = own.into_iter().map(Some);
        section.add(format!("{client}, {name}"), own.chain(beside));
    }
}

/// Throughput and p99 as a part of the bare client's, and processor time more than its.
fn beside(rounds: &[Round], which: usize) -> [f64; 3] {
    let figures: [fn(&Driven, &Driven) -> f64; 3] = [
        |bare, it| it.per_second / bare.per_second,
        |bare, it| it.p99 / bare.p99,
        |bare, it| it.cpu - bare.cpu,
    ];
    figures.map(|figure| {
        let figures = rounds.iter().map(|round| figure(&round[0], &round[which]));
        median(figures.collect())
    })
}
