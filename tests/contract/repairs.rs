//! The mechanism's repairs, each with a test that fails without it: settle, gate, pin, tried from
//! the journal, marks at the attempt's end.

use cosmos_core::{FailureKind, OperationOptions, Outcome, Status};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{account, create, execute, ms, read, s, send, with};

use crate::kinds::{Kind, leaf};

fn lab(document: Document) -> (ScriptedAccount, tower_cosmos::Account) {
    let regions = ScriptedAccount::new(document);
    let account = account(&regions, |account| account);
    (regions, account)
}

#[tokio::test(start_paused = true)]
async fn settle_an_attempt_dropped_by_the_deadline_is_not_taken_for_a_failure() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    regions.script("A", [Step::hang()]);
    // The deadline layer inside, so that failover's inner call returns with an abandoned attempt.
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let stack = Kind::Failover.wrap(&account, Kind::Deadline.wrap(&account, placed));
    let seen = send(
        &stack,
        with(read(), OperationOptions::new().timeout(ms(100))),
    )
    .await;
    assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
    assert_eq!(
        seen.journal.unwrap().attempts()[0].outcome,
        Outcome::Abandoned
    );
    assert!(send(&stack, read()).await.status().is_success());
    assert_eq!(regions.wire().regions(), "A A", "not marked");
}

#[tokio::test(start_paused = true)]
async fn gate_nothing_is_sent_after_the_deadline_in_any_layer() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    account.refresh().await;
    let stack = Kind::Endpoint.wrap(&account, leaf(&regions));
    let deadline = tokio::time::Instant::now().into_std() + ms(10);
    tokio::time::sleep(ms(10)).await;
    let options = OperationOptions::new().deadline(deadline);
    let seen = send(&stack, with(read(), options)).await;
    assert_eq!(seen.error().kind(), FailureKind::DeadlineExceeded);
    assert!(regions.wire().is_empty());
}

#[tokio::test(start_paused = true)]
async fn gate_a_stored_procedure_that_gave_no_answer_is_not_sent_by_an_outer_layer() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    regions.script("A", [Step::fail(FailureKind::Reset)]);
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let inner = Kind::Reconnect.wrap(&account, placed);
    let stack = Kind::Throttle.wrap(&account, Kind::Failover.wrap(&account, inner));
    assert_eq!(
        send(&stack, execute()).await.error().kind(),
        FailureKind::Reset
    );
    assert_eq!(regions.wire().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn pin_a_throttled_region_is_repeated_even_from_outside_of_failover() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    regions.script("A", [Step::status(503, 0)]);
    regions.script("B", [Step::status(429, 0).hint("7")]);
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let stack = Kind::Throttle.wrap(&account, Kind::Failover.wrap(&account, placed));
    assert!(send(&stack, read()).await.status().is_success());
    assert_eq!(regions.wire().regions(), "A B B");
    assert_eq!(regions.wire().times_ms(), [0, 0, 7]);
}

#[tokio::test(start_paused = true)]
async fn pin_it_holds_for_one_attempt_and_a_move_clears_it() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    regions.script("A", [Step::status(429, 0).hint("7"), Step::status(503, 0)]);
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let stack = Kind::Throttle.wrap(&account, Kind::Failover.wrap(&account, placed));
    assert!(send(&stack, read()).await.status().is_success());
    assert_eq!(regions.wire().regions(), "A A B");
}

#[tokio::test(start_paused = true)]
async fn pin_a_region_that_left_the_account_is_not_waited_for() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    account.refresh().await;
    tokio::time::sleep(s(6)).await;
    regions.script("A", [Step::status(429, 0).hint("1000").after(ms(10))]);
    regions.set_document(Document::multi_write(["B"]));
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let stack = Kind::Throttle.wrap(&account, placed);
    let sending = tokio::spawn(async move { send(&stack, read()).await.status().code() });
    tokio::task::yield_now().await;
    account.refresh().await;
    let began = tokio::time::Instant::now();
    assert_eq!(sending.await.unwrap(), 429);
    assert!(began.elapsed() <= ms(10));
}

#[tokio::test(start_paused = true)]
async fn tried_a_layer_entered_again_knows_what_an_earlier_pass_learned() {
    let (regions, account) = lab(Document::multi_write(["A", "B", "C"]));
    // Single failures, so that no mark explains the choice: marks would hold for reads only.
    regions.script("A", [Step::status(503, 0)]);
    regions.script("B", [Step::fail(FailureKind::PoolLimit)]);
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let stack = Kind::Failover.wrap(&account, Kind::Failover.wrap(&account, placed));
    assert!(send(&stack, read()).await.status().is_success());
    assert_eq!(regions.wire().regions(), "A B C");
}

#[tokio::test(start_paused = true)]
async fn marks_are_set_at_the_attempts_end_whoever_is_above() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    regions.script("A", [Step::status(503, 0)]);
    let stack = Kind::Endpoint.wrap(&account, leaf(&regions));
    assert_eq!(send(&stack, create()).await.status().code(), 503);
    assert_eq!(send(&stack, create()).await.status().code(), 201);
    assert_eq!(
        regions.wire().regions(),
        "A B",
        "steered although nothing retries"
    );
}

#[tokio::test(start_paused = true)]
async fn pin_a_mark_that_another_operation_set_meanwhile_does_not_divert_the_repetition() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    account.refresh().await;
    regions.script(
        "A",
        [Step::status(429, 0).hint("1000"), Step::status(503, 0)],
    );
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let stack = Kind::Throttle.wrap(&account, placed);
    let (first, second) = tokio::join!(send(&stack, read()), send(&stack, read()));
    assert_eq!((first.status().code(), second.status().code()), (200, 503));
    assert_eq!(regions.wire().regions(), "A A A");
}

#[tokio::test(start_paused = true)]
async fn pin_a_reconnect_stays_in_the_region_that_its_own_failure_marked() {
    let (regions, account) = lab(Document::multi_write(["A", "B"]));
    regions.script("A", [Step::fail(FailureKind::Refused)]);
    let placed = Kind::Endpoint.wrap(&account, leaf(&regions));
    let stack = Kind::Reconnect.wrap(&account, placed);
    assert!(send(&stack, read()).await.status().is_success());
    assert_eq!(regions.wire().regions(), "A A");
}
