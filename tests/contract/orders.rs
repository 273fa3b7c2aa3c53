//! The layers in every order: the safety rules hold in each.

use cosmos_core::{FailureKind, OperationOptions, Outcome};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{Req, Stack, account, create, execute, ms, read, s, send, with};
use tower_cosmos::Account;

use crate::kinds::{Kind, leaf};

fn permutations(kinds: &[Kind]) -> Vec<Vec<Kind>> {
    if kinds.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, kind) in kinds.iter().enumerate() {
        let mut rest = kinds.to_vec();
        rest.remove(index);
        for mut order in permutations(&rest) {
            order.insert(0, *kind);
            all.push(order);
        }
    }
    all
}

/// Builds the layers, outermost first, over the endpoint layer and the attempt's limits.
pub(crate) fn build(order: &[Kind], account: &Account, regions: &ScriptedAccount) -> Stack {
    let attempt = Kind::AttemptTimeout.wrap(account, leaf(regions));
    let signed = Kind::Signing.wrap(account, attempt);
    let placed = Kind::Endpoint.wrap(account, signed);
    order
        .iter()
        .rev()
        .fold(placed, |inner, kind| kind.wrap(account, inner))
}

type Scenario = (&'static str, fn(&ScriptedAccount), usize);

/// What the regions do, and the most requests that one operation may then send.
const SCENARIOS: [Scenario; 10] = [
    ("healthy", |_| {}, 1),
    (
        "throttled for ever",
        |r| everywhere(r, &Step::status(429, 0).hint("1")),
        10,
    ),
    (
        "unavailable everywhere",
        |r| everywhere(r, &Step::status(503, 0)),
        4,
    ),
    (
        "refused everywhere",
        |r| everywhere(r, &Step::fail(FailureKind::Refused)),
        4 + 3,
    ),
    (
        "reset everywhere",
        |r| everywhere(r, &Step::fail(FailureKind::Reset)),
        4 + 3,
    ),
    ("hanging everywhere", |r| everywhere(r, &Step::hang()), 4),
    (
        "behind everywhere",
        |r| everywhere(r, &Step::status(404, 1002)),
        1 + 3,
    ),
    (
        "behind, then unavailable",
        |r| {
            r.script("A", [Step::status(404, 1002)]);
            r.script("B", [Step::status(503, 0)]);
        },
        3,
    ),
    ("gone", |r| everywhere(r, &Step::status(403, 1008)), 121),
    (
        "unavailable, then throttled",
        |r| {
            r.script("A", [Step::status(503, 0).forever()]);
            r.script(
                "B",
                [
                    Step::status(429, 0).hint("5"),
                    Step::status(429, 0).hint("5"),
                ],
            );
        },
        4,
    ),
];

fn everywhere(regions: &ScriptedAccount, step: &Step) {
    for region in ["A", "B", "C"] {
        regions.script(region, [step.clone().forever()]);
    }
}

#[tokio::test(start_paused = true)]
async fn every_order_keeps_budgets_exclusions_and_the_deadline() {
    for order in permutations(&Kind::ORDERED) {
        for (name, script, most) in SCENARIOS {
            for (kind, request) in [
                ("read", read()),
                ("create", create()),
                ("execute", execute()),
            ] {
                check(&order, name, script, most, kind, request).await;
            }
        }
    }
}

async fn check(
    order: &[Kind],
    name: &str,
    script: fn(&ScriptedAccount),
    most: usize,
    kind: &str,
    request: Req,
) {
    let case = format!("{order:?} {name} {kind}");
    let document = Document::multi_write(["A", "B", "C", "X"]);
    let regions = ScriptedAccount::new(document);
    let account = account(&regions, |account| {
        account.preferred_regions(["A", "B", "C", "X"])
    });
    account.refresh().await;
    script(&regions);
    let stack = build(order, &account, &regions);
    let options = OperationOptions::new()
        .exclude_regions(["x"])
        .unwrap()
        .timeout(s(500));
    let seen = send(&stack, with(request, options)).await;
    tokio::time::sleep(s(600)).await;
    let wire = regions.wire();
    assert!(
        wire.len() <= most,
        "{case}: {} requests\n{wire}",
        wire.len()
    );
    assert_eq!(wire.count("X"), 0, "{case}\n{wire}");
    assert_eq!(wire.count("global"), 0, "{case}\n{wire}");
    assert_eq!(regions.open(), 0, "{case}");
    let journal = seen.journal.clone().unwrap();
    let attempts = journal.attempts();
    assert_eq!(attempts.len(), wire.len(), "{case}\n{wire}\n{journal}");
    for (attempt, entry) in attempts.iter().zip(&wire.0) {
        assert_eq!(
            attempt.region.name(),
            entry.region.to_lowercase(),
            "{case}\n{wire}\n{journal}"
        );
        assert_ne!(attempt.outcome, Outcome::InFlight, "{case}");
    }
    let ambiguous = matches!(
        name,
        "unavailable everywhere" | "reset everywhere" | "hanging everywhere"
    );
    if kind == "execute" && ambiguous {
        assert_eq!(wire.len(), 1, "{case}\n{wire}");
    }
    if matches!(
        name,
        "healthy" | "unavailable, then throttled" | "behind, then unavailable"
    ) && kind != "execute"
    {
        assert!(seen.status().is_success(), "{case}\n{wire}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_one_instant_in_every_order() {
    for order in permutations(&Kind::ORDERED) {
        for step in [Step::hang(), Step::status(200, 0).stalling()] {
            let regions = ScriptedAccount::new(Document::multi_write(["A", "B"]));
            let account = account(&regions, |account| account);
            account.refresh().await;
            regions.script("A", [step.clone().forever()]);
            regions.script("B", [step.forever()]);
            let stack = build(&order, &account, &regions);
            let options = OperationOptions::new().timeout(ms(1234));
            let began = tokio::time::Instant::now();
            let seen = send(&stack, with(read(), options)).await;
            assert_eq!(
                seen.status(),
                cosmos_core::Status::CLIENT_OPERATION_TIMEOUT,
                "{order:?}"
            );
            assert!(
                began.elapsed() <= ms(1244),
                "{order:?}: {:?}",
                began.elapsed()
            );
            let sent = regions.wire().len();
            tokio::time::sleep(s(100)).await;
            assert_eq!(
                regions.wire().len(),
                sent,
                "{order:?}: sent after the deadline"
            );
        }
    }
}
