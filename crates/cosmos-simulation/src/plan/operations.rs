//! What callers do.

use std::time::Duration;

use bytes::Bytes;
use cosmos_core::requests::{self, Payload, ScriptKind};
use cosmos_core::{Access, PartitionKey};
use cosmos_tests::{Req, ms};
use fastrand::Rng;

use super::{NAMES, time};

/// How many partition keys there are.
pub const PARTITIONS: usize = 4;

/// The partition key range that a key is in before any splits. What an account does to a partition, it
/// does to all keys of the range.
#[must_use]
pub const fn range(partition: usize) -> &'static str {
    if partition < 2 { "1" } else { "2" }
}

/// Operations of one kind, one after another.
#[derive(Clone, Debug)]
pub struct Burst {
    /// When the first one begins.
    pub at: Duration,
    /// How many there are.
    pub count: usize,
    /// How long after one the next one begins, whether or not that has ended.
    pub apart: Duration,
    /// The operation.
    pub operation: Operation,
}

/// An operation, as its caller means it.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it does.
    pub kind: Kind,
    /// The number of its partition key.
    pub partition: usize,
    /// Whether the caller names the partition key range.
    pub named: bool,
    /// The regions that it must not see.
    pub excluded: Vec<&'static str>,
    /// Whether it is refused if those are all.
    pub strict: bool,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// When its caller drops it.
    pub leaves: Option<Duration>,
    /// Whether it may be sent again although it writes.
    pub retry_writes: bool,
    /// Whether it has a session token.
    pub token: bool,
}

/// What an operation does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named after its request")]
pub enum Kind {
    ReadItem,
    HeadItem,
    Query,
    QueryPlan,
    ReadFeed,
    ChangeFeed,
    CreateItem,
    UpsertItem,
    ReplaceItem,
    PatchItem,
    DeleteItem,
    Batch,
    DeleteByPartitionKey,
    Execute,
    ReadContainer,
    ListDatabases,
    ReadScript,
    CreateDatabase,
    ReplaceContainer,
    /// To a host that is none of the account's.
    Foreign,
}

impl Kind {
    const ITEMS: [Self; 13] = [
        Self::ReadItem,
        Self::HeadItem,
        Self::Query,
        Self::QueryPlan,
        Self::ReadFeed,
        Self::ChangeFeed,
        Self::CreateItem,
        Self::UpsertItem,
        Self::ReplaceItem,
        Self::PatchItem,
        Self::DeleteItem,
        Self::Batch,
        Self::DeleteByPartitionKey,
    ];
    const METADATA: [Self; 5] = [
        Self::ReadContainer,
        Self::ListDatabases,
        Self::ReadScript,
        Self::CreateDatabase,
        Self::ReplaceContainer,
    ];

    fn random(rng: &mut Rng) -> Self {
        match rng.u8(..16) {
            0..=3 => Self::ReadItem,
            4..=5 => Self::CreateItem,
            6..=7 => Self::Execute,
            8 => Self::METADATA[rng.usize(..Self::METADATA.len())],
            9 => Self::Foreign,
            _ => Self::ITEMS[rng.usize(..Self::ITEMS.len())],
        }
    }

    /// Whether it reads or writes.
    #[must_use]
    pub const fn access(self) -> Access {
        match self {
            Self::ReadItem
            | Self::HeadItem
            | Self::Query
            | Self::QueryPlan
            | Self::ReadFeed
            | Self::ChangeFeed
            | Self::ReadContainer
            | Self::ListDatabases
            | Self::ReadScript
            | Self::Foreign => Access::Read,
            _ => Access::Write,
        }
    }

    /// Whether it is about the account's things rather than about items.
    #[must_use]
    pub fn is_metadata(self) -> bool {
        Self::METADATA.contains(&self) || self == Self::QueryPlan
    }

    /// Its request for a partition.
    ///
    /// # Panics
    /// Never: all of it is well-formed.
    #[must_use]
    pub fn request(self, partition: usize) -> Req {
        let key = &key(partition);
        let item = || Payload::from(Bytes::from_static(b"{\"id\":\"1\"}"));
        let (d, c) = ("d", "c");
        let built = match self {
            Self::ReadItem | Self::Foreign => requests::read_item(d, c, "1", key),
            Self::HeadItem => requests::head_item(d, c, "1", key),
            Self::Query => requests::query_items(d, c, "SELECT 1").partition_key(key),
            Self::QueryPlan => requests::query_plan(d, c, "SELECT 1", "None"),
            Self::ReadFeed => requests::read_feed(d, c).partition_key(key),
            Self::ChangeFeed => requests::change_feed(d, c).partition_key(key),
            Self::CreateItem => requests::create_item(d, c, key, item()),
            Self::UpsertItem => requests::upsert_item(d, c, key, item()),
            Self::ReplaceItem => requests::replace_item(d, c, "1", key, item()),
            Self::PatchItem => requests::patch_item(d, c, "1", key, item()),
            Self::DeleteItem => requests::delete_item(d, c, "1", key),
            Self::Batch => requests::batch(d, c, key, Bytes::from_static(b"[]")),
            Self::DeleteByPartitionKey => requests::delete_by_partition_key(d, c, key),
            Self::Execute => {
                requests::execute_stored_procedure(d, c, "s", key, Bytes::from_static(b"[]"))
            }
            // Not of the container whose reads are kept apart.
            Self::ReadContainer => requests::read_container(d, "other"),
            Self::ListDatabases => requests::list_databases(),
            Self::ReadScript => requests::read_script(ScriptKind::Trigger, d, c, "t"),
            Self::CreateDatabase => requests::create_database("e"),
            Self::ReplaceContainer => requests::replace_container(d, "other", item()),
        };
        let mut request = built.build().expect("a good request");
        if self == Self::Foreign {
            let foreign = "https://foreign.test/dbs/d/colls/c/docs/1";
            *request.uri_mut() = foreign.parse().expect("a good address");
        }
        request
    }
}

impl Operation {
    fn random(rng: &mut Rng, horizon: Duration) -> Self {
        let of_four = match rng.u8(..4) {
            0 | 1 => 0,
            2 => 1,
            _ => rng.u8(..5),
        };
        Self {
            kind: Kind::random(rng),
            partition: rng.usize(..PARTITIONS),
            named: rng.bool(),
            excluded: NAMES
                .into_iter()
                .filter(|_| rng.u8(..4) < of_four)
                .collect(),
            strict: rng.u8(..6) == 0,
            timeout: rng.bool().then(|| time(rng, horizon)),
            leaves: (rng.u8(..5) == 0).then(|| time(rng, horizon)),
            retry_writes: rng.u8(..6) > 0,
            token: rng.bool(),
        }
    }
}

impl Burst {
    pub(super) fn random(rng: &mut Rng, horizon: Duration) -> Self {
        Self {
            at: time(rng, horizon),
            count: if rng.bool() { 1 } else { rng.usize(2..16) },
            apart: match rng.u8(..3) {
                0 => Duration::ZERO,
                1 => ms(rng.u64(1..100)),
                _ => ms(rng.u64(1..20_000)),
            },
            operation: Operation::random(rng, horizon),
        }
    }
}

fn key(partition: usize) -> PartitionKey {
    PartitionKey::from(format!("p{partition}"))
}

#[cfg(test)]
mod tests {
    use cosmos_core::partition::{EpkTarget, PartitionKeyDefinition, PartitionKeyKind};

    use super::{PARTITIONS, key, range};

    #[test]
    fn a_key_is_in_the_range_that_its_hash_says() {
        let definition = PartitionKeyDefinition::new(PartitionKeyKind::HashV2, 1).unwrap();
        for partition in 0..PARTITIONS {
            let Some(EpkTarget::Point(epk)) = definition.effective(&key(partition)) else {
                panic!("a complete key");
            };
            // As `container` splits it.
            let expected = if epk.as_bytes()[0] < 0x20 { "1" } else { "2" };
            assert_eq!(range(partition), expected, "{epk:?}");
        }
    }
}
