//! Connections that end, or stand still, after some bytes.

use std::sync::Arc;
use std::time::Duration;

use cosmos_core::OperationOptions;
use cosmos_testbed::embedded::WriteMode;
use cosmos_tests::{ms, with};
use futures::StreamExt;

use super::load;
use super::proxy::{End, Proxy, Script, Way};
use super::{TRANSPORTS, Transport, address_of, connected};
use crate::harness::{A, World, all_succeeded, no_slot_is_left, read, upsert};

/// How many clients are at work at once: more, and a busy machine would itself be a fault.
const AT_ONCE: usize = 6;

/// Where connections end: in a TLS handshake, in the preface, in headers, in a body, between them.
const UP: [usize; 9] = [0, 1, 20, 150, 400, 900, 1500, 2500, 5000];
const DOWN: [usize; 8] = [0, 1, 9, 60, 300, 900, 1600, 4000];

/// A client whose way to the first region follows the script: nothing is lost, nothing is late, and
/// it comes back.
async fn endures(world: &World, transport: Transport, may_fail: bool, fault: impl Fn(&Proxy)) {
    let proxy = Arc::new(Proxy::before(address_of(world, A)).await);
    let leaf = transport.leaf().connector(proxy.connector());
    let client = connected(world, transport, leaf);
    // What the regions and the container are is known before anything breaks.
    let elsewhere = OperationOptions::new().exclude_regions([A]).unwrap();
    let first = world.send(&client, with(read(), elsewhere)).await;
    all_succeeded("elsewhere", &[first]);
    fault(&proxy);
    let told = load::send(world, &client, may_fail).await;
    proxy.heal();
    world.settles_at(&client, A, read).await;
    world.settles_at(&client, A, || upsert(1)).await;
    told.holds(world, &client).await;
    no_slot_is_left(&client).await;
    assert!(proxy.connections() > 0, "the proxy was passed by");
}

/// Every script over every transport, a few at a time.
async fn each(mode: WriteMode, scripts: &[Script]) {
    for transport in TRANSPORTS {
        let world = transport.world(mode).await;
        let world = &world;
        futures::stream::iter(scripts)
            .for_each_concurrent(AT_ONCE, |script| async move {
                let may_fail = mode == WriteMode::Single;
                endures(world, transport, may_fail, |proxy| proxy.follow(*script)).await;
            })
            .await;
        world.check();
    }
}

fn ending(how: End) -> Vec<Script> {
    let up = UP.map(|after| Script {
        up: Way::ending(after, how),
        ..Script::default()
    });
    let down = DOWN.map(|after| Script {
        down: Way::ending(after, how),
        ..Script::default()
    });
    up.into_iter().chain(down).collect()
}

fn late(up: Duration, down: Duration) -> Script {
    Script {
        up: Way::late(up),
        down: Way::late(down),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_at_any_byte_loses_nothing() {
    each(WriteMode::Multi, &ending(End::Reset)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_at_any_byte_loses_nothing() {
    each(WriteMode::Multi, &ending(End::Close)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_from_any_byte_on_loses_nothing() {
    each(WriteMode::Multi, &ending(End::Silence)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_only_one_region_writes_nothing_that_was_acknowledged_is_lost() {
    let scripts = [End::Reset, End::Close, End::Silence].map(|how| {
        [(900, 900), (2500, 4000)].map(|(up, down)| Script {
            up: Way::ending(up, how),
            down: Way::ending(down, how),
        })
    });
    each(WriteMode::Single, scripts.as_flattened()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_late_lose_nothing() {
    let scripts = [
        late(ms(40), ms(0)),
        late(ms(0), ms(40)),
        late(ms(0), ms(1500)),
    ];
    each(WriteMode::Multi, &scripts).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_refused_lose_nothing() {
    for transport in TRANSPORTS {
        let world = transport.world(WriteMode::Multi).await;
        let refuse = |proxy: &Proxy| proxy.refuse(true);
        endures(&world, transport, false, refuse).await;
        world.check();
    }
}
