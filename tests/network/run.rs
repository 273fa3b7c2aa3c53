//! One simulation: the account, its callers, the faults, and what must hold at the end.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cosmos_client::{CosmosClient, Leaf, Protocol};
use cosmos_core::health::BreakerOptions;
use cosmos_core::policy::Jitter;
use cosmos_tests::{Stack, boxed, credential, ms, s, send};
use futures::future::join_all;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};
use tower_cosmos::Clock;

use crate::faults::{APP, Event, LATENCY};
use crate::ledger::Ledger;
use crate::region::{self, GLOBAL, REGIONS, Site};
use crate::report::{Done, Report};
use crate::store::{self, Disks};
use crate::traffic::{self, Caller, DEADLINE};
use crate::wire::{Connector, Cut};

pub(crate) const BOTH: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

pub(crate) const EAST: &str = REGIONS[0].1;
pub(crate) const WEST: &str = REGIONS[1].1;
pub(crate) const NORTH: &str = REGIONS[2].1;

/// How long a mark lasts here, and an open circuit.
pub(crate) const MARK: Duration = s(1);
/// How long an attempt may take here.
pub(crate) const ATTEMPT: Duration = ms(500);
/// How long HTTP/2 takes to notice that a connection is dead: a ping's interval and its answer.
const PINGS: Duration = ms(500);
/// How long the callers go on after the network is well and traffic must be back.
const AFTERWARDS: Duration = ms(1500);
/// How often messages are delivered; timers are exact.
const TICK: Duration = ms(4);

/// What a simulation is to be.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) protocol: Protocol,
    pub(crate) multi_write: bool,
    pub(crate) callers: usize,
    /// The hosts of the callers' preferred regions.
    pub(crate) preferred: [&'static str; 3],
    pub(crate) events: Vec<Event>,
}

impl Plan {
    pub(crate) fn new(protocol: Protocol, multi_write: bool, events: Vec<Event>) -> Self {
        Self {
            seed: 1,
            protocol,
            multi_write,
            callers: 4,
            preferred: [EAST, WEST, NORTH],
            events,
        }
    }

    pub(crate) fn prefer(self, preferred: [&'static str; 3]) -> Self {
        Self { preferred, ..self }
    }

    /// When the last fault ends.
    pub(crate) fn healed(&self) -> Duration {
        let ends = self.events.iter().map(|event| event.until);
        ends.max().unwrap_or_default()
    }

    /// When traffic must be back: a mark or an open circuit has run out, and dead connections have
    /// been noticed by then, and the operation that was under way at that time has ended.
    pub(crate) fn back(&self) -> Duration {
        self.healed() + 2 * PINGS + ATTEMPT + MARK + ATTEMPT
    }

    fn regions_that_write(&self) -> &'static [usize] {
        if self.multi_write { &[0, 1, 2] } else { &[0] }
    }

    fn runs_until(&self) -> Duration {
        self.back() + AFTERWARDS
    }
}

/// Runs a simulation, and checks what must hold in every one: no operation outlives its deadline, no
/// acknowledged write is lost, traffic comes back.
pub(crate) fn run(plan: &Plan) -> Report {
    // Activity ids come from the thread's random numbers.
    fastrand::seed(plan.seed);
    let disks: Arc<Disks> = Arc::new(store::disks(REGIONS.len()));
    let cut = Cut::default();
    let mut sim = turmoil::Builder::new()
        .tick_duration(TICK)
        .simulation_duration(plan.runs_until() + s(30))
        .min_message_latency(ms(1))
        .max_message_latency(LATENCY)
        .tcp_capacity(1024)
        .rng_seed(plan.seed)
        .build();
    let hosts = REGIONS.iter().enumerate();
    let hosts = hosts.map(|(number, (_, host))| (*host, Some(number)));
    for (host, region) in hosts.chain([(GLOBAL, None)]) {
        let site = Site {
            multi_write: plan.multi_write,
            disks: Arc::clone(&disks),
            region,
        };
        sim.host(host, move || region::run(site.clone()));
    }
    let done = Arc::new(Mutex::new(Vec::new()));
    let app = app(plan.clone(), cut.clone(), disks, Arc::clone(&done));
    sim.client(APP, async move {
        app.await;
        Ok(())
    });
    let mut changes: Vec<(Duration, bool, &Event)> = Vec::new();
    for event in &plan.events {
        changes.push((event.from, true, event));
        changes.push((event.until, false, event));
    }
    changes.sort_by_key(|(at, begins, _)| (*at, *begins));
    let mut changes = changes.into_iter().peekable();
    loop {
        while let Some((_, begins, event)) = changes.next_if(|(at, ..)| *at <= sim.elapsed()) {
            if begins {
                event.fault.begin(&mut sim, &cut);
            } else {
                event.fault.end(&mut sim, &cut);
            }
        }
        let finished = sim.step();
        if finished.unwrap_or_else(|error| panic!("{error}: {plan:?}")) {
            break;
        }
    }
    let done = std::mem::take(&mut *done.lock());
    let report = Report {
        plan: plan.clone(),
        done,
    };
    report.came_back();
    report
}

async fn app(plan: Plan, cut: Cut, disks: Arc<Disks>, done: Arc<Mutex<Vec<Done>>>) {
    let began = Instant::now();
    let client = client(&plan, &cut);
    let callers = (0..plan.callers).map(|number| {
        let caller = Caller::new(number, client.clone(), plan.seed, began);
        tokio::spawn(caller.run(plan.runs_until()))
    });
    let callers: Vec<Caller> = join_all(callers.collect::<Vec<_>>())
        .await
        .into_iter()
        .map(|caller| caller.expect("a caller that ends"))
        .collect();
    let converging = async {
        while !store::converged(&disks) {
            sleep(ms(10)).await;
        }
    };
    timeout(s(5), converging).await.expect("regions that agree");
    for region in plan.regions_that_write() {
        // With connections of its own: those of the callers have seen too much.
        let auditor = self::client(&plan, &cut);
        for caller in &callers {
            audit(&auditor, *region, &caller.ledger).await;
        }
    }
    let mut all: Vec<Done> = callers.into_iter().flat_map(|caller| caller.done).collect();
    all.sort_by_key(|done| (done.began, done.caller));
    *done.lock() = all;
}

/// Every document is in this region what its writer was told.
async fn audit(stack: &Stack, region: usize, ledger: &Ledger) {
    let reads = ledger.iter().map(async |(key, record)| {
        let seen = send(stack, traffic::audit(key, region)).await;
        match traffic::found(seen).await {
            Ok(state) => assert!(
                record.allows(state),
                "{key:?} is {state:?} in {:?}, its writer was told {record:?}",
                REGIONS[region]
            ),
            Err(error) => panic!("{key:?} cannot be read in {:?}: {error}", REGIONS[region]),
        }
    });
    stream::iter(reads).buffer_unordered(32).count().await;
}

fn client(plan: &Plan, cut: &Cut) -> Stack {
    let breaker = BreakerOptions::new()
        .first_wait(MARK)
        .next_wait(MARK)
        .lease_limit(MARK)
        .jitter(Jitter::None);
    let start = SystemTime::UNIX_EPOCH + s(1_500_000_000);
    let preferred = plan.preferred.map(region::name_of);
    let connector = Connector { cut: cut.clone() };
    let client = CosmosClient::builder(&format!("http://{GLOBAL}:80/"), credential())
        .preferred_regions(preferred)
        .account(move |account| {
            account
                .mark_duration(MARK)
                .refresh_interval(ATTEMPT)
                .read_timeout(ATTEMPT)
                .jitter(Jitter::None)
                .clock(Clock::starting_at(start))
        })
        .circuit_breaker(breaker)
        .timeout(DEADLINE)
        .leaf(
            Leaf::builder()
                .protocol(plan.protocol)
                .connect_limit(ATTEMPT)
                .http2_pings(PINGS, PINGS)
                .tls_config(nobody())
                .connector(connector),
        )
        .layers(|layers| {
            layers
                .attempt(|layer| layer.data(ATTEMPT).metadata(ATTEMPT).idle(ATTEMPT))
                .failover(|layer| layer.jitter(Jitter::None))
                .retry_with(|layer| layer.jitter(Jitter::None))
                .throttle(|layer| layer.jitter(Jitter::None))
        });
    boxed(client.build().expect("good settings"))
}

/// Nothing here speaks TLS, and reading the platform's roots takes longer than a short test.
fn nobody() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("protocol versions")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}
