//! Reading the table.

/// Cases that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) cases: Vec<Case>,
}

/// One thing that went wrong elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) report: String,
    pub(crate) wrong: String,
    pub(crate) covers: Vec<Cover>,
}

/// What is said of a case here.
#[derive(Clone, Debug)]
pub(crate) enum Cover {
    /// A test would catch it.
    Test(String),
    /// Rows of the conformance table would.
    Conformance(String),
    /// A decision that differs.
    Note(String),
    /// It belongs to a part that is not built yet.
    Due(String),
    /// It does not apply.
    No(String),
}

/// How a case stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Covered,
    DueInPart,
    Due,
    DoesNotApply,
}

impl Case {
    fn read(line: &str) -> Self {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [id, report, wrong, covers] = cells[..] else {
            panic!("four cells: {line}");
        };
        Self {
            id: id.to_owned(),
            report: report.to_owned(),
            wrong: wrong.to_owned(),
            covers: covers.split(';').map(str::trim).map(Cover::read).collect(),
        }
    }

    pub(crate) fn standing(&self) -> Standing {
        let is = |wanted: fn(&Cover) -> bool| self.covers.iter().any(wanted);
        let due = is(|cover| matches!(cover, Cover::Due(_)));
        if is(|cover| matches!(cover, Cover::No(_))) {
            Standing::DoesNotApply
        } else if !is(|cover| matches!(cover, Cover::Test(_) | Cover::Conformance(_))) {
            Standing::Due
        } else if due {
            Standing::DueInPart
        } else {
            Standing::Covered
        }
    }
}

impl Cover {
    fn read(text: &str) -> Self {
        match text.split_once(": ") {
            Some(("conformance", title)) => Self::Conformance(title.to_owned()),
            Some(("note", note)) => Self::Note(note.to_owned()),
            Some(("due", with)) => Self::Due(with.to_owned()),
            Some(("no", why)) => Self::No(why.to_owned()),
            _ => Self::Test(text.to_owned()),
        }
    }
}

/// Reads `cases.txt`.
pub(crate) fn read(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(title) = line.strip_prefix("== ") {
            groups.push(Group {
                title: title.to_owned(),
                cases: Vec::new(),
            });
        } else {
            let group = groups.last_mut().expect("a group before its cases");
            group.cases.push(Case::read(line));
        }
    }
    groups
}
