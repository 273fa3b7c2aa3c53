//! Reading the tables.

use crate::row::{Account, Operation, Row};

/// A section of the specification.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) says: Vec<String>,
    pub(crate) ours: Vec<String>,
    pub(crate) lines: Vec<Line>,
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

/// Reads `rows.txt`.
pub(crate) fn read(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(title) = line.strip_prefix("== ") {
            sections.push(Section {
                title: title.to_owned(),
                ..Section::default()
            });
            continue;
        }
        let section = sections.last_mut().expect("a section before its rows");
        if let Some(says) = line.strip_prefix("> ") {
            section.says.push(says.to_owned());
        } else if let Some(ours) = line.strip_prefix("+ ") {
            section.ours.push(ours.to_owned());
        } else {
            section.lines.push(Line::read(line));
        }
    }
    sections
}

impl Line {
    fn read(line: &str) -> Self {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [operations, account, regions, asked, when, surfaced] = cells[..] else {
            panic!("six cells: {line}");
        };
        Self {
            operations: operations.to_owned(),
            account: account.to_owned(),
            regions: regions.to_owned(),
            asked: asked.to_owned(),
            when: when.to_owned(),
            surfaced: surfaced.to_owned(),
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
