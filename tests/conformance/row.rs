//! One row: an operation on an account whose regions follow a script.

use cosmos_core::requests;
use cosmos_tests::Req;

use crate::table::Line;

/// A row of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) section: String,
    pub(crate) operation: Operation,
    pub(crate) account: Account,
    pub(crate) line: Line,
}

impl Row {
    pub(crate) fn name(&self) -> String {
        let Line {
            regions,
            asked,
            when,
            surfaced,
            ..
        } = &self.line;
        format!(
            "{} | {} on {} | {regions} => {asked} @ {when} => {surfaced}",
            self.section,
            self.operation.name(),
            self.account.name(),
        )
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    Single,
    Multi,
}

impl Account {
    pub(crate) fn read(text: &str) -> Vec<Self> {
        match text {
            "single" => vec![Self::Single],
            "multi" => vec![Self::Multi],
            "both" => vec![Self::Single, Self::Multi],
            _ => panic!("no account: {text}"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Single => "single-write",
            Self::Multi => "multi-write",
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Query,
    Create,
    Replace,
    StoredProcedure,
    MetadataRead,
    MetadataWrite,
}

impl Operation {
    pub(crate) fn read(text: &str) -> Vec<Self> {
        text.split(',')
            .flat_map(|word| Self::of(word.trim()))
            .copied()
            .collect()
    }

    fn of(word: &str) -> &'static [Self] {
        match word {
            "read" => &[Self::Read],
            "query" => &[Self::Query],
            "create" => &[Self::Create],
            "replace" => &[Self::Replace],
            "sproc" => &[Self::StoredProcedure],
            "mread" => &[Self::MetadataRead],
            "mwrite" => &[Self::MetadataWrite],
            "reads" => &[Self::Read, Self::Query],
            "writes" => &[Self::Create, Self::Replace],
            "data" => &[
                Self::Read,
                Self::Query,
                Self::Create,
                Self::Replace,
                Self::StoredProcedure,
            ],
            "all" => &[
                Self::Read,
                Self::Query,
                Self::Create,
                Self::Replace,
                Self::StoredProcedure,
                Self::MetadataRead,
                Self::MetadataWrite,
            ],
            _ => panic!("no operation: {word}"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Query => "query",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::StoredProcedure => "stored procedure",
            Self::MetadataRead => "metadata read",
            Self::MetadataWrite => "metadata write",
        }
    }

    /// The request, with a session token of the caller's.
    pub(crate) fn request(self) -> Req {
        let item = bytes::Bytes::from_static(b"{\"id\":\"1\"}");
        let request = match self {
            Self::Read => return with_token(cosmos_tests::read()),
            Self::Create => return with_token(cosmos_tests::create()),
            Self::StoredProcedure => return with_token(cosmos_tests::execute()),
            Self::MetadataRead => return cosmos_tests::read_metadata(),
            Self::MetadataWrite => return cosmos_tests::write_metadata(),
            Self::Query => requests::query_items("d", "c", "SELECT * FROM c").build(),
            Self::Replace => requests::replace_item("d", "c", "1", &"p".into(), item).build(),
        };
        with_token(request.expect("a good request"))
    }
}

fn with_token(mut request: Req) -> Req {
    let token = http::HeaderValue::from_static("0:1#42#1=7");
    request.headers_mut().insert("x-ms-session-token", token);
    request
}
