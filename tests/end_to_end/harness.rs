//! An embedded account, clients on real sockets, and what must hold at the end of every test.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cosmos_client::{CosmosClient, CosmosClientBuilder, Leaf, LeafBuilder, Protocol};
use cosmos_core::health::BreakerOptions;
use cosmos_core::policy::Jitter;
use cosmos_core::signing::MasterKey;
use cosmos_core::{
    Attempt, Journal, JournalSlot, Operation, OperationOptions, Outcome, PartitionKey, Region,
    Sent, requests,
};
use cosmos_testbed::EmbeddedAccount;
use cosmos_testbed::embedded::{
    Counts, EmbeddedAccountBuilder, FaultId, FaultKind, FaultRule, WireEntry, WriteMode,
};
use cosmos_tests::{Req, Seen, ms, s};
use futures::StreamExt;
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::Instant;
use tower::ServiceExt;
use tower_cosmos::{AttemptTimeoutLayer, Credential, KeyCredential};

/// The hub, and everybody's first preference.
pub(crate) const A: &str = "East US";
/// The second preference.
pub(crate) const B: &str = "West US 3";
/// The third preference.
pub(crate) const C: &str = "North Europe";

pub(crate) const BOTH: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

/// How long a mark lasts here.
pub(crate) const MARK: Duration = ms(300);
/// How long an attempt may take here. A busy machine needs some of it for a healthy region, too.
pub(crate) const ATTEMPT: Duration = ms(1000);
/// How long an endpoint may take to give the account document here.
pub(crate) const ACCOUNT_READ: Duration = ms(1000);
/// What a busy machine may add to a time that is measured.
pub(crate) const SLACK: Duration = ms(1000);
/// How often the account document may be read here.
pub(crate) const INTERVAL: Duration = ms(150);

/// What is waited for has happened by then, or never does.
const PATIENCE: Duration = s(10);

/// An account with the container `shop/orders`, and the journal of everything that was sent to it.
pub(crate) struct World {
    pub(crate) account: EmbeddedAccount,
    sent: Mutex<Vec<Logged>>,
}

/// Begins the activity ids of the metadata operations that tests send, so that the servers tell them
/// from what a client reads for itself.
const CALLER: &str = "caller-";

/// A journal, and whether the servers count the operation as data.
struct Logged {
    slot: JournalSlot,
    data: bool,
}

impl World {
    /// Starts an account of the regions A, B and C.
    pub(crate) async fn start(mode: WriteMode) -> Arc<Self> {
        Self::with(|account| account.write_mode(mode)).await
    }

    pub(crate) async fn with(
        settings: impl FnOnce(EmbeddedAccountBuilder) -> EmbeddedAccountBuilder,
    ) -> Arc<Self> {
        let account = EmbeddedAccount::builder()
            .regions([A, B, C])
            .container("shop", "orders", "/pk", 2);
        let account = settings(account).start().await.expect("an account");
        for id in 0..8 {
            let item = json!({ "id": id.to_string(), "pk": "p", "text": TEXT });
            account
                .seed("shop", "orders", r#"["p"]"#, &item)
                .await
                .expect("an item");
        }
        Arc::new(Self {
            account,
            sent: Mutex::default(),
        })
    }

    /// A client that prefers A, then B, then C, with short limits.
    pub(crate) fn client(&self, protocol: Protocol) -> CosmosClient {
        self.builder(protocol).build().expect("a client")
    }

    pub(crate) fn builder(&self, protocol: Protocol) -> CosmosClientBuilder {
        self.builder_at(self.account.endpoint(), protocol)
    }

    pub(crate) fn builder_at(&self, endpoint: &str, protocol: Protocol) -> CosmosClientBuilder {
        builder(endpoint, self.credential(), protocol)
    }

    pub(crate) fn credential(&self) -> KeyCredential {
        KeyCredential::new(MasterKey::from_base64(self.account.key()).expect("a key"))
    }

    /// Sends one request and keeps its journal, even if the future is dropped.
    pub(crate) async fn send(&self, client: &CosmosClient, mut request: Req) -> Seen {
        let slot = JournalSlot::new();
        let options: OperationOptions = request.extensions_mut().remove().unwrap_or_default();
        request.extensions_mut().insert(options.journal_slot(&slot));
        let operation =
            Operation::classify(request.method(), request.uri().path(), request.headers());
        let data = operation.is_some_and(Operation::is_document);
        let number = {
            let mut sent = self.sent.lock();
            let slot = slot.clone();
            sent.push(Logged { slot, data });
            sent.len()
        };
        if !data {
            let id = format!("{CALLER}{number}").parse().expect("a header");
            request.headers_mut().insert("x-ms-activity-id", id);
        }
        let result = client.clone().oneshot(request).await;
        Seen {
            result,
            journal: slot.journal(),
        }
    }

    /// Sends requests all at once.
    pub(crate) async fn send_all(
        &self,
        client: &CosmosClient,
        requests: impl IntoIterator<Item = Req>,
    ) -> Vec<Seen> {
        join_all(
            requests
                .into_iter()
                .map(|request| self.send(client, request)),
        )
        .await
    }

    pub(crate) async fn fault(&self, region: &str, kind: FaultKind) -> FaultId {
        self.set(FaultRule::at(region, kind)).await
    }

    pub(crate) async fn set(&self, rule: FaultRule) -> FaultId {
        self.account.faults().set(rule).await.expect("a fault")
    }

    /// What a region has seen of data, connections and the rest.
    pub(crate) fn counts(&self, region: &str) -> Counts {
        self.account.counts(region)
    }

    /// Every data request that any endpoint has read.
    pub(crate) fn data(&self) -> u64 {
        let regions = self.account.regions();
        let regional: u64 = regions
            .iter()
            .map(|region| self.counts(&region.name).data)
            .sum();
        regional + self.account.global_counts().data
    }

    /// Sends reads (or writes) until one goes to this region at once and is answered there.
    pub(crate) async fn settles_at(
        &self,
        client: &CosmosClient,
        region: &str,
        request: impl Fn() -> Req,
    ) {
        eventually(&format!("traffic in {region}"), || async {
            let seen = self.send(client, request()).await;
            let attempts = attempts(&seen);
            seen.result.is_ok() && attempts.len() == 1 && at(&attempts[0], region)
        })
        .await;
    }

    /// What holds at the end of every test: no request broke the protocol; what each endpoint
    /// counted lies between the attempts that were answered and those that may have arrived.
    pub(crate) fn check(&self) {
        let violations = self.account.violations();
        assert!(violations.is_empty(), "{violations:#?}");
        let log = self.account.wire_log();
        assert!(
            log.first().is_none_or(|first| first.sequence == 0),
            "the log is too short"
        );
        for (endpoint, counts) in self.endpoints() {
            let own = log.iter().filter(|entry| {
                entry.endpoint.region_name() == endpoint.as_deref() && is_lookup(entry)
            });
            let metadata = counts.metadata - own.count() as u64;
            for (data, counted) in [(true, counts.data), (false, metadata)] {
                let attempts = self.attempts_at(endpoint.as_deref(), data);
                let answered = attempts.iter().filter(|a| was_answered(a)).count() as u64;
                let arrived = attempts.iter().filter(|a| may_have_arrived(a)).count() as u64;
                assert!(
                    (answered..=arrived).contains(&counted),
                    "{endpoint:?}: counted {counted} (data: {data}), answered {answered}, at most \
                     {arrived} sent\n{}",
                    self.wire()
                );
            }
        }
    }

    /// No data request and no connection has reached a region.
    pub(crate) fn check_untouched(&self, region: &str) {
        let counts = self.counts(region);
        assert_eq!(
            (counts.data, counts.metadata, counts.connections),
            (0, 0, 0),
            "{region} was contacted\n{}",
            self.wire()
        );
        for data in [true, false] {
            assert!(self.attempts_at(Some(region), data).is_empty(), "{region}");
        }
    }

    fn endpoints(&self) -> Vec<(Option<String>, Counts)> {
        let regions = self.account.regions().into_iter().map(|region| {
            let counts = self.counts(&region.name);
            (Some(region.name), counts)
        });
        regions
            .chain([(None, self.account.global_counts())])
            .collect()
    }

    fn attempts_at(&self, region: Option<&str>, data: bool) -> Vec<Attempt> {
        let region = region.map_or(Region::GLOBAL, named);
        let sent = self.sent.lock();
        let journals = sent.iter().filter(|logged| logged.data == data);
        journals
            .filter_map(|logged| logged.slot.journal())
            .flat_map(|journal| journal.attempts())
            .filter(|attempt| attempt.region == region)
            .collect()
    }

    /// Every journal so far.
    pub(crate) fn journals(&self) -> Vec<Journal> {
        let sent = self.sent.lock();
        sent.iter()
            .filter_map(|logged| logged.slot.journal())
            .collect()
    }

    /// What the servers saw last, for a failing test to print.
    pub(crate) fn wire(&self) -> String {
        let log = self.account.wire_log();
        let mut text = String::new();
        for entry in log.iter().skip(log.len().saturating_sub(60)) {
            let _ = writeln!(
                text,
                "{:>4} {:<14} {} {} {:?}",
                entry.sequence, entry.endpoint, entry.method, entry.path, entry.outcome
            );
        }
        text
    }
}

/// A client that prefers A, then B, then C, with short limits.
pub(crate) fn builder(
    endpoint: &str,
    credential: impl Credential,
    protocol: Protocol,
) -> CosmosClientBuilder {
    CosmosClient::builder(endpoint, credential)
        .preferred_regions([A, B, C])
        .account(|account| {
            account
                .mark_duration(MARK)
                .refresh_interval(INTERVAL)
                .read_timeout(ACCOUNT_READ)
        })
        .circuit_breaker(breaker())
        .leaf(leaf(protocol))
        .layers(|layers| layers.attempt(limits))
}

/// The text of every item: what must never be logged.
pub(crate) const TEXT: &str = "nobody-may-log-this-document";

pub(crate) fn leaf(protocol: Protocol) -> LeafBuilder {
    // Nothing here speaks TLS, and reading the platform's roots takes longer than a short test.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let nobody = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("protocol versions")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Leaf::builder()
        .protocol(protocol)
        .connect_limit(s(2))
        .tls_config(nobody)
}

/// Circuits whose probes come about as soon as the trials of marks.
pub(crate) fn breaker() -> BreakerOptions {
    BreakerOptions::new()
        .first_wait(MARK)
        .next_wait(MARK)
        .lease_limit(ATTEMPT + SLACK)
        .jitter(Jitter::None)
}

/// Whether a client sent this to learn how a container is partitioned.
pub(crate) fn is_lookup(entry: &WireEntry) -> bool {
    let by_caller = |id: &String| id.starts_with(CALLER);
    let of_a_container = matches!(
        entry.path.split('/').collect::<Vec<_>>().as_slice(),
        ["", "dbs", _, "colls", _] | ["", "dbs", _, "colls", _, "pkranges"]
    );
    of_a_container && entry.method == "GET" && !entry.activity_id.as_ref().is_some_and(by_caller)
}

/// How many such requests the account has seen.
pub(crate) fn lookups(world: &World) -> usize {
    let log = world.account.wire_log();
    log.iter().filter(|entry| is_lookup(entry)).count()
}

pub(crate) fn limits(layer: AttemptTimeoutLayer) -> AttemptTimeoutLayer {
    layer.data(ATTEMPT).metadata(ATTEMPT).idle(ATTEMPT)
}

pub(crate) fn key() -> PartitionKey {
    PartitionKey::from("p")
}

/// A read of an item that is there.
pub(crate) fn read() -> Req {
    requests::read_item("shop", "orders", "1", &key())
        .build()
        .expect("a good request")
}

/// An upsert of an item of this id.
pub(crate) fn upsert(id: usize) -> Req {
    let item = json!({ "id": format!("u{id}"), "pk": "p", "text": TEXT });
    requests::upsert_item("shop", "orders", &key(), item)
        .build()
        .expect("a good request")
}

pub(crate) fn read_container() -> Req {
    requests::read_container("shop", "orders")
        .build()
        .expect("a good request")
}

pub(crate) fn execute() -> Req {
    requests::execute_stored_procedure("shop", "orders", "s", &key(), Bytes::from_static(b"[]"))
        .build()
        .expect("a good request")
}

/// Reads and upserts in turn.
pub(crate) fn mixed(count: usize) -> impl Iterator<Item = Req> {
    (0..count).map(|n| if n % 2 == 0 { read() } else { upsert(n) })
}

/// Nothing of these failed.
pub(crate) fn all_succeeded(what: &str, seen: &[Seen]) {
    let mut failures = BTreeMap::<String, usize>::new();
    for seen in seen {
        let failure = match &seen.result {
            Ok(response) if response.status().is_success() => continue,
            Ok(_) => seen.status().to_string(),
            Err(error) => format!("{error:?}"),
        };
        let journal = seen.journal.as_ref().map(ToString::to_string);
        let text = format!("{failure}\n{}", journal.unwrap_or_default());
        *failures.entry(text).or_default() += 1;
    }
    if let Some((first, _)) = failures.iter().next() {
        let count: usize = failures.values().sum();
        panic!("{what}: {count} of {} failed, such as {first}", seen.len());
    }
}

pub(crate) fn attempts(seen: &Seen) -> Vec<Attempt> {
    seen.journal
        .as_ref()
        .map_or_else(Vec::new, Journal::attempts)
}

/// The regions of an operation's attempts, in order.
pub(crate) fn regions(seen: &Seen) -> Vec<&'static str> {
    let name = |region: Region| {
        let mut ours = [A, B, C].into_iter();
        ours.find(|name| named(name) == region)
            .unwrap_or(region.name())
    };
    attempts(seen)
        .iter()
        .map(|attempt| name(attempt.region))
        .collect()
}

pub(crate) fn at(attempt: &Attempt, region: &str) -> bool {
    attempt.region == named(region)
}

pub(crate) fn named(region: &str) -> Region {
    Region::named(region).expect("a region's name")
}

/// Asks until it is so, or it never will be.
pub(crate) async fn eventually<F>(what: &str, mut is_so: impl FnMut() -> F)
where
    F: Future<Output = bool>,
{
    let deadline = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(ms(5)).await;
    }
}

/// No slot of any shard is taken in the end.
pub(crate) async fn no_slot_is_left(client: &CosmosClient) {
    eventually("every slot is free", || async {
        client
            .leaf()
            .usage()
            .iter()
            .all(|shard| shard.in_flight == 0)
    })
    .await;
}

fn was_answered(attempt: &Attempt) -> bool {
    matches!(attempt.outcome, Outcome::Answered(_))
}

fn may_have_arrived(attempt: &Attempt) -> bool {
    match attempt.outcome {
        Outcome::Failed(kind) => kind.sent() == Sent::Maybe,
        _ => true,
    }
}

/// A kind of fault, with a name for messages.
pub(crate) fn status(status: u16, substatus: u32) -> FaultKind {
    FaultKind::Status {
        status,
        substatus: Some(substatus),
        retry_after_ms: None,
    }
}

/// Runs over both protocols at once.
pub(crate) async fn for_both<F>(run: impl Fn(Protocol) -> F)
where
    F: Future<Output = ()>,
{
    join_all(BOTH.map(run)).await;
}

/// Runs for each fault and each protocol, a few at a time: attempts are timed here, so that a
/// machine that is busy with too many accounts would itself be a fault.
pub(crate) async fn for_each_fault<F>(run: impl Fn(FaultKind, Protocol) -> F)
where
    F: Future<Output = ()>,
{
    let runs = faults()
        .into_iter()
        .flat_map(|kind| BOTH.map(|protocol| (kind.clone(), protocol)));
    futures::stream::iter(runs)
        .for_each_concurrent(4, |(kind, protocol)| run(kind, protocol))
        .await;
}

/// Every kind of fault that lasts.
pub(crate) fn faults() -> Vec<FaultKind> {
    vec![
        status(503, 21008),
        status(500, 0),
        status(408, 0),
        status(410, 0),
        status(429, 3092),
        status(403, 3),
        status(403, 1008),
        FaultKind::RefuseConnections,
        FaultKind::ResetAfterRequest,
        FaultKind::LoseAnswer,
        FaultKind::CutBody,
        FaultKind::Hang,
        FaultKind::GoAway,
        FaultKind::Throttle { retry_after_ms: 20 },
    ]
}
