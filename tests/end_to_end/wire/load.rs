//! Operations of all kinds at once, and what must be true of them whatever becomes of connections.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use cosmos_client::CosmosClient;
use cosmos_core::{Outcome, Sent, requests};
use cosmos_tests::{Req, Seen, s};
use futures::future::join_all;
use serde_json::json;
use tokio::time::Instant;

use crate::harness::{SLACK, World, attempts, key, read};

pub(super) const DEADLINE: Duration = s(5);

/// Numbers every document and execution of the process.
static NEXT: AtomicUsize = AtomicUsize::new(0);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    /// The execution of a stored procedure.
    Execute,
}

/// What callers were told.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Documents whose writes were acknowledged.
    documents: Vec<String>,
    /// Executions, and whether they were acknowledged.
    executions: BTreeMap<String, bool>,
    /// How many operations failed.
    pub(super) failed: usize,
}

/// Sends operations of every kind at once, and checks that each ends in time. Where another region
/// can take over, each of them has to succeed but for executions, which may not be repeated.
pub(super) async fn send(world: &World, client: &CosmosClient, may_fail: bool) -> Told {
    let operations = operations();
    let calls = operations.iter().map(|(_, _, request)| async {
        let began = Instant::now();
        let seen = world.send(client, request.clone()).await;
        (began.elapsed(), seen)
    });
    let mut told = Told::default();
    for ((kind, id, _), (took, seen)) in operations.iter().zip(join_all(calls).await) {
        assert!(took <= DEADLINE + SLACK, "{kind:?} took {took:?}: {seen:?}");
        let done = seen
            .result
            .as_ref()
            .is_ok_and(|answer| answer.status().is_success());
        let served = done || (*kind == Kind::Write && was_repeated(&seen));
        let must_succeed = *kind != Kind::Execute && !may_fail;
        assert!(
            served || !must_succeed,
            "{kind:?} {id}: {seen:?}\n{}",
            world.wire()
        );
        told.failed += usize::from(!served);
        match kind {
            Kind::Read => {}
            Kind::Write if done => told.documents.push(id.clone()),
            Kind::Write => {}
            Kind::Execute => {
                told.executions.insert(id.clone(), done);
            }
        }
    }
    told
}

impl Told {
    /// Every acknowledged write is there, and no procedure ran twice.
    pub(super) async fn holds(&self, world: &World, client: &CosmosClient) {
        let reads = self.documents.iter().map(|id| async move {
            let request = requests::read_item("shop", "orders", id, &key());
            let seen = world.send(client, request.build().unwrap()).await;
            assert_eq!(seen.status().code(), 200, "{id} is lost\n{}", world.wire());
        });
        join_all(reads).await;
        let executed = world.account.procedure_executions();
        for (id, acknowledged) in &self.executions {
            let count = executed.iter().filter(|run| run.procedure == *id).count();
            let expected = if *acknowledged { 1..=1 } else { 0..=1 };
            assert!(
                expected.contains(&count),
                "{id} ran {count} times\n{}",
                world.wire()
            );
        }
    }
}

/// It was told that an attempt of its own had succeeded before.
fn was_repeated(seen: &Seen) -> bool {
    let loose_end = attempts(seen).iter().any(|attempt| match attempt.outcome {
        Outcome::Answered(_) => false,
        Outcome::Failed(kind) => kind.sent() == Sent::Maybe,
        _ => true,
    });
    loose_end && seen.result.is_ok() && seen.status().code() == 409
}

fn operations() -> Vec<(Kind, String, Req)> {
    let (d, c, key) = ("shop", "orders", &key());
    let id = || format!("w{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let item = |id: &str, text: &str| json!({ "id": id, "pk": "p", "text": text });
    // First, so that a connection that takes a few requests takes these.
    let mut operations: Vec<(Kind, String, Req)> = (0..2)
        .map(|_| {
            let id = id();
            let none = Bytes::from_static(b"[]");
            let request = requests::execute_stored_procedure(d, c, &id, key, none);
            (Kind::Execute, id, request.build().unwrap())
        })
        .collect();
    for size in [10, 3000] {
        // One that fits into a packet, and one that does not.
        let text = "x".repeat(size);
        let (created, upserted, batched) = (id(), id(), id());
        let batch = json!([
            { "operationType": "Create", "resourceBody": item(&batched, &text) },
        ]);
        let writes = [
            (
                requests::create_item(d, c, key, item(&created, &text)),
                created,
            ),
            (
                requests::upsert_item(d, c, key, item(&upserted, &text)),
                upserted,
            ),
            (requests::batch(d, c, key, batch), batched),
        ];
        operations.extend(writes.map(|(request, id)| (Kind::Write, id, request.build().unwrap())));
    }
    let query = requests::Query::new("SELECT * FROM c WHERE c.id = @id").parameter("@id", "1");
    let query = requests::query_items(d, c, query)
        .partition_key(key)
        .build();
    operations.push((Kind::Read, "query".to_owned(), query.unwrap()));
    operations.extend((0..3).map(|_| (Kind::Read, "1".to_owned(), read())));
    operations
}
