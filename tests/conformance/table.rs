//! Reading the tables.

use crate::row::{Account, Operation, Row};

/// A section of the specification.
#[derive(Clone, Debug)]
pub(crate) struct Section<L = Line> {
    pub(crate) title: String,
    pub(crate) says: Vec<String>,
    pub(crate) ours: Vec<String>,
    pub(crate) lines: Vec<L>,
}

/// A line of the table: a row for each of its operations and accounts.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) operations: String,
    pub(crate) account: String,
    pub(crate) regions: String,
    pub(crate) asked: String,
    pub(crate) when: String,
    pub(crate) surfaced: String,
}

/// Reads a file of sections with lines.
pub(crate) fn read<L>(text: &str, read_line: fn(&str) -> L) -> Vec<Section<L>> {
    let mut sections: Vec<Section<L>> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(title) = line.strip_prefix("== ") {
            sections.push(Section {
                title: title.to_owned(),
                says: Vec::new(),
                ours: Vec::new(),
                lines: Vec::new(),
            });
            continue;
        }
        let section = sections.last_mut().expect("a section before its rows");
        if let Some(says) = line.strip_prefix("> ") {
            section.says.push(says.to_owned());
        } else if let Some(ours) = line.strip_prefix("+ ") {
            section.ours.push(ours.to_owned());
        } else {
            section.lines.push(read_line(line));
        }
    }
    sections
}

/// The cells of a line.
pub(crate) fn cells<const N: usize>(line: &str) -> [String; N] {
    let cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
    let wanted = cells.try_into();
    wanted.unwrap_or_else(|_| panic!("{N} cells: {line}"))
}

impl Line {
    pub(crate) fn read(line: &str) -> Self {
        let [operations, account, regions, asked, when, surfaced] = cells(line);
        Self {
            operations,
            account,
            regions,
            asked,
            when,
            surfaced,
        }
    }
}

impl Section {
    /// The rows of the section, one for each operation and account of each line.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for line in &self.lines {
            for account in Account::read(&line.account) {
                for operation in Operation::read(&line.operations) {
                    rows.push(Row {
                        section: self.title.clone(),
                        operation,
                        account,
                        line: line.clone(),
                    });
                }
            }
        }
        rows
    }
}
