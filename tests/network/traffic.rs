//! Callers: operations of all kinds, one after the other, each judged as it ends.

use std::time::Duration;

use bytes::Bytes;
use cosmos_core::requests::{self, RequestBuilder};
use cosmos_core::{Journal, OperationOptions, Outcome, PartitionKey, Region, Sent};
use cosmos_tests::{Req, Seen, Stack, ms, send, with};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::ledger::{Ledger, Record, Written};
use crate::region::REGIONS;
use crate::report::Done;
use crate::store::{Key, State};

const D: &str = "shop";
const C: &str = "orders";

/// What an operation may take, and not a tick more: two attempts that time out fit, four do not.
pub(crate) const DEADLINE: Duration = ms(1300);
/// The timer's grain: a timer that has less than this to go fires after it.
const GRAIN: Duration = ms(1);
/// How long even those who are readers write.
const WRITES: Duration = ms(1500);
/// What a caller does between two operations.
const PAUSE: Duration = ms(80);

/// One caller, with a partition key of its own.
pub(crate) struct Caller {
    number: usize,
    stack: Stack,
    random: fastrand::Rng,
    began: Instant,
    next: u64,
    pub(crate) ledger: Ledger,
    pub(crate) done: Vec<Done>,
}

impl Caller {
    pub(crate) fn new(number: usize, stack: Stack, seed: u64, began: Instant) -> Self {
        let seed = seed.wrapping_mul(31).wrapping_add(number as u64);
        Self {
            number,
            stack,
            random: fastrand::Rng::with_seed(seed),
            began,
            next: 0,
            ledger: Ledger::default(),
            done: Vec::new(),
        }
    }

    /// Sends one operation after the other until this much time has passed. Every other caller only
    /// reads, once there is something to read: while nobody can write, somebody still asks.
    pub(crate) async fn run(mut self, until: Duration) -> Self {
        while self.began.elapsed() < until {
            let only_reads = self.number % 2 == 1 && self.began.elapsed() > WRITES;
            match self.random.u8(if only_reads { 6 } else { 0 }..8) {
                0 => self.create().await,
                1 => self.upsert().await,
                2 => self.replace().await,
                3 => self.patch().await,
                4 => self.delete().await,
                5 => self.batch().await,
                6 => self.query().await,
                _ => self.read().await,
            }
            sleep(PAUSE).await;
        }
        self
    }

    fn partition(&self) -> String {
        format!("caller-{}", self.number)
    }

    fn key(&self) -> PartitionKey {
        self.partition().as_str().into()
    }

    /// A new id and a new state.
    fn fresh(&mut self) -> (Key, u64) {
        self.next += 1;
        ((self.partition(), format!("d{}", self.next)), self.next)
    }

    /// A document that is there for sure.
    fn certain(&mut self) -> Option<(Key, Record)> {
        let certain = self.ledger.certain();
        let (key, record) = *certain.get(self.random.usize(..certain.len().max(1)))?;
        Some((key.clone(), record.clone()))
    }

    async fn create(&mut self) {
        let (key, n) = self.fresh();
        let request = requests::create_item(D, C, &self.key(), item(&key, n));
        self.write("create", request, &[(key, Some(n))]).await;
    }

    /// Of a document that is there, or of a new one.
    async fn upsert(&mut self) {
        let (new, n) = self.fresh();
        let key = match self.certain() {
            Some((key, _)) if self.random.bool() => key,
            _ => new,
        };
        let request = requests::upsert_item(D, C, &self.key(), item(&key, n));
        self.write("upsert", request, &[(key, Some(n))]).await;
    }

    async fn replace(&mut self) {
        let Some((key, record)) = self.certain() else {
            return self.create().await;
        };
        let (_, n) = self.fresh();
        let request = requests::replace_item(D, C, &key.1, &self.key(), item(&key, n));
        let request = request.if_match(&record.etag.unwrap_or_default());
        self.write("replace", request, &[(key, Some(n))]).await;
    }

    async fn patch(&mut self) {
        let Some((key, record)) = self.certain() else {
            return self.create().await;
        };
        let (_, n) = self.fresh();
        let patch = json!({ "operations": [{ "op": "set", "path": "/n", "value": n }] });
        let request = requests::patch_item(D, C, &key.1, &self.key(), patch);
        let request = request.if_match(&record.etag.unwrap_or_default());
        self.write("patch", request, &[(key, Some(n))]).await;
    }

    async fn delete(&mut self) {
        let Some((key, record)) = self.certain() else {
            return self.create().await;
        };
        let request = requests::delete_item(D, C, &key.1, &self.key());
        let request = request.if_match(&record.etag.unwrap_or_default());
        self.write("delete", request, &[(key, None)]).await;
    }

    async fn batch(&mut self) {
        let items = [self.fresh(), self.fresh()];
        let creates = items
            .each_ref()
            .map(|(key, n)| json!({ "operationType": "Create", "resourceBody": item(key, *n) }));
        let request = requests::batch(D, C, &self.key(), json!(creates));
        let states = items.map(|(key, n)| (key, Some(n)));
        self.write("batch", request, &states).await;
    }

    async fn read(&mut self) {
        let Some((key, record)) = self.certain() else {
            return self.create().await;
        };
        let request = requests::read_item(D, C, &key.1, &self.key());
        if let Some(found) = self.send("read", request).await.2 {
            let state = found["n"].as_u64();
            assert!(record.allows(state), "{key:?} was {found}, not {record:?}");
        }
    }

    /// Every document that is there for sure is found, and as it was written last.
    async fn query(&mut self) {
        let request = requests::query_items(D, C, requests::Query::new("SELECT * FROM c"));
        let request = request.partition_key(&self.key());
        let Some(found) = self.send("query", request).await.2 else {
            return;
        };
        let found = found["Documents"].as_array().expect("documents");
        for (key, record) in self.ledger.certain() {
            let found = found.iter().find(|document| document["id"] == key.1);
            let state = found.and_then(|document| document["n"].as_u64());
            assert!(
                record.allows(state),
                "{key:?} was {found:?}, not {record:?}"
            );
        }
    }

    /// Sends a write of these states and notes how it ended.
    async fn write(&mut self, kind: &'static str, request: RequestBuilder, to: &[(Key, State)]) {
        let (loose_ends, etag, acknowledged) = self.send(kind, request).await;
        if let Some(document) = &acknowledged {
            // The answer is the answer to this very request.
            for (index, (key, state)) in to.iter().enumerate() {
                let own = match document {
                    Value::Array(results) => &results[index]["resourceBody"],
                    own => own,
                };
                let answered = own["id"].as_str().map(|id| (id, own["n"].as_u64()));
                let expected = state.map(|n| (key.1.as_str(), Some(n)));
                assert_eq!(answered, expected, "the answer to another request");
            }
        }
        for (key, state) in to {
            let written = Written {
                acknowledged: acknowledged.is_some(),
                etag: etag.clone(),
                loose_ends,
            };
            self.ledger.wrote(key.clone(), *state, written);
        }
    }

    /// Whether an attempt was never answered, the etag, and the body of a success.
    async fn send(
        &mut self,
        kind: &'static str,
        request: RequestBuilder,
    ) -> (bool, Option<String>, Option<Value>) {
        let request = request.build().expect("a good request");
        let began = Instant::now();
        let seen = send(&self.stack, request).await;
        let took = began.elapsed();
        assert!(took <= DEADLINE + GRAIN, "{kind} took {took:?}: {seen:?}");
        let journal = seen.journal.as_ref().expect("a journal");
        let loose_ends = has_loose_ends(journal);
        self.done.push(Done {
            began: began - self.began,
            took,
            caller: self.number,
            kind,
            status: seen.result.as_ref().ok().map(|_| {
                let status = seen.status();
                (status.code(), status.substatus())
            }),
            loose_ends,
            attempts: attempts(journal),
        });
        let Some(response) = seen.result.ok().filter(|r| r.status().is_success()) else {
            return (loose_ends, None, None);
        };
        let etag = response.headers().get(http::header::ETAG);
        let etag = etag.map(|etag| etag.to_str().expect("an etag").to_owned());
        let body = response.into_body().collect().await.expect("a body");
        let body = body.to_bytes();
        let body = if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&body).expect("JSON")
        };
        (loose_ends, etag, Some(body))
    }
}

fn item(key: &Key, n: u64) -> Value {
    json!({ "id": key.1, "pk": key.0, "n": n })
}

fn attempts(journal: &Journal) -> Vec<(&'static str, String)> {
    let attempts = journal.attempts();
    let attempts = attempts.iter().map(|attempt| {
        let is = |(name, _): &(&str, &str)| Region::named(name).ok() == Some(attempt.region);
        let region = REGIONS.iter().find(|region| is(region)).expect("a region");
        (region.1, format!("{:?}", attempt.outcome))
    });
    attempts.collect()
}

fn has_loose_ends(journal: &Journal) -> bool {
    let attempts = journal.attempts();
    attempts.iter().any(|attempt| match attempt.outcome {
        Outcome::Answered(_) => false,
        Outcome::Failed(kind) => kind.sent() == Sent::Maybe,
        _ => true,
    })
}

/// Reads a document of the ledger, from this region and no other.
pub(crate) fn audit(key: &Key, region: usize) -> Req {
    let others = REGIONS.iter().enumerate().filter(|(n, _)| *n != region);
    let others = others.map(|(_, (name, _))| *name);
    let options = OperationOptions::new().exclude_regions(others);
    let request = requests::read_item(D, C, &key.1, &key.0.as_str().into());
    let request = request.build().expect("a good request");
    with(request, options.expect("names of regions"))
}

/// What an audit found; `Err`: no answer.
pub(crate) async fn found(seen: Seen) -> Result<State, String> {
    let response = seen.result.map_err(|error| format!("{error:?}"))?;
    match response.status().as_u16() {
        404 => Ok(None),
        200 => {
            let body: Bytes = response
                .into_body()
                .collect()
                .await
                .expect("a body")
                .to_bytes();
            let document: Value = serde_json::from_slice(&body).expect("JSON");
            Ok(document["n"].as_u64())
        }
        other => Err(other.to_string()),
    }
}
