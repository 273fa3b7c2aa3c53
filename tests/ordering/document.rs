//! `docs/ordering.md`, made from what was measured.

use std::fmt::Write;

use cosmos_tests::kinds::Kind;

use crate::cost::{Change, Cost, Difference, Measured, Seven};

const PREFACE: &str = "\
# The order of the layers

Any order of the layers is safe: exclusions, budgets, the deadline, the one try of a stored procedure,
the session token and single probes hold in each, because they are kept in the operation's journal and
in the account, not in a layer's place. What an order decides is how well and how fast an operation
gets through. That holds for the layers that steer, all above `EndpointLayer`: a layer on the wrong side
of it does nothing. `PartitionLayer` belongs outside of `PpafLayer` and `SessionTokenLayer`, which look at
the partition when they are called; the breaker looks at it for every attempt.

Made by the test `ordering`, which runs every order of the seven layers that carry the retry
specification through every scenario below, checks the rules on the wire, and fails if a number
here is not what it measured (`COSMOS_BLESS=1 cargo test --test ordering` writes this file anew). The
time is virtual: waits count in full, work takes none.

## The recommended order

Outermost first, as `RecommendedLayer` has it. Its small layers are left out (`PartitionLayer` and
`SessionTokenLayer` outside, `RetryWithLayer` beside `ThrottleRetryLayer`; `EndpointLayer` and what is below it
have their fixed places): the seven here are those whose order is asked about.

| layer | why there |
|---|---|
";

/// What was run once, and for how long: nothing here is measured by the test.
const BEYOND: &str = "
## Beyond these scenarios

The scenarios above are chosen. What nobody would choose is left to chance, and was run once for longer
than the checks of every change run it:

| what | every change | once, 2026-11-30 | found |
|---|---|---|---|
| random schedules in virtual time (`cosmos-simulation`): 1 to 8 regions, any layers, callers of every \
kind of operation, faults and moves of the account | 20,000 | 500,000 (from number 1,000,000 on) \
| faults that are tests now: in `layers`, `session_token`, `moved_partitions`, `retry_guard`, \
`request_bodies::a_permit_that_comes_after_the_deadline_sends_nothing`, \
`deadline::what_a_layer_that_is_not_ours_holds_back_for_too_long_is_not_sent`, \
`circuits::probes::a_probe_with_a_late_head_and_a_slow_body_is_alone_until_it_ends`; `cosmos-core/health::bounds` |
| faults planted for the checks to find, one for each of ten rules | ten, each within 2,000 schedules \
| | all, the last one in schedule 126 |
| schedules of a simulated network, over HTTP/1.1 and HTTP/2 (`tests/network`) | 12 | 320 | nothing |
| what parses outside text, under arbitrary bytes (`fuzz/`, eight targets) | 20 s each | 10,000,000 \
inputs each | nothing |
";

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Deadline => "DeadlineLayer",
        Kind::Ppaf => "PpafLayer",
        Kind::Session => "SessionRetryLayer",
        Kind::Failover => "RegionFailoverLayer",
        Kind::CircuitBreaker => "CircuitBreakerLayer",
        Kind::Throttle => "ThrottleRetryLayer",
        Kind::Reconnect => "ShardReconnectLayer",
        _ => "another layer",
    }
}

fn reason(kind: Kind) -> &'static str {
    match kind {
        Kind::Deadline => {
            "One instant for everything below. Ours keep to it from outside as well, layers that are \
             not ours do not: what they wait for is cut off only inside of it."
        }
        Kind::Ppaf => {
            "Plants its memory, which is asked for every attempt: it only has to be there."
        }
        Kind::Session => {
            "Sends to the hub; outside of failover, so that a hub that is down is got past with \
             failover's budget."
        }
        Kind::Failover => "Moves once the layers below have done what can be done in the region.",
        Kind::CircuitBreaker => {
            "Plants its circuits, which are asked for every attempt: they decide where the moves above \
             lead."
        }
        Kind::Throttle => {
            "Waits for the region that asked for it, so it is inside of what moves away."
        }
        Kind::Reconnect => {
            "Closest to the connection: inside of failover a dead connection is mended in its region; \
             outside, it is a failure of the region first, and the operation moves."
        }
        _ => "",
    }
}

pub(crate) fn render(measured: &Measured) -> String {
    let mut text = PREFACE.to_owned();
    // Writing to a string cannot fail.
    for kind in Kind::ORDERED {
        let _ = writeln!(text, "| `{}` | {} |", name(kind), reason(kind));
    }
    orders(&mut text, measured);
    pairs(&mut text, measured);
    scenarios(&mut text, measured);
    text.push_str(BEYOND);
    text
}

/// How the orders stand beside the recommended one.
fn orders(text: &mut String, measured: &Measured) {
    let beside: Vec<(Seven, Difference)> = measured
        .costs
        .keys()
        .map(|order| (*order, measured.beside_recommended(*order)))
        .collect();
    let count = |wanted: fn(&Difference) -> bool| {
        beside
            .iter()
            .filter(|(_, difference)| wanted(difference))
            .count()
    };
    let _ = writeln!(
        text,
        "\n## All orders\n\n\
         {} orders, {} cases each (a scenario with a read, a create or a stored procedure).\n\n\
         One order may be in several of these rows:\n\n\
         | beside the recommended order | orders |\n|---|---|\n\
         | the same in every case | {} |\n\
         | an operation fails that succeeds there | {} |\n\
         | an operation succeeds that fails there | {} |\n\
         | none fails that succeeds there, but a case takes longer | {} |\n\
         | none fails that succeeds there, and none takes longer, but a case sends more | {} |\n\
         | a case sends more to other regions than the first | {} |",
        beside.len(),
        measured.cases.len(),
        count(|d| d.cases == 0),
        count(|d| d.failed.more > 0),
        count(|d| d.failed.less > 0),
        count(|d| d.failed.more == 0 && d.milliseconds.more > 0),
        count(|d| d.failed.more == 0 && d.milliseconds.more == 0 && d.requests.more > 0),
        count(|d| d.away.more > 0),
    );
    let total = |costs: &[Cost]| {
        let mut total = Cost::default();
        for cost in costs {
            total += *cost;
        }
        total
    };
    let totals: Vec<Cost> = measured.costs.values().map(|costs| total(costs)).collect();
    let _ = writeln!(
        text,
        "\nWhat one order adds up to over all its cases, and the least and the most of any order (many \
         scenarios\nleave nothing that could succeed, so operations fail in every order):\n\n\
         | over all cases | recommended | least | most |\n|---|---|---|---|"
    );
    let recommended = total(measured.recommended());
    for (what, of) in [
        (
            "operations that fail",
            (|cost| cost.failed) as fn(&Cost) -> u32,
        ),
        ("requests", |cost| cost.requests),
        ("requests away from the first one's region", |cost| {
            cost.away
        }),
        ("milliseconds waited", |cost| cost.milliseconds),
    ] {
        let _ = writeln!(
            text,
            "| {what} | {} | {} | {} |",
            of(&recommended),
            totals.iter().map(of).min().unwrap_or_default(),
            totals.iter().map(of).max().unwrap_or_default(),
        );
    }
}

fn pairs(text: &mut String, measured: &Measured) {
    let _ = writeln!(
        text,
        "\n## What a pair costs\n\n\
         X directly outside of Y, where the recommended order has it the other way round, over all \
         places of\nthe two and all orders of the other five. Any order is reached from the \
         recommended one by such swaps\nof neighbours, so there is no cost beside these. The numbers \
         are sums over the cases\nof all these orders, so divided by the orders they are what one such \
         order costs in all cases together; + is\nwhat cases cost more, - what others cost less.\n\n\
         | X outside Y | orders | cases that differ | operations that fail | requests | of them away \
         from the first one's region | seconds waited | in |\n|---|---|---|---|---|---|---|---|"
    );
    let mut free = Vec::new();
    for (place, inner) in Kind::ORDERED.into_iter().enumerate() {
        for outer in &Kind::ORDERED[place + 1..] {
            let difference = measured.pair(*outer, inner);
            let names = (name(*outer), name(inner));
            if difference.cases == 0 {
                free.push(format!("`{}` outside `{}`", names.0, names.1));
                continue;
            }
            let scenarios: Vec<&str> = difference.scenarios.iter().copied().collect();
            let _ = writeln!(
                text,
                "| `{}` outside `{}` | {} | {} | {} | {} | {} | {} | {} |",
                names.0,
                names.1,
                difference.orders,
                difference.cases,
                change(difference.failed, 1),
                change(difference.requests, 1),
                change(difference.away, 1),
                change(difference.milliseconds, 1000),
                scenarios.join("; "),
            );
        }
    }
    let _ = writeln!(
        text,
        "\nA reconnect outside of failover hears of a dead connection only after the operation has \
         moved: one\nbroken connection sends a request to another region. Its fewer requests are \
         reconnects that it does not\nmake, since it sees the last region's failure only."
    );
    if !free.is_empty() {
        let _ = writeln!(text, "\nNothing at all: {}.", free.join(", "));
    }
}

fn change(change: Change, unit: u64) -> String {
    match (change.more / unit, change.less / unit) {
        (0, 0) => "0".into(),
        (more, 0) => format!("+{more}"),
        (0, less) => format!("-{less}"),
        (more, less) => format!("+{more} -{less}"),
    }
}

/// What the recommended order does in each case.
fn scenarios(text: &mut String, measured: &Measured) {
    let _ = writeln!(
        text,
        "\n## The scenarios, in the recommended order\n\n\
         A, B and C are preferred in this order; X is excluded. The hub of a single-write account is \
         C, but A\nwhere partitions move.\n\n\
         | scenario | operation | requests | fail | ms |\n|---|---|---|---|---|"
    );
    for (case, cost) in measured.cases.iter().zip(measured.recommended()) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            case.scenario,
            case.operation.name(),
            shortened(&case.wire),
            cost.failed,
            cost.milliseconds,
        );
    }
}

fn shortened(wire: &str) -> String {
    let regions: Vec<&str> = wire.split(' ').collect();
    if regions.len() <= 12 {
        return wire.to_owned();
    }
    format!("{} ... ({})", regions[..6].join(" "), regions.len())
}
