//! What each layer costs: alone around the leaf, and in its place in the stack.

use tokio::runtime::Runtime;
use tower::{Layer, ServiceBuilder};
use tower_cosmos::{
    Account, AttemptTimeoutLayer, BufferLayer, BufferRequestLayer, CircuitBreakerLayer,
    DeadlineLayer, EndpointLayer, PartitionLayer, PpafLayer, RegionFailoverLayer, RetryWithLayer,
    SessionRetryLayer, SessionTokenLayer, ShardReconnectLayer, SigningLayer, ThrottleRetryLayer,
};

use super::{Settings, goals};
use crate::cost::{Cost, Subject, costs};
use crate::instant::InstantLeaf;
use crate::operation::{Answers, account, credential, reads};
use crate::{Report, Section};

const ALONE: &str = "Each layer alone around the instant leaf";
const ALONE_NOTE: &str = "+: over the bare leaf. A layer alone is the first to see the request: it makes the operation's state and gives out its journal";
const IN_PLACE: &str = "The recommended stack, layer by layer from the inside";
const IN_PLACE_NOTE: &str = "+: over the row above, so what the layer adds in its place; the innermost also makes the operation's state";

/// Each layer around the leaf.
pub(super) fn alone(runtime: &Runtime, settings: &Settings) -> Section {
    let account = account();
    let subjects = vec![
        reads("bare leaf", runtime, InstantLeaf::new()),
        around(
            runtime,
            "DeadlineLayer",
            DeadlineLayer::new().timeout(goals::TIMEOUT),
        ),
        around(
            runtime,
            "PartitionLayer",
            PartitionLayer::new(account.clone()),
        ),
        around(runtime, "PpafLayer", PpafLayer::new(account.clone())),
        around(
            runtime,
            "SessionTokenLayer",
            SessionTokenLayer::new(account.clone()),
        ),
        around(
            runtime,
            "SessionRetryLayer",
            SessionRetryLayer::new(account.clone()),
        ),
        around(
            runtime,
            "RegionFailoverLayer",
            RegionFailoverLayer::new(account.clone()),
        ),
        around(
            runtime,
            "CircuitBreakerLayer",
            CircuitBreakerLayer::new(account.clone()),
        ),
        around(runtime, "RetryWithLayer", RetryWithLayer::new()),
        around(runtime, "ThrottleRetryLayer", ThrottleRetryLayer::new()),
        around(runtime, "ShardReconnectLayer", ShardReconnectLayer::new()),
        around(
            runtime,
            "EndpointLayer",
            EndpointLayer::new(account.clone()),
        ),
        around(runtime, "SigningLayer", SigningLayer::new(credential())),
        around(runtime, "BufferLayer", BufferLayer::new()),
        around(runtime, "AttemptTimeoutLayer", AttemptTimeoutLayer::new()),
        around(runtime, "BufferRequestLayer", BufferRequestLayer::new()),
    ];
    let costs = costs(settings.rounds, settings.allocator, subjects);
    Section::of_costs(ALONE, ALONE_NOTE, &costs, &costs[0])
}

fn around<'a, L>(runtime: &'a Runtime, name: &str, layer: L) -> Subject<'a>
where
    L: Layer<InstantLeaf>,
    L::Service: Answers + 'a,
{
    reads(name, runtime, layer.layer(InstantLeaf::new()))
}

/// The stack grown from the leaf, a layer at a time, in the order of `stack.rs`.
pub(super) fn in_place(runtime: &Runtime, settings: &Settings, goals: &mut Report) -> Section {
    let costs = costs(
        settings.rounds,
        settings.allocator,
        grown(runtime, &account()),
    );
    goals::layers(goals, &costs);
    let mut section = Section::of_costs(IN_PLACE, IN_PLACE_NOTE, &[], &Cost::default());
    let mut below = None;
    for cost in &costs {
        section.add_cost(cost, below);
        below = Some(cost);
    }
    section
}

fn grown<'a>(runtime: &'a Runtime, account: &Account) -> Vec<Subject<'a>> {
    let account = || account.clone();
    let leaf = InstantLeaf::new();
    let attempt = AttemptTimeoutLayer::new().layer(leaf.clone());
    let buffer = BufferLayer::new().layer(attempt.clone());
    let signing = SigningLayer::new(credential()).layer(buffer.clone());
    let endpoint = EndpointLayer::new(account()).layer(signing.clone());
    let reconnect = ShardReconnectLayer::new().layer(endpoint.clone());
    let throttle = ThrottleRetryLayer::new().layer(reconnect.clone());
    let retry_with = RetryWithLayer::new().layer(throttle.clone());
    let breaker = CircuitBreakerLayer::new(account()).layer(retry_with.clone());
    let failover = RegionFailoverLayer::new(account()).layer(breaker.clone());
    let session = SessionRetryLayer::new(account()).layer(failover.clone());
    let token = SessionTokenLayer::new(account()).enabled(false);
    let token = token.layer(session.clone());
    let ppaf = PpafLayer::new(account()).layer(token.clone());
    let partition = PartitionLayer::new(account()).layer(ppaf.clone());
    let deadline = DeadlineLayer::new()
        .timeout(goals::TIMEOUT)
        .layer(partition.clone());
    vec![
        reads("bare leaf", runtime, leaf),
        reads("+ AttemptTimeoutLayer", runtime, attempt),
        reads("+ BufferLayer", runtime, buffer),
        reads("+ SigningLayer", runtime, signing),
        reads("+ EndpointLayer", runtime, endpoint),
        reads("+ ShardReconnectLayer", runtime, reconnect),
        reads("+ ThrottleRetryLayer", runtime, throttle),
        reads("+ RetryWithLayer", runtime, retry_with),
        reads("+ CircuitBreakerLayer", runtime, breaker),
        reads("+ RegionFailoverLayer", runtime, failover),
        reads("+ SessionRetryLayer", runtime, session),
        reads("+ SessionTokenLayer (off)", runtime, token),
        reads("+ PpafLayer", runtime, ppaf),
        reads("+ PartitionLayer", runtime, partition),
        reads("+ DeadlineLayer", runtime, deadline),
    ]
}

/// The recommended order without signing, as for an account behind a proxy that signs.
pub(super) fn unsigned(account: &Account) -> impl Answers + use<> {
    ServiceBuilder::new()
        .layer(DeadlineLayer::new().timeout(goals::TIMEOUT))
        .layer(PartitionLayer::new(account.clone()))
        .layer(PpafLayer::new(account.clone()))
        .layer(SessionTokenLayer::new(account.clone()).enabled(false))
        .layer(SessionRetryLayer::new(account.clone()))
        .layer(RegionFailoverLayer::new(account.clone()))
        .layer(CircuitBreakerLayer::new(account.clone()))
        .layer(RetryWithLayer::new())
        .layer(ThrottleRetryLayer::new())
        .layer(ShardReconnectLayer::new())
        .layer(EndpointLayer::new(account.clone()))
        .layer(BufferLayer::new())
        .layer(AttemptTimeoutLayer::new())
        .service(InstantLeaf::new())
}
