//! The breaker without other layers, twice, switched off, in every place; and its handle.

use cosmos_core::health::{BreakerOptions, State};
use cosmos_core::policy::Jitter;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{
    Lab, Stack, boxed, breaker, create, credential, ms, read, read_metadata, recommended, s, send,
};
use tower::{Layer, ServiceBuilder};
use tower_cosmos::{
    AttemptTimeoutLayer, BufferLayer, CircuitBreakerLayer, DeadlineLayer, EndpointLayer, PpafLayer,
    RegionFailoverLayer, RetryWithLayer, SessionRetryLayer, ShardReconnectLayer, SigningLayer,
    ThrottleRetryLayer,
};

use super::{asked, circuit, fail, lab, of, times, trip, watched};

fn layer(lab: &Lab) -> CircuitBreakerLayer {
    let layer = CircuitBreakerLayer::new(lab.account.clone());
    layer.settings(breaker(BreakerOptions::new()))
}

/// What is below every routing layer.
fn attempts(lab: &Lab) -> Stack {
    let account = &lab.account;
    let service = ServiceBuilder::new()
        .layer(EndpointLayer::new(account.clone()))
        .layer(SigningLayer::new(credential()).clock(account.clock().clone()))
        .layer(BufferLayer::new())
        .layer(AttemptTimeoutLayer::new())
        .service(lab.regions.clone());
    boxed(service)
}

/// The regions that see one more such request through a stack.
async fn asked_through(lab: &Lab, stack: &Stack, request: cosmos_tests::Req) -> String {
    lab.regions.clear_wire();
    let _ = send(stack, request).await;
    lab.wire().regions()
}

#[tokio::test(start_paused = true)]
async fn without_a_failover_layer_it_still_steers() {
    let lab = lab();
    let stack = boxed(layer(&lab).layer(attempts(&lab)));
    lab.regions.script("A", times(10, &Step::status(503, 0)));
    for _ in 0..10 {
        assert_eq!(asked_through(&lab, &stack, of("0", read())).await, "A");
    }
    assert_eq!(asked_through(&lab, &stack, of("0", read())).await, "B");
    assert_eq!(asked_through(&lab, &stack, of("1", read())).await, "A");
    tokio::time::sleep(s(60)).await;
    assert_eq!(asked_through(&lab, &stack, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn the_same_circuits_twice_in_a_stack_count_once_and_recover() {
    let lab = lab();
    let layer = layer(&lab);
    let inner = recommended(&lab.account).circuit_breaker(|_| layer.clone());
    let stack = boxed(layer.layer(inner.layer(lab.regions.clone())));
    lab.regions.script("A", times(10, &Step::status(503, 0)));
    for _ in 0..10 {
        assert_eq!(asked_through(&lab, &stack, of("0", read())).await, "A B");
    }
    assert_eq!(layer.circuits().counters().trips, 1);
    assert_eq!(asked_through(&lab, &stack, of("0", read())).await, "B");
    tokio::time::sleep(s(60)).await;
    assert_eq!(asked_through(&lab, &stack, of("0", read())).await, "A");
    assert_eq!(asked_through(&lab, &stack, of("0", read())).await, "A");
    assert_eq!(layer.circuits().counters().open, 0);
}

#[tokio::test(start_paused = true)]
async fn of_two_breakers_in_a_stack_the_outer_one_oversees() {
    let lab = lab();
    let (outer, inner) = (layer(&lab), layer(&lab));
    let layers = recommended(&lab.account).circuit_breaker(|_| inner.clone());
    let stack = boxed(outer.layer(layers.layer(lab.regions.clone())));
    lab.regions.script("A", times(10, &Step::status(503, 0)));
    for _ in 0..10 {
        assert_eq!(asked_through(&lab, &stack, of("0", read())).await, "A B");
    }
    assert_eq!(asked_through(&lab, &stack, of("0", read())).await, "B");
    assert_eq!(outer.circuits().counters().trips, 1);
    assert_eq!(inner.circuits().counters().tracked, 0);
}

#[tokio::test(start_paused = true)]
async fn services_of_one_layer_share_its_circuits() {
    let lab = lab();
    let layers = recommended(&lab.account);
    let one = boxed(layers.layer(lab.regions.clone()));
    let other = boxed(layers.layer(lab.regions.clone()));
    lab.regions.script("A", times(10, &Step::status(503, 0)));
    for number in 0..10 {
        let stack = [&one, &other][number % 2];
        assert_eq!(asked_through(&lab, stack, of("0", read())).await, "A B");
    }
    for stack in [&one, &other] {
        assert_eq!(asked_through(&lab, stack, of("0", read())).await, "B");
    }
    let apart = boxed(recommended(&lab.account).layer(lab.regions.clone()));
    assert_eq!(asked_through(&lab, &apart, of("0", read())).await, "A");
}

#[tokio::test(start_paused = true)]
async fn switched_off_every_failure_marks_the_endpoint_as_if_it_were_not_there() {
    let lab = Lab::unguarded(Document::multi_write(["A", "B", "C"]));
    lab.regions.script("A", [Step::status(503, 0)]);
    assert_eq!(asked(&lab, of("0", read())).await, "A B");
    assert_eq!(asked(&lab, of("1", read())).await, "B", "the endpoint");
    assert_eq!(asked(&lab, of("0", create())).await, "A", "for reads");
    lab.regions.script("B", [Step::status(503, 0)]);
    assert_eq!(asked(&lab, read_metadata()).await, "B C", "at once");
    assert_eq!(asked(&lab, read_metadata()).await, "C");
}

type Wrap = Box<dyn Fn(Stack) -> Stack>;

/// The routing layers, innermost first, with the breaker after so many of them.
fn with_breaker_at(lab: &Lab, position: usize) -> Stack {
    let account = || lab.account.clone();
    let failover = RegionFailoverLayer::new(account()).jitter(Jitter::None);
    let session = SessionRetryLayer::new(account());
    let ppaf = PpafLayer::new(account());
    let mut layers: Vec<Wrap> = vec![
        Box::new(|stack| boxed(ShardReconnectLayer::new().layer(stack))),
        Box::new(|stack| boxed(ThrottleRetryLayer::new().jitter(Jitter::None).layer(stack))),
        Box::new(|stack| boxed(RetryWithLayer::new().jitter(Jitter::None).layer(stack))),
        Box::new(move |stack| boxed(failover.layer(stack))),
        Box::new(move |stack| boxed(session.layer(stack))),
        Box::new(move |stack| boxed(ppaf.layer(stack))),
        Box::new(|stack| boxed(DeadlineLayer::new().layer(stack))),
    ];
    let breaker = layer(lab);
    layers.insert(position, Box::new(move |stack| boxed(breaker.layer(stack))));
    layers.iter().fold(attempts(lab), |stack, wrap| wrap(stack))
}

/// What the regions see of a sick partition, from its first failure until it is back.
async fn story(position: usize) -> String {
    let lab = lab();
    lab.account.refresh().await;
    let stack = with_breaker_at(&lab, position);
    let throttled = Step::status(429, 3200).hint("3");
    let reset = Step::fail(cosmos_core::FailureKind::Reset);
    for step in [Step::status(503, 0), reset.clone(), throttled] {
        lab.regions
            .script("A", [step, reset.clone(), reset.clone()]);
    }
    lab.regions.script("A", times(20, &Step::status(503, 0)));
    lab.regions.script("B", [Step::status(404, 1002)]);
    for _ in 0..20 {
        let _ = send(&stack, of("0", read())).await;
        let _ = send(&stack, of("1", create())).await;
    }
    for _ in 0..4 {
        tokio::time::sleep(s(61)).await;
        let _ = send(&stack, of("0", read())).await;
        let _ = send(&stack, of("1", create())).await;
    }
    lab.regions.heal("A");
    tokio::time::sleep(s(121)).await;
    for _ in 0..2 {
        let _ = send(&stack, of("0", read())).await;
        let _ = send(&stack, of("1", create())).await;
    }
    lab.wire().to_string()
}

#[tokio::test(start_paused = true)]
async fn in_every_place_of_the_stack_it_gives_the_same_wire() {
    let innermost = story(0).await;
    assert!(innermost.contains(" B "), "{innermost}");
    for position in 1..=7 {
        assert_eq!(story(position).await, innermost, "position {position}");
    }
}

#[tokio::test(start_paused = true)]
async fn its_handle_lists_what_has_failed_and_how_it_stands() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    assert!(circuits.list().is_empty());
    fail(&lab, 3, || of("7", read())).await;
    fail(&lab, 2, || of("7", create())).await;
    let healthy = circuit(&circuits, "7", "A").unwrap();
    assert_eq!(healthy.state, State::Healthy);
    assert_eq!((healthy.reads.failure, healthy.writes.failure), (3, 2));
    assert_eq!((&*healthy.container, healthy.due), ("dbs/d/colls/c", None));
    trip(&lab, "8").await;
    let open = circuit(&circuits, "8", "A").unwrap();
    assert_eq!(open.state, State::UnhealthyTentative);
    assert_eq!(open.due, open.since.map(|since| since + s(60)));
    let counters = circuits.counters();
    assert_eq!((counters.tracked, counters.open, counters.trips), (2, 1, 1));
    tokio::time::sleep(s(60)).await;
    lab.regions.script("A", [Step::hang()]);
    let probe = tokio::time::timeout(ms(50), lab.send(of("8", read())));
    let (_, during) = tokio::join!(probe, async {
        tokio::time::sleep(ms(10)).await;
        circuit(&circuits, "8", "A").unwrap().state
    });
    assert_eq!(during, State::HealthyTentative);
    assert_eq!(asked(&lab, of("8", read())).await, "A");
    let closed = circuit(&circuits, "8", "A").unwrap().state;
    assert_eq!(closed, State::Healthy);
    let counters = circuits.counters();
    assert_eq!((counters.open, counters.probes, counters.closed), (0, 2, 1));
}

#[tokio::test(start_paused = true)]
async fn its_handle_tells_every_change_of_state_in_order() {
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    let mut transitions = circuits.subscribe();
    trip(&lab, "0").await;
    tokio::time::sleep(s(60)).await;
    lab.regions.script("A", [Step::status(503, 0)]);
    assert_eq!(asked(&lab, of("0", read())).await, "A B");
    tokio::time::sleep(s(120)).await;
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    let mut told = Vec::new();
    for _ in 0..5 {
        let transition = transitions.next().await.unwrap();
        assert_eq!(transition.region.name(), "a");
        assert_eq!(transition.range, Some(cosmos_core::RangeId::from(0)));
        told.push((transition.from.name(), transition.to.name()));
    }
    assert_eq!(
        told,
        [
            ("healthy", "unhealthy_tentative"),
            ("unhealthy_tentative", "healthy_tentative"),
            ("healthy_tentative", "unhealthy"),
            ("unhealthy", "healthy_tentative"),
            ("healthy_tentative", "healthy"),
        ]
    );
    assert_eq!(transitions.missed(), 0);
}

#[tokio::test(start_paused = true)]
async fn it_has_no_task_of_its_own_and_forgets_what_is_well() {
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let (lab, circuits) = watched(Document::multi_write(["A", "B", "C"]));
    assert_eq!(asked(&lab, of("0", read())).await, "A");
    let before = tasks();
    for range in 0..200 {
        fail(&lab, 10, || of(&range.to_string(), read())).await;
    }
    assert_eq!(tasks(), before);
    assert_eq!(circuits.counters().open, 200);
    tokio::time::sleep(s(60)).await;
    for range in 0..200 {
        assert_eq!(asked(&lab, of(&range.to_string(), read())).await, "A");
    }
    assert_eq!(circuits.counters().open, 0);
    // What closed a circuit is remembered for a window.
    tokio::time::sleep(s(60)).await;
    for range in 0..200 {
        assert_eq!(asked(&lab, of(&range.to_string(), read())).await, "A");
    }
    assert_eq!(circuits.counters().tracked, 0);
    assert_eq!(tasks(), before);
}
