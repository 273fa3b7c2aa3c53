//! Writes that may have been applied, and writes that certainly were not.

use cosmos_core::{FailureKind, OperationOptions, Status};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, create, execute, with};

fn lab() -> Lab {
    Lab::new(Document::multi_write(["A", "B"]))
}

/// Outcomes after which a request certainly had no effect.
fn not_applied() -> Vec<Step> {
    let statuses = [
        (410, 0),
        (410, 1002),
        (429, 3092),
        (403, 3),
        (403, 1008),
        (404, 1002),
    ];
    let failures = [
        FailureKind::Dns,
        FailureKind::Tls,
        FailureKind::ConnectTimeout,
        FailureKind::PoolLimit,
    ];
    let statuses = statuses.map(|(code, substatus)| Step::status(code, substatus));
    statuses
        .into_iter()
        .chain(failures.map(Step::fail))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn what_certainly_had_no_effect_is_sent_again_whoever_forbids_repeating() {
    for step in not_applied() {
        for request in [create(), execute()] {
            let lab = lab();
            lab.regions.script("A", [step.clone()]);
            let options = OperationOptions::new().retry_writes(false);
            let seen = lab.send(with(request, options)).await;
            assert_eq!(seen.status().code(), 201, "{step:?}: {seen:?}");
            assert_eq!(lab.wire().regions(), "A B", "{step:?}");
            assert!(!seen.journal.unwrap().may_have_been_applied(), "{step:?}");
        }
    }
    // These two stay in the region.
    for step in [Step::status(449, 0), Step::fail(FailureKind::NotProcessed)] {
        let lab = lab();
        lab.regions.script("A", [step.clone()]);
        let options = OperationOptions::new().retry_writes(false);
        assert_eq!(lab.send(with(create(), options)).await.status().code(), 201);
        assert_eq!(lab.wire().regions(), "A A", "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_have_had_an_effect_is_sent_once_if_the_caller_forbids_repeating() {
    for step in [
        Step::status(500, 0),
        Step::status(408, 0),
        Step::fail(FailureKind::Reset),
        Step::fail(FailureKind::Closed),
        Step::status(201, 0).breaking(),
        Step::hang(),
    ] {
        let lab = lab();
        lab.regions.script("A", [step.clone()]);
        let options = OperationOptions::new().retry_writes(false);
        let seen = lab.send(with(create(), options)).await;
        assert_eq!(lab.wire().regions(), "A", "{step:?}");
        assert!(seen.journal.unwrap().may_have_been_applied(), "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_repetition_of_a_write_that_was_applied_says_so() {
    // The first attempt was applied and its answer lost, so the second meets its own work.
    for (code, lost) in [
        (409, Step::fail(FailureKind::AttemptTimeout)),
        (412, Step::status(500, 0)),
        (404, Step::status(408, 0)),
    ] {
        let lab = lab();
        lab.regions.script("A", [lost]);
        lab.regions.script("B", [Step::status(code, 0)]);
        let seen = lab.send(create()).await;
        assert_eq!(seen.status(), Status::new(code, 0));
        assert_eq!(lab.wire().regions(), "A B");
        assert!(seen.journal.unwrap().may_have_been_applied());
    }
    let lab = lab();
    lab.regions.script("A", [Step::status(409, 0)]);
    let seen = lab.send(create()).await;
    assert!(
        !seen.journal.unwrap().may_have_been_applied(),
        "a stranger's"
    );
}
