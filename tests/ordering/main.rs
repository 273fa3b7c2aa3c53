//! The layers in every order, through `BoxCloneSyncService`, over the scripted account with paused
//! time: the safety rules hold on the wire in each, and what a wrong order costs is measured and
//! written to `docs/ordering.md`.
//!
//! `COSMOS_BLESS=1 cargo test --test ordering` writes the document anew.

// Also outside of test functions, where clippy's own setting allows it.
#![allow(clippy::unwrap_used)]

mod cost;
mod document;
mod others;
mod play;
mod scenario;
mod scenarios;
mod stack;

use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use cosmos_tests::kinds::Kind;

use cost::{Measured, Played, Seven};
use play::play;
use scenario::{Operation, Scenario};
use stack::Order;

/// Every order, each a list of the places in the recommended one.
fn permutations() -> Vec<Seven> {
    fn extend(left: &[Kind], begun: &[Kind], all: &mut Vec<Seven>) {
        if let Ok(order) = begun.try_into() {
            all.push(order);
        }
        for kind in left {
            let rest: Vec<Kind> = left.iter().copied().filter(|other| other != kind).collect();
            extend(&rest, &[begun, &[*kind]].concat(), all);
        }
    }
    let mut all = Vec::new();
    extend(&Kind::ORDERED, &[], &mut all);
    all
}

fn cases() -> Vec<(Scenario, Operation)> {
    let mut cases = Vec::new();
    for scenario in scenarios::all() {
        for operation in scenario.operations {
            cases.push((scenario.clone(), *operation));
        }
    }
    cases
}

/// Plays all cases with each of these orders, on as many threads as there are cores.
///
/// # Errors
/// The first rule of each order that was broken.
fn play_all(orders: &[Order]) -> Result<Vec<Vec<play::Seen>>, String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let cases = cases();
        let mut played = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(order) = orders.get(index) else {
                return played;
            };
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            let seen: Result<Vec<play::Seen>, String> = runtime.block_on(async {
                let mut seen = Vec::new();
                for (scenario, operation) in &cases {
                    seen.push(play(order, scenario, *operation).await?);
                }
                Ok(seen)
            });
            played.push((index, seen));
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, Into::into);
    let mut played: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let played = workers.into_iter().map(|worker| worker.join().unwrap());
        played.flatten().collect()
    });
    played.sort_by_key(|(index, _)| *index);
    let broken: Vec<&String> = played
        .iter()
        .filter_map(|(_, seen)| seen.as_ref().err())
        .collect();
    if let Some(first) = broken.first() {
        return Err(format!(
            "{} of {} orders: {first}",
            broken.len(),
            orders.len()
        ));
    }
    played.into_iter().map(|(_, seen)| seen).collect()
}

/// What all orders cost, once for all tests.
static MEASURED: LazyLock<Result<Measured, String>> = LazyLock::new(|| {
    let began = tokio::time::Instant::now();
    let permutations = permutations();
    let orders: Vec<Order> = permutations.iter().map(|order| Order::of(order)).collect();
    let seen = play_all(&orders)?;
    let cases: Vec<Played> = cases()
        .into_iter()
        // The recommended order comes first.
        .zip(&seen[0])
        .map(|((scenario, operation), seen)| Played {
            scenario: scenario.name,
            operation,
            wire: seen.wire.clone(),
        })
        .collect();
    println!(
        "{} orders, {} cases each, {:.0?}",
        orders.len(),
        cases.len(),
        began.elapsed()
    );
    let costs: HashMap<Seven, _> = permutations
        .into_iter()
        .zip(seen)
        .map(|(order, seen)| (order, seen.iter().map(|seen| seen.cost).collect()))
        .collect();
    Ok(Measured { cases, costs })
});

#[test]
fn every_order_keeps_the_safety_rules() {
    let measured = MEASURED
        .as_ref()
        .unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(measured.costs.len(), 5040);
}

#[test]
fn the_document_says_what_every_order_costs() {
    let measured = MEASURED
        .as_ref()
        .unwrap_or_else(|problem| panic!("{problem}"));
    let text = document::render(measured);
    println!("{text}");
    if let Err(error) = cosmos_tests::check_document("docs/ordering.md", &text) {
        panic!("docs/ordering.md: {error}");
    }
}
