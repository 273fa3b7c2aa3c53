//! `ShardReconnectLayer`: once more over another connection.

use cosmos_core::{FailureKind, Reason};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, create, execute, read};

fn lab() -> Lab {
    Lab::new(Document::multi_write(["A", "B"]))
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_tried_once_more_in_the_same_region() {
    for kind in [
        FailureKind::Refused,
        FailureKind::Reset,
        FailureKind::Closed,
        FailureKind::Io,
        FailureKind::NotProcessed,
    ] {
        let lab = lab();
        lab.regions.script("A", [Step::fail(kind)]);
        let seen = lab.send(create()).await;
        assert_eq!(seen.status().code(), 201);
        assert_eq!(lab.wire().regions(), "A A", "{kind}");
        assert_eq!(
            seen.journal.unwrap().attempts()[1].reason,
            Reason::Reconnect
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_another_connection_cannot_mend_goes_on_at_once() {
    for kind in [
        FailureKind::Dns,
        FailureKind::Tls,
        FailureKind::ConnectTimeout,
        FailureKind::PoolLimit,
        FailureKind::AttemptTimeout,
        FailureKind::BodyCut,
    ] {
        let lab = lab();
        lab.regions.script("A", [Step::fail(kind)]);
        assert_eq!(lab.send(read()).await.status().code(), 200);
        assert_eq!(lab.wire().regions(), "A B", "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_failure_moves_to_the_next_region() {
    let lab = lab();
    lab.regions.script(
        "A",
        [
            Step::fail(FailureKind::Refused),
            Step::fail(FailureKind::Refused),
        ],
    );
    lab.regions.script("B", [Step::fail(FailureKind::Refused)]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A A B B");
}

#[tokio::test(start_paused = true)]
async fn a_stored_procedure_reconnects_only_if_nothing_was_sent() {
    let refused = lab();
    refused
        .regions
        .script("A", [Step::fail(FailureKind::Refused)]);
    assert_eq!(refused.send(execute()).await.status().code(), 201);
    assert_eq!(refused.wire().regions(), "A A");
    let reset = lab();
    reset.regions.script("A", [Step::fail(FailureKind::Reset)]);
    assert_eq!(
        reset.send(execute()).await.error().kind(),
        FailureKind::Reset
    );
    assert_eq!(reset.wire().regions(), "A");
}

#[tokio::test(start_paused = true)]
async fn a_credential_that_fails_is_neither_retried_nor_held_against_the_region() {
    let lab = lab();
    lab.regions
        .script("A", [Step::fail(FailureKind::Credential)]);
    assert_eq!(
        lab.send(read()).await.error().kind(),
        FailureKind::Credential
    );
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A A");
}
