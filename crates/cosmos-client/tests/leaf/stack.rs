//! The leaf under the layers: what a dying connection comes to in the end.

use bytes::Bytes;
use cosmos_client::{Leaf, Protocol};
use cosmos_core::signing::MasterKey;
use cosmos_core::{FailureKind, JournalSlot, OperationOptions, Reason, TransportError, requests};
use futures::future::join_all;
use http::Request;
use http_body_util::Full;
use tower::{Layer, ServiceExt};
use tower_cosmos::{Account, KeyCredential, RecommendedLayer};

use crate::frames::{Frames, NO_ERROR};
use crate::peer::{OK, Peer, read_request, reset, write};
use crate::{builder, soon};

type Service = tower_cosmos::Recommended<Leaf>;

/// The recommended stack over the leaf, for an account of one endpoint.
fn stack(peer: &Peer, leaf: Leaf) -> Service {
    let key = || KeyCredential::new(MasterKey::from_base64("a2V5").unwrap());
    let account = Account::builder(&format!("http://{}", peer.address), key())
        .discovery(false)
        .build(leaf.clone())
        .unwrap();
    // The peers know no containers.
    let layers = RecommendedLayer::new(account, key()).partition(|layer| layer.enabled(false));
    layers.layer(leaf)
}

fn create(slot: &JournalSlot) -> Request<Full<Bytes>> {
    let key = "customer-7".into();
    let mut request = requests::create_item("shop", "orders", &key, Bytes::from("{\"id\":\"1\"}"))
        .build()
        .unwrap();
    let options = OperationOptions::new().journal_slot(slot);
    request.extensions_mut().insert(options);
    request
}

#[tokio::test]
async fn streams_above_a_goaway_go_to_another_shard_and_every_body_is_processed_once() {
    let peer = Peer::raw(|number, socket, counts| async move {
        let mut frames = Frames::accept(socket, None).await;
        if number == 0 {
            for _ in 0..6 {
                frames.request().await.unwrap();
            }
            frames.go_away(5, NO_ERROR).await;
            for stream in [1, 3, 5] {
                counts.hit();
                frames.answer(stream, false).await;
            }
        }
        while let Some(stream) = frames.request().await {
            counts.hit();
            frames.answer(stream, false).await;
        }
    })
    .await;
    let settings = builder().protocol(Protocol::Http2).shards(1, 8);
    let stack = stack(&peer, settings.build().unwrap());
    let slots: Vec<_> = (0..6).map(|_| JournalSlot::new()).collect();
    let calls = slots.iter().map(|slot| stack.clone().oneshot(create(slot)));
    let answers = soon(join_all(calls)).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(peer.hits(), 6);
    let mut moved = 0;
    for slot in &slots {
        let attempts = slot.journal().unwrap().attempts();
        if let [first, second] = &attempts[..] {
            assert_eq!(second.reason, Reason::Reconnect);
            assert_ne!(first.shard, second.shard);
            moved += 1;
        }
    }
    assert_eq!(moved, 3);
}

#[tokio::test]
async fn a_reset_after_the_request_was_read_repeats_an_item_write_but_no_stored_procedure() {
    let peer = Peer::raw(|number, mut socket, counts| async move {
        while read_request(&mut socket).await.is_some() {
            counts.hit();
            if number % 2 == 0 {
                return reset(socket);
            }
            write(&mut socket, OK).await;
        }
    })
    .await;
    let stack = stack(&peer, builder().build().unwrap());
    let slot = JournalSlot::new();
    soon(stack.clone().oneshot(create(&slot))).await.unwrap();
    assert_eq!(peer.hits(), 2);
    drop(stack);

    let stack = self::stack(&peer, builder().build().unwrap());
    let key = "customer-7".into();
    let call = requests::execute_stored_procedure("shop", "orders", "pay", &key, Bytes::from("[]"));
    let error = soon(stack.oneshot(call.build().unwrap()))
        .await
        .unwrap_err();
    let ours = TransportError::find(&*error).unwrap();
    assert_eq!(ours.kind(), FailureKind::Reset);
    assert_eq!(peer.hits(), 3);
}
