//! Connections that are told to go away, with requests above the last one that counts.

use std::sync::Arc;

use cosmos_client::Protocol;
use cosmos_core::{FailureKind, OperationOptions, Outcome};
use cosmos_testbed::embedded::WriteMode;
use cosmos_tests::with;

use super::frames::{ENHANCE_YOUR_CALM, Frames, GoAway, NO_ERROR};
use super::load::{self, Told};
use super::proxy::by_way_of;
use super::{Transport, address_of, connected};
use crate::harness::{A, World, all_succeeded, at, no_slot_is_left, read, upsert};

const HTTP2: Transport = Transport::new(Protocol::Http2, false);

/// What a load saw whose connections to the first region followed a script.
struct Seen {
    world: Arc<World>,
    told: Told,
    proxy: super::frames::Told,
}

async fn endured(script: GoAway) -> Seen {
    let world = HTTP2.world(WriteMode::Multi).await;
    let proxy = Frames::before(address_of(&world, A), script).await;
    let address = proxy.address;
    let leaf = HTTP2.leaf().shards(1, 1);
    let leaf = leaf.connector(by_way_of(proxy.target, move || address));
    let client = connected(&world, HTTP2, leaf);
    let elsewhere = OperationOptions::new().exclude_regions([A]).unwrap();
    let first = world.send(&client, with(read(), elsewhere)).await;
    all_succeeded("elsewhere", &[first]);
    let told = load::send(&world, &client, false).await;
    let seen = proxy.told();
    assert!(seen.connections > 0, "nobody was told to go");
    proxy.heal();
    world.settles_at(&client, A, read).await;
    world.settles_at(&client, A, || upsert(1)).await;
    told.holds(&world, &client).await;
    no_slot_is_left(&client).await;
    world.check();
    Seen {
        world,
        told,
        proxy: seen,
    }
}

impl Seen {
    /// How many attempts at the first region ended like this.
    fn attempts(&self, kind: FailureKind) -> usize {
        let journals = self.world.journals();
        let attempts = journals.iter().flat_map(cosmos_core::Journal::attempts);
        attempts
            .filter(|attempt| at(attempt, A) && attempt.outcome == Outcome::Failed(kind))
            .count()
    }
}

/// Not even executions are lost: the service's word is that nothing was done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_above_the_last_one_that_counts_are_sent_again() {
    for code in [NO_ERROR, ENHANCE_YOUR_CALM] {
        for after in [0, 1, 4, 9] {
            let seen = endured(GoAway {
                after,
                code,
                reset: false,
            })
            .await;
            assert!(seen.proxy.dropped > 0, "{after}: {:?}", seen.proxy);
            assert_eq!(seen.told.failed, 0, "{after} of code {code}");
            assert!(seen.attempts(FailureKind::NotProcessed) > 0);
        }
    }
}

/// Those below it are in doubt when the connection is lost, and executions are not repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_below_it_are_in_doubt_if_the_connection_is_lost() {
    for after in [1, 4, 9] {
        endured(GoAway {
            after,
            code: NO_ERROR,
            reset: true,
        })
        .await;
    }
}
