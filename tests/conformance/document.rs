//! `docs/conformance.md`, made from the same data as the tests.

use std::fmt::Write;

use crate::table::Section;

const PREFACE: &str = "\
# Conformance

The retry specification of the Rust driver, section by section, and what must be seen on the wire
for it. Made from `tests/conformance/rows.txt`, which the test `conformance` runs row by row through
the full stack (`COSMOS_BLESS=1 cargo test --test conformance` writes this file anew).

*A:503,429(20)* means that region A answers 503, then 429 with a hint of 20 ms, then well; a star
means for ever. A is the hub; A, B, C are preferred in this order unless it says otherwise. *Asked*
are the regions in the order in which they saw the request (a number: how often in all), *when* the
milliseconds since the operation began. On every row the replays must be identical but for host,
date, signature and `x-ms-cosmos-allow-tentative-writes`, carry the same session token, tell the
gateway to leave 449 alone, and the journal must say what the wire says.
";

pub(crate) fn check(sections: &[Section]) -> Result<(), String> {
    cosmos_tests::check_document("docs/conformance.md", &render(sections))
}

fn render(sections: &[Section]) -> String {
    let mut text = PREFACE.to_owned();
    let rows: usize = sections.iter().map(|section| section.rows().len()).sum();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{rows} rows.");
    for section in sections {
        let _ = writeln!(text, "\n## {}\n", section.title);
        for says in &section.says {
            let _ = writeln!(text, "The specification: {says}");
        }
        for ours in &section.ours {
            let _ = writeln!(text, "\n*Ours:* {ours}");
        }
        text.push_str("\n| operations | account | regions | asked | when (ms) | surfaced |\n");
        text.push_str("|---|---|---|---|---|---|\n");
        for line in &section.lines {
            let _ = writeln!(
                text,
                "| {} | {} | `{}` | {} | {} | {} |",
                line.operations,
                line.account,
                line.regions,
                escape(&line.asked),
                line.when,
                line.surfaced
            );
        }
    }
    text.push_str(include_str!("notes.md"));
    text
}

fn escape(text: &str) -> String {
    text.replace('*', "\\*")
}
