//! `docs/cases.md`, made from the table.

use std::fmt::Write;

use crate::table::{Case, Cover, Group, Standing};

const PREFACE: &str = "\
# What went wrong elsewhere

Public reports about clients that do the same job, in our own words, and the test that would catch
the same fault here. Made from `tests/cases/cases.txt`; the test `cases` fails if a test that is
named here does not exist (`COSMOS_BLESS=1 cargo test --test cases` writes this file anew).

`binary::module::test` is in `tests/`, `crate/binary::module::test` among a crate's own tests or
sources; *conformance* is a section of [conformance.md](conformance.md). Where the retry
specification asks for something else than a report does, the line says what is done here. *Due* is
what belongs to a part that is not built yet.
";

pub(crate) fn check(groups: &[Group]) -> Result<(), String> {
    cosmos_tests::check_document("docs/cases.md", &render(groups))
}

fn render(groups: &[Group]) -> String {
    let mut text = PREFACE.to_owned();
    let standings: Vec<_> = groups
        .iter()
        .flat_map(|group| &group.cases)
        .map(Case::standing)
        .collect();
    let count = |wanted| standings.iter().filter(|is| **is == wanted).count();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\n{} cases: {} covered, {} covered with a part due, {} due, {} not applicable.",
        standings.len(),
        count(Standing::Covered),
        count(Standing::DueInPart),
        count(Standing::Due),
        count(Standing::DoesNotApply),
    );
    for group in groups {
        let _ = writeln!(text, "\n## {}\n", group.title);
        text.push_str("| case | report | what went wrong there | what would catch it here |\n");
        text.push_str("|---|---|---|---|\n");
        for case in &group.cases {
            let covers: Vec<_> = case.covers.iter().map(shown).collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                case.id,
                case.report,
                case.wrong,
                covers.join("<br>")
            );
        }
    }
    text
}

fn shown(cover: &Cover) -> String {
    match cover {
        Cover::Test(name) => format!("`{name}`"),
        Cover::Conformance(title) => format!("*conformance:* {title}"),
        Cover::Note(text) => format!("*here:* {text}"),
        Cover::Due(with) => format!("*due:* {with}"),
        Cover::No(why) => format!("*does not apply:* {why}"),
    }
}
