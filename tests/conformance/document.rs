//! `docs/conformance.md`, made from the same data as the tests.

use std::fmt::Write;

use crate::row::Row;
use crate::sequence::Sequence;
use crate::table::{self, Section};
use crate::{environment, sequence};

const PREFACE: &str = "\
# Conformance

The specifications, section by section, and what must be seen on the wire for them. Made from
`rows.txt`, `sequences.txt` and `environment.txt` in `tests/conformance`, which the test
`conformance` runs row by row through the full stack (`COSMOS_BLESS=1 cargo test --test conformance`
writes this file anew). Where nothing else is said, it is the retry specification of the Rust driver.

*A:503,429(20)* means that region A answers 503, then 429 with a hint of 20 ms, then well; a star
means for ever. A is the hub; A, B, C are preferred in this order unless it says otherwise. *Asked*
are the regions in the order in which they saw the request (a number: how often in all), *when* the
milliseconds since the operation began. On every row the replays must be identical but for host,
date, signature and `x-ms-cosmos-allow-tentative-writes`, carry the same session token, tell the
gateway to leave 449 alone, and the journal must say what the wire says.
";

const SEQUENCES: &str = "
Where one operation does not show it, there are sequences of them. *10x read 0 -> A B* means ten reads
of partition key range 0, one after the other, each of which asks A, then B; *= 503* that they
surface 503, and nothing that they succeed. In between regions change (*A:503 x10*: ten times 503;
*A:well*), time passes, and the account becomes another one. *Unguarded* is a stack without a
breaker, *ppaf* a single-write account that moves partitions.
";

/// All data.
pub(crate) struct Tables {
    rows: Vec<Section>,
    sequences: Vec<Section<sequence::Line>>,
    environment: Vec<Section<environment::Line>>,
}

impl Tables {
    pub(crate) fn read() -> Self {
        Self {
            rows: table::read(include_str!("rows.txt"), table::Line::read),
            sequences: table::read(include_str!("sequences.txt"), sequence::Line::read),
            environment: table::read(include_str!("environment.txt"), environment::Line::read),
        }
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        self.rows.iter().flat_map(Section::rows).collect()
    }

    pub(crate) fn sequences(&self) -> Vec<Sequence> {
        let of = |section: &Section<sequence::Line>| -> Vec<Sequence> {
            let lines = section.lines.iter();
            lines
                .flat_map(|line| line.sequences(&section.title))
                .collect()
        };
        self.sequences.iter().flat_map(of).collect()
    }

    pub(crate) fn environment(&self) -> Vec<environment::Line> {
        let lines = self.environment.iter().flat_map(|section| &section.lines);
        lines.cloned().collect()
    }
}

pub(crate) fn check(tables: &Tables) -> Result<(), String> {
    cosmos_tests::check_document("docs/conformance.md", &render(tables))
}

// Writing to a string cannot fail.
fn render(tables: &Tables) -> String {
    let mut text = PREFACE.to_owned();
    let _ = writeln!(
        text,
        "\n{} rows, {} sequences, {} lines of environment variables.",
        tables.rows().len(),
        tables.sequences().len(),
        tables.environment().len()
    );
    for section in &tables.rows {
        render_heading(&mut text, section);
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
    text.push_str(SEQUENCES);
    for section in &tables.sequences {
        render_heading(&mut text, section);
        text.push_str("\n| what | account | sequence |\n|---|---|---|\n");
        for line in &section.lines {
            let steps: Vec<String> = line
                .steps
                .split(';')
                .map(|step| format!("`{}`", step.trim()))
                .collect();
            let steps = steps.join(", ");
            let _ = writeln!(text, "| {} | {} | {steps} |", line.what, line.account);
        }
    }
    for section in &tables.environment {
        render_heading(&mut text, section);
        text.push_str("\n| variables | code | settings |\n|---|---|---|\n");
        for line in &section.lines {
            let cells = [&line.variables, &line.code, &line.setting].map(|cell| code(cell));
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    text.push_str(include_str!("notes.md"));
    text
}

fn render_heading<L>(text: &mut String, section: &Section<L>) {
    let _ = writeln!(text, "\n## {}\n", section.title);
    for says in &section.says {
        let _ = writeln!(text, "The specification: {says}");
    }
    for ours in &section.ours {
        let _ = writeln!(text, "\n*Ours:* {ours}");
    }
}

fn code(text: &str) -> String {
    if text.is_empty() {
        "none".to_owned()
    } else {
        format!("`{text}`")
    }
}

fn escape(text: &str) -> String {
    text.replace('*', "\\*")
}
