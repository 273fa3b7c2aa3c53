//! With every region failing every request, each kind of failure sends exactly as many requests
//! as its budget says, in the recommended order of the layers and in the reverse.

use cosmos_core::FailureKind;
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{account, create, read, send};

use crate::kinds::{Kind, build};

const RECOMMENDED: [Kind; 5] = [
    Kind::Session,
    Kind::Failover,
    Kind::RetryWith,
    Kind::Throttle,
    Kind::Reconnect,
];

/// What every region does, and how many requests a multi-write account of three regions sees, in
/// the recommended order and in the reverse.
fn failures() -> Vec<(&'static str, Step, [usize; 2])> {
    vec![
        ("5xx", Step::status(503, 0), [1 + 3; 2]),
        ("408", Step::status(408, 0), [1 + 3; 2]),
        ("410", Step::status(410, 0), [1 + 3; 2]),
        ("429/3092", Step::status(429, 3092), [1 + 3; 2]),
        ("not sent", Step::fail(FailureKind::Dns), [1 + 3; 2]),
        // From outside, the reconnect sees the last region's failure only.
        (
            "lost connections",
            Step::fail(FailureKind::Reset),
            [1 + 3 + 3, 1 + 3 + 1],
        ),
        ("429", Step::status(429, 0).hint("1"), [1 + 9; 2]),
        ("449", Step::status(449, 0), [1 + 35; 2]),
        ("403/1008", Step::status(403, 1008), [1 + 120; 2]),
        ("404/1002", Step::status(404, 1002), [1 + 3; 2]),
    ]
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_failure_sends_what_its_budget_says_in_either_order() {
    let mut reverse = RECOMMENDED;
    reverse.reverse();
    for (position, order) in [RECOMMENDED, reverse].into_iter().enumerate() {
        for (name, step, expected) in failures() {
            for request in [read(), create()] {
                let regions = ScriptedAccount::new(Document::multi_write(["A", "B", "C"]));
                let account = account(&regions, |account| account);
                account.refresh().await;
                for region in ["A", "B", "C"] {
                    regions.script(region, [step.clone().forever()]);
                }
                let stack = build(&order, &account, &regions);
                let _ = send(&stack, request).await;
                let wire = regions.wire();
                assert_eq!(wire.len(), expected[position], "{name} {order:?}\n{wire}");
            }
        }
    }
}
