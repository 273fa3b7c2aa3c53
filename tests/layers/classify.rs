//! An integrator's own verdicts.

use cosmos_core::policy::Verdict;
use cosmos_core::{FailureKind, Operation, Outcome, Status};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, create, execute, read};

fn own(operation: Operation, outcome: Outcome, verdict: Verdict) -> Verdict {
    match outcome {
        // A proxy of theirs answers 420 where it means 429.
        Outcome::Answered(status) if status.code() == 420 => Verdict::Throttled,
        // They would rather fail fast on writes.
        Outcome::Answered(status) if status.code() == 500 && operation.is_write() => {
            Verdict::Surface
        }
        Outcome::Failed(FailureKind::Reset) => Verdict::Failover,
        _ => verdict,
    }
}

fn lab() -> Lab {
    Lab::with(Document::multi_write(["A", "B"]), |account| {
        account.classify(own)
    })
}

#[tokio::test(start_paused = true)]
async fn a_verdict_can_be_overruled_for_chosen_outcomes() {
    let lab = lab();
    lab.regions
        .script("A", [Step::status(420, 0).hint("7"), Step::status(500, 0)]);
    assert_eq!(lab.send(create()).await.status().code(), 500);
    assert_eq!(lab.wire().regions(), "A A");
    assert_eq!(lab.wire().times_ms(), [0, 7]);
    assert_eq!(
        lab.send(read()).await.status().code(),
        200,
        "the rest is the specification's"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stored_procedure_that_may_have_run_stays_unrepeated() {
    let lab = lab();
    lab.regions.script("A", [Step::fail(FailureKind::Reset)]);
    let seen = lab.send(execute()).await;
    assert_eq!(seen.error().kind(), FailureKind::MayHaveRun);
    assert_eq!(lab.wire().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_clients_own_timeout_is_nobodys_to_overrule() {
    let lab = Lab::with(Document::multi_write(["A", "B"]), |account| {
        account.classify(|_, _, _| Verdict::Failover)
    });
    lab.regions.script("A", [Step::status(408, 20008)]);
    assert_eq!(
        lab.send(read()).await.status(),
        Status::CLIENT_OPERATION_TIMEOUT
    );
    assert_eq!(lab.wire().len(), 1);
}
