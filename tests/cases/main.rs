//! What went wrong in other clients, and the test that would catch it here.
//!
//! `cases.txt` holds public reports and entries of change logs, each with the tests that cover it,
//! or why there is none. `docs/cases.md` is made from it: `COSMOS_BLESS=1 cargo test --test cases`
//! writes it anew.

mod document;
mod sources;
mod table;

use std::collections::HashMap;

use table::{Case, Cover};

fn cases() -> Vec<Case> {
    let groups = table::read(include_str!("cases.txt"));
    groups.into_iter().flat_map(|group| group.cases).collect()
}

/// Every id that there is to answer for.
fn known() -> Vec<String> {
    let lettered = [
        ("T", 3..=15),
        ("C", 3..=21),
        ("D", 3..=11),
        ("R", 5..=31),
        ("S", 2..=13),
        ("W", 2..=16),
        ("B", 3..=29),
        ("F", 2..=8),
        ("H", 1..=5),
        ("P", 2..=9),
        ("L", 1..=4),
        // The entries of change logs have numbers only.
        ("", 1..=132),
    ];
    let ids = lettered
        .into_iter()
        .flat_map(|(letter, numbers)| numbers.map(move |number: u32| format!("{letter}{number}")));
    ids.collect()
}

#[test]
fn every_known_case_is_there_once() {
    let mut found: HashMap<String, usize> = HashMap::new();
    for case in cases() {
        *found.entry(case.id).or_default() += 1;
    }
    for id in known() {
        assert_eq!(found.remove(&id), Some(1), "{id}");
    }
    assert!(found.is_empty(), "not known: {found:?}");
}

#[test]
fn every_test_that_is_named_exists() {
    let mut missing = Vec::new();
    for case in cases() {
        for cover in &case.covers {
            let there = match cover {
                Cover::Test(name) => sources::has_test(name),
                Cover::Conformance(title) => sources::has_section(title),
                Cover::Note(_) | Cover::Due(_) | Cover::No(_) => true,
            };
            if !there {
                missing.push(format!("{}: {cover:?}", case.id));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_case_says_what_covers_it_or_why_nothing_does() {
    for case in cases() {
        let answers = case
            .covers
            .iter()
            .filter(|cover| !matches!(cover, Cover::Note(_)))
            .count();
        assert!(answers > 0, "{}", case.id);
        let refused = case
            .covers
            .iter()
            .any(|cover| matches!(cover, Cover::No(_)));
        assert!(!refused || answers == 1, "{}: both yes and no", case.id);
    }
}

#[test]
fn a_name_that_is_no_test_is_noticed() {
    assert!(sources::has_test(
        "cases::main::a_name_that_is_no_test_is_noticed"
    ));
    for name in [
        "cases::main::a_name_that_is_no_test",
        "cases::main::known",
        "cases::nowhere::a_name_that_is_no_test_is_noticed",
        "cosmos-core/policy::waits::no_such_test",
        "nothing",
    ] {
        assert!(!sources::has_test(name), "{name}");
    }
    assert!(!sources::has_section("410"));
}

#[test]
fn the_document_is_up_to_date() {
    let groups = table::read(include_str!("cases.txt"));
    if let Err(error) = document::check(&groups) {
        panic!("docs/cases.md: {error}");
    }
}
