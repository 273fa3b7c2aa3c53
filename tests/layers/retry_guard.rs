//! The retry guard: retries are bounded to a share of what succeeds, first attempts are not.

use cosmos_core::retry_guard::RetryGuardOptions;
use cosmos_core::{OperationOptions, Region, Status};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, ms, read, s, with};

fn lab(options: RetryGuardOptions) -> Lab {
    Lab::with(Document::multi_write(["A", "B", "C"]), |account| {
        account.retry_guard(options)
    })
}

fn reserve(retries: u32) -> RetryGuardOptions {
    RetryGuardOptions::new().reserve(retries)
}

fn left(lab: &Lab, region: &str) -> u32 {
    let region = Region::named(region).unwrap();
    lab.account.retries_left(region).unwrap()
}

fn everywhere(lab: &Lab, step: &Step) {
    for region in ["A", "B", "C"] {
        lab.regions.script(region, [step.clone().forever()]);
    }
}

#[tokio::test(start_paused = true)]
async fn when_everything_fails_first_attempts_are_all_that_is_left() {
    let lab = lab(reserve(2));
    everywhere(&lab, &Step::status(503, 0));
    for _ in 0..20 {
        assert_eq!(lab.send(read()).await.status().code(), 503);
    }
    assert_eq!(lab.wire().len(), 20 + 3 * 2, "{}", lab.wire());
}

#[tokio::test(start_paused = true)]
async fn moves_that_succeed_cost_nothing() {
    let lab = lab(reserve(1));
    lab.regions.script("A", always(503, 0));
    for _ in 0..20 {
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    assert_eq!((left(&lab, "A"), left(&lab, "B")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_move_is_charged_to_where_it_leads() {
    let lab = lab(reserve(5));
    lab.regions.script("A", always(503, 0));
    lab.regions.script("B", [Step::status(503, 0)]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(
        (left(&lab, "A"), left(&lab, "B"), left(&lab, "C")),
        (5, 4, 5)
    );
}

#[tokio::test(start_paused = true)]
async fn five_successes_pay_for_one_retry() {
    let lab = lab(reserve(1));
    lab.regions.script(
        "A",
        [Step::status(429, 3200).hint("1"), Step::status(429, 3200)],
    );
    let seen = lab.send(read()).await;
    assert_eq!(seen.status(), Status::new(429, 3200));
    assert_eq!(left(&lab, "A"), 0);
    for successes in 0..5 {
        assert_eq!(left(&lab, "A"), 0, "after {successes}");
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    assert_eq!(left(&lab, "A"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_is_refused_surfaces_the_answer_at_once_and_the_journal_says_why() {
    let lab = lab(reserve(1));
    everywhere(&lab, &Step::status(429, 3200).hint("1000"));
    let began = tokio::time::Instant::now();
    let seen = lab.send(read()).await;
    assert_eq!(seen.status(), Status::new(429, 3200));
    assert_eq!(began.elapsed(), s(1), "the one retry that was left");
    let problem = seen.journal.unwrap().problem().unwrap();
    assert_eq!(problem, "too many retries for what succeeds");
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_during_the_wait_gets_the_token_back() {
    let lab = lab(reserve(3));
    lab.regions
        .script("A", [Step::status(429, 3200).hint("1000")]);
    let left_early = tokio::time::timeout(ms(500), lab.send(read())).await;
    assert!(left_early.is_err());
    assert_eq!(left(&lab, "A"), 3);
}

#[tokio::test(start_paused = true)]
async fn while_others_wait_their_retries_are_spent_already() {
    let lab = lab(reserve(2));
    everywhere(&lab, &Step::status(429, 3200).hint("1000"));
    let waiting = futures::future::join_all((0..10).map(|_| lab.send(read())));
    let seen = waiting.await;
    assert!(seen.iter().all(|seen| seen.status().code() == 429));
    assert_eq!(lab.wire().len(), 10 + 2, "{}", lab.wire());
}

#[tokio::test(start_paused = true)]
async fn there_is_none_unless_it_is_asked_for() {
    let lab = Lab::new(Document::multi_write(["A", "B", "C"]));
    assert_eq!(lab.account.retries_left(Region::named("A").unwrap()), None);
    everywhere(&lab, &Step::status(503, 0));
    for _ in 0..300 {
        let _ = lab.send(read()).await;
    }
    assert_eq!(lab.wire().len(), 4 * 300);
}

#[tokio::test(start_paused = true)]
async fn a_region_that_is_not_the_one_to_ask_sends_on_for_free() {
    let document = Document::single_write(["A", "B"]).per_partition_failover(true);
    let lab = Lab::with(document, |account| account.retry_guard(reserve(1)));
    let write = || {
        let options = OperationOptions::new().partition_key_range("0");
        with(create(), options)
    };
    lab.regions.script("A", [Step::status(403, 3)]);
    assert_eq!(lab.send(write()).await.status().code(), 201);
    // The only token of A is gone.
    lab.regions
        .script("A", [Step::status(429, 0), Step::status(429, 0)]);
    let options = OperationOptions::new().exclude_regions(["B"]).unwrap();
    assert_eq!(lab.send(with(create(), options)).await.status().code(), 429);
    assert_eq!(left(&lab, "A"), 0);
    // The partition is back: without a move to A nobody would ever find out.
    lab.regions.script("B", always(403, 3));
    for _ in 0..2 {
        assert_eq!(lab.send(write()).await.status().code(), 201);
    }
    assert_eq!(lab.wire().regions(), "A B A A B A A", "{}", lab.wire());
}
