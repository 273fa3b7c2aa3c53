//! Running a row and holding the wire beside it.

use cosmos_core::{Status, TransportError};
use cosmos_testbed::scripted::{Wire, WireEntry};
use cosmos_tests::{Lab, Seen, recommended, s, unguarded, with};

use crate::regions;
use crate::row::Row;

/// Headers that may differ between the attempts of an operation.
const VARYING: [&str; 4] = [
    "host",
    "x-ms-date",
    "authorization",
    "x-ms-cosmos-allow-tentative-writes",
];

/// Runs a check on paused time.
pub(crate) fn paused(check: impl Future<Output = Result<(), String>>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(check)
}

pub(crate) async fn check(row: &Row) -> Result<(), String> {
    let circumstances = regions::read(&row.line.regions);
    let preferred = circumstances.preferred.clone();
    let layers = if circumstances.guarded {
        recommended
    } else {
        unguarded
    };
    let lab = Lab::around(
        regions::document(row.account),
        |account| account.preferred_regions(preferred),
        layers,
    );
    lab.account.refresh().await;
    // The interval has passed: a refresh that the operation asks for can begin at once.
    tokio::time::sleep(s(6)).await;
    for (region, steps) in circumstances.steps {
        lab.regions.script(&region, steps);
    }
    if let Some(document) = circumstances.document {
        lab.regions.set_document(document);
    }
    let began = lab.regions.elapsed();
    let seen = lab
        .send(with(row.operation.request(), circumstances.options))
        .await;
    let wire = lab.wire();
    let problems = [
        regions_asked(&row.line.asked, &wire),
        times(&row.line.when, &wire, began),
        surfaced(&row.line.surfaced, &seen),
        replays(&wire),
        journal(&seen, &wire),
    ];
    let problems: Vec<String> = problems.into_iter().flatten().collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("{}\nthe wire:\n{wire}", problems.join("\n")))
}

pub(crate) fn regions_asked(expected: &str, wire: &Wire) -> Option<String> {
    if let Ok(count) = expected.parse::<usize>() {
        return (wire.len() != count).then(|| format!("{} requests, not {count}", wire.len()));
    }
    let expanded: Vec<String> = expected
        .split_whitespace()
        .flat_map(|word| match word.split_once('*') {
            Some((region, count)) => vec![region.to_owned(); count.parse().expect("a count")],
            None => vec![word.to_owned()],
        })
        .collect();
    let expanded = expanded.join(" ");
    (wire.regions() != expanded).then(|| format!("asked {}, not {expanded}", wire.regions()))
}

fn times(expected: &str, wire: &Wire, began: std::time::Duration) -> Option<String> {
    let (expected, open) = match expected.strip_suffix("..") {
        Some(expected) => (expected, true),
        None => (expected, false),
    };
    let expected: Vec<u128> = expected
        .split_whitespace()
        .map(|word| word.parse().expect("milliseconds"))
        .collect();
    let start = began.as_millis();
    let mut seen: Vec<u128> = wire.times_ms().into_iter().map(|at| at - start).collect();
    if open {
        seen.truncate(expected.len());
    }
    (seen != expected).then(|| format!("at {seen:?} ms, not {expected:?}"))
}

pub(crate) fn surfaced(expected: &str, seen: &Seen) -> Option<String> {
    let got = match &seen.result {
        Ok(response) => Status::of_response(response).to_string(),
        Err(error) => match TransportError::find(&**error) {
            Some(error) => error.kind().to_string(),
            None => error.to_string(),
        },
    };
    let good = match expected {
        "ok" => matches!(got.as_str(), "200" | "201"),
        expected => got == expected,
    };
    (!good).then(|| format!("surfaced {got}, not {expected}"))
}

/// Attempts are the same bytes but for what has to vary; the session token is not.
pub(crate) fn replays(wire: &Wire) -> Option<String> {
    let pristine = |entry: &WireEntry| {
        let mut headers = entry.headers.clone();
        for name in VARYING {
            headers.remove(name);
        }
        (
            entry.method.clone(),
            entry.path.clone(),
            headers,
            entry.body.clone(),
        )
    };
    let first = wire.0.first()?;
    if first.header("x-ms-noretry-449").to_lowercase() != "true" {
        return Some("the gateway was not told to leave 449 alone".to_owned());
    }
    let differs = wire
        .0
        .iter()
        .any(|entry| pristine(entry) != pristine(first));
    differs.then(|| "a replay differs from the first attempt".to_owned())
}

/// The journal says what the wire says.
pub(crate) fn journal(seen: &Seen, wire: &Wire) -> Option<String> {
    let attempts = seen
        .journal
        .as_ref()
        .map(cosmos_core::Journal::attempts)
        .unwrap_or_default();
    let regions: Vec<&str> = attempts
        .iter()
        .map(|attempt| attempt.region.name())
        .collect();
    let asked = wire.regions().to_lowercase();
    (regions.join(" ") != asked).then(|| format!("the journal says {}", regions.join(" ")))
}
