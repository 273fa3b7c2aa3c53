//! Every kind of operation: its request, and whether an answer to it can be true.

use std::collections::BTreeMap;

use bytes::Bytes;
use cosmos_core::requests::{self, RequestBuilder};
use cosmos_core::{PartitionKey, Status};
use serde_json::{Value, json};

use crate::model::{IDS, Model};
use crate::serve::{CONTAINER, DATABASE};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Read,
    Create,
    Replace,
    Upsert,
    Patch,
    Delete,
    Query,
    ReadFeed,
    ChangeFeed,
    Batch,
    Procedure,
    DeleteKey,
    ReadContainer,
}

/// The kinds, and how often they come.
const SHARES: [(Kind, u32); 13] = [
    (Kind::Read, 30),
    (Kind::Create, 8),
    (Kind::Replace, 8),
    (Kind::Upsert, 16),
    (Kind::Patch, 8),
    (Kind::Delete, 6),
    (Kind::Query, 6),
    (Kind::ReadFeed, 4),
    (Kind::ChangeFeed, 4),
    (Kind::Batch, 5),
    (Kind::Procedure, 2),
    (Kind::DeleteKey, 1),
    (Kind::ReadContainer, 2),
];

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Upsert => "upsert",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::Query => "query",
            Self::ReadFeed => "read_feed",
            Self::ChangeFeed => "change_feed",
            Self::Batch => "batch",
            Self::Procedure => "stored_procedure",
            Self::DeleteKey => "delete_partition_key",
            Self::ReadContainer => "read_container",
        }
    }
}

/// One operation on a partition key.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    pub(crate) key: String,
    pub(crate) item: usize,
    /// What it writes; no other operation writes the same.
    pub(crate) value: u64,
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) result: Result<(Status, Bytes), String>,
    /// Whether an attempt before the last one may have been carried out.
    pub(crate) perhaps_done_before: bool,
}

/// What is made of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    /// The service could not be reached, and said so.
    Failed(String),
    /// This cannot be.
    Wrong(String),
}

impl Operation {
    pub(crate) fn random(random: &mut fastrand::Rng, key: &str, value: u64) -> Self {
        let all: u32 = SHARES.iter().map(|(_, share)| share).sum();
        let mut drawn = random.u32(0..all);
        let kind = SHARES.into_iter().find_map(|(kind, share)| {
            let hit = drawn < share;
            drawn = drawn.saturating_sub(share);
            hit.then_some(kind)
        });
        Self {
            kind: kind.unwrap_or(Kind::Read),
            key: key.to_owned(),
            item: random.usize(0..IDS),
            value,
        }
    }

    pub(crate) fn request(&self) -> RequestBuilder {
        let (d, c, key) = (DATABASE, CONTAINER, &PartitionKey::from(&self.key));
        let id = &id(self.item);
        match self.kind {
            Kind::Read => requests::read_item(d, c, id, key),
            Kind::Create => requests::create_item(d, c, key, self.document(self.item)),
            Kind::Replace => requests::replace_item(d, c, id, key, self.document(self.item)),
            Kind::Upsert => requests::upsert_item(d, c, key, self.document(self.item)),
            Kind::Patch => requests::patch_item(d, c, id, key, self.patch()),
            Kind::Delete => requests::delete_item(d, c, id, key),
            Kind::Query => requests::query_items(d, c, "SELECT * FROM c").partition_key(key),
            Kind::ReadFeed => requests::read_feed(d, c).partition_key(key),
            Kind::ChangeFeed => requests::change_feed(d, c).partition_key(key),
            Kind::Batch => requests::batch(d, c, key, self.batch()),
            Kind::Procedure => {
                // The account knows any procedure, and keeps what it was called with.
                requests::execute_stored_procedure(d, c, "count", key, json!([self.value]))
            }
            Kind::DeleteKey => requests::delete_by_partition_key(d, c, key),
            Kind::ReadContainer => requests::read_container(d, c),
        }
    }

    /// The two items that a batch writes.
    fn pair(&self) -> [usize; 2] {
        [self.item, (self.item + 1) % IDS]
    }

    fn document(&self, item: usize) -> Value {
        json!({ "id": id(item), "pk": self.key, "value": self.value, "text": text(self.value) })
    }

    fn patch(&self) -> Value {
        json!({ "operations": [
            { "op": "set", "path": "/value", "value": self.value },
            { "op": "set", "path": "/text", "value": text(self.value) },
        ]})
    }

    fn batch(&self) -> Value {
        let upserts = self
            .pair()
            .map(|item| json!({ "operationType": "Upsert", "resourceBody": self.document(item) }));
        json!(upserts)
    }

    /// Holds an answer against what may be true, and keeps what is known from now on.
    pub(crate) fn judge(&self, answer: &Answer, model: &mut Model) -> Verdict {
        let (status, body) = match &answer.result {
            Ok(answer) => answer,
            Err(error) => {
                self.perhaps(model);
                return Verdict::Failed(error.clone());
            }
        };
        let wrong = match (status.code(), status.substatus()) {
            (200..=299 | 304, _) => self.succeeded(body, model),
            (404, 0) => self.found_nothing(answer, model),
            (409, 0) if self.kind == Kind::Create => {
                let explained = model.may_be_present(self.item) || answer.perhaps_done_before;
                if answer.perhaps_done_before {
                    self.perhaps(model);
                }
                explained
                    .then_some(())
                    .ok_or_else(|| "conflict with nothing".to_owned())
            }
            (404, 1002) | (403, 3 | 1008) | (408 | 410 | 429 | 449 | 500..=599, _) => {
                self.perhaps(model);
                return Verdict::Failed(status.to_string());
            }
            _ => Err(format!(
                "answered {status}: {}",
                String::from_utf8_lossy(body)
            )),
        };
        wrong.map_or_else(Verdict::Wrong, |()| Verdict::Good)
    }

    /// The operation may have been done.
    fn perhaps(&self, model: &mut Model) {
        let written = Some(self.value);
        match self.kind {
            Kind::Create | Kind::Replace | Kind::Upsert | Kind::Patch => {
                model.may_be(self.item, written);
            }
            Kind::Batch => self
                .pair()
                .into_iter()
                .for_each(|item| model.may_be(item, written)),
            Kind::Delete => model.may_be(self.item, None),
            Kind::DeleteKey => (0..IDS).for_each(|item| model.may_be(item, None)),
            _ => {}
        }
    }

    fn succeeded(&self, body: &[u8], model: &mut Model) -> Result<(), String> {
        let written = Some(self.value);
        let json = || serde_json::from_slice::<Value>(body).unwrap_or_default();
        match self.kind {
            Kind::Read => {
                let (item, value) = found(&json())?;
                if item != self.item {
                    return Err(format!("item {item} instead of {}", self.item));
                }
                model.check(item, Some(value))
            }
            Kind::Create => {
                // After one that was done without a word, the second one finds it; but then it
                // cannot succeed.
                let was_free = model.may_be_absent(self.item);
                model.is(self.item, written);
                was_free
                    .then_some(())
                    .ok_or_else(|| "created twice".to_owned())
            }
            Kind::Replace | Kind::Patch => {
                let was_there = model.may_be_present(self.item);
                model.is(self.item, written);
                was_there
                    .then_some(())
                    .ok_or_else(|| "changed nothing".to_owned())
            }
            Kind::Upsert => {
                model.is(self.item, written);
                Ok(())
            }
            Kind::Batch => {
                for item in self.pair() {
                    model.is(item, written);
                }
                Ok(())
            }
            Kind::Delete => {
                let was_there = model.may_be_present(self.item);
                model.is(self.item, None);
                was_there
                    .then_some(())
                    .ok_or_else(|| "deleted nothing".to_owned())
            }
            Kind::DeleteKey => {
                *model = Model::default();
                Ok(())
            }
            Kind::Query | Kind::ReadFeed | Kind::ChangeFeed => {
                let page = json();
                let documents = page["Documents"].as_array().into_iter().flatten();
                let documents: BTreeMap<_, _> = documents.map(found).collect::<Result<_, _>>()?;
                model.check_all(&documents)
            }
            Kind::Procedure => {
                let ran = json()["arguments"] == json!([self.value]);
                ran.then_some(())
                    .ok_or_else(|| "another call's answer".to_owned())
            }
            Kind::ReadContainer => {
                let named = json()["id"] == CONTAINER;
                named
                    .then_some(())
                    .ok_or_else(|| "another container".to_owned())
            }
        }
    }

    fn found_nothing(&self, answer: &Answer, model: &mut Model) -> Result<(), String> {
        match self.kind {
            Kind::Read => model.check(self.item, None),
            Kind::Replace | Kind::Patch if model.may_be_absent(self.item) => Ok(()),
            Kind::Delete if answer.perhaps_done_before => {
                model.may_be(self.item, None);
                Ok(())
            }
            Kind::Delete if model.may_be_absent(self.item) => Ok(()),
            _ => Err("there is something".to_owned()),
        }
    }
}

fn id(item: usize) -> String {
    format!("item-{item}")
}

/// A text that tells whether all of it has come back.
fn text(value: u64) -> String {
    "x".repeat(usize::try_from(value % 2_000).unwrap_or_default())
}

/// Which item a document is, and what it holds.
fn found(document: &Value) -> Result<(usize, u64), String> {
    let item = (0..IDS).find(|item| document["id"] == id(*item));
    match (item, document["value"].as_u64()) {
        (Some(item), Some(value)) if document["text"] == text(value) => Ok((item, value)),
        _ => Err(format!("no document of ours: {document}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(code: u16, body: &Value) -> Answer {
        Answer {
            result: Ok((Status::new(code, 0), body.to_string().into())),
            perhaps_done_before: false,
        }
    }

    fn operation(kind: Kind, value: u64) -> Operation {
        Operation {
            kind,
            key: "k".to_owned(),
            item: 1,
            value,
        }
    }

    fn is_wrong(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Wrong(_))
    }

    #[test]
    fn a_write_that_was_acknowledged_has_to_be_found() {
        let mut model = Model::default();
        let write = operation(Kind::Upsert, 7);
        let created = write.judge(&answer(201, &Value::Null), &mut model);
        assert_eq!(created, Verdict::Good);
        let read = operation(Kind::Read, 8);
        let found = read.judge(&answer(200, &write.document(1)), &mut model);
        assert_eq!(found, Verdict::Good);
        let other = operation(Kind::Upsert, 6).document(1);
        assert!(is_wrong(&read.judge(&answer(200, &other), &mut model)));
        assert!(is_wrong(
            &read.judge(&answer(404, &Value::Null), &mut model)
        ));
        let feed = operation(Kind::Query, 9);
        let empty = answer(200, &json!({ "Documents": [] }));
        assert!(is_wrong(&feed.judge(&empty, &mut model)));
    }

    #[test]
    fn a_write_of_which_nobody_knows_may_be_found_or_not() {
        let mut model = Model::default();
        let write = operation(Kind::Create, 7);
        let lost = write.judge(&answer(503, &Value::Null), &mut model);
        assert!(matches!(lost, Verdict::Failed(_)));
        let read = operation(Kind::Read, 8);
        for answer in [answer(200, &write.document(1)), answer(404, &Value::Null)] {
            assert_eq!(read.judge(&answer, &mut model), Verdict::Good);
        }
    }

    #[test]
    fn a_document_that_is_not_whole_is_wrong() {
        let mut model = Model::default();
        let write = operation(Kind::Upsert, 70);
        write.judge(&answer(201, &Value::Null), &mut model);
        let mut half = write.document(1);
        half["text"] = "x".into();
        let read = operation(Kind::Read, 8);
        assert!(is_wrong(&read.judge(&answer(200, &half), &mut model)));
    }
}
