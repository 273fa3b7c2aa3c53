//! What the account must hold, by what callers were told.

use std::collections::BTreeMap;

use crate::store::{Key, State};

/// What a caller knows of one document.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// What the document can be. One state, unless a write ended without a word.
    pub(crate) allowed: Vec<State>,
    pub(crate) etag: Option<String>,
    /// An attempt may still arrive: nobody may write the document again, so that what it is in the end
    /// does not depend on when it does.
    pub(crate) in_doubt: bool,
}

impl Record {
    fn absent() -> Self {
        Self {
            allowed: vec![None],
            etag: None,
            in_doubt: false,
        }
    }

    pub(crate) fn allows(&self, state: State) -> bool {
        self.allowed.contains(&state)
    }
}

/// How a write ended for its caller.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) acknowledged: bool,
    /// The document's, if it is there and was acknowledged.
    pub(crate) etag: Option<String>,
    /// Whether some attempt was sent and never answered.
    pub(crate) loose_ends: bool,
}

/// The documents of one writer.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    records: BTreeMap<Key, Record>,
}

impl Ledger {
    /// Notes how a write of this state ended.
    pub(crate) fn wrote(&mut self, key: Key, state: State, written: Written) {
        let record = self.records.entry(key).or_insert_with(Record::absent);
        if written.acknowledged {
            record.allowed = vec![state];
            record.etag = written.etag;
        } else if written.loose_ends {
            // Else it was refused by every region that it reached.
            record.allowed.push(state);
        }
        record.in_doubt |= written.loose_ends;
    }

    /// The documents that are there for sure, with an etag that is known.
    pub(crate) fn certain(&self) -> Vec<(&Key, &Record)> {
        let all = self.records.iter();
        all.filter(|(_, record)| !record.in_doubt && record.etag.is_some() && !record.allows(None))
            .collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &Record)> {
        self.records.iter()
    }
}
