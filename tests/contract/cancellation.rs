//! A future can be dropped at every await: nothing more is sent, nothing is left behind.

use cosmos_core::{FailureKind, JournalSlot, OperationOptions, Outcome};
use cosmos_testbed::scripted::{Document, ScriptedAccount, Step};
use cosmos_tests::{account, create, ms, read, s, send, with};
use tokio_test::task;
use tower::{Service, ServiceExt};

use crate::kinds::{Kind, alone, known_regions, leaf};

type Script = fn(&ScriptedAccount);

const SCRIPTS: [(&str, Script); 7] = [
    ("healthy", |_| {}),
    ("throttled", |r| {
        r.script("A", [Step::status(429, 0).hint("50")]);
    }),
    ("unavailable", |r| {
        r.script("A", [Step::status(503, 0).after(ms(20))]);
    }),
    ("reset", |r| {
        r.script("A", [Step::fail(FailureKind::Reset).after(ms(20))]);
    }),
    ("hanging", |r| r.script("A", [Step::hang()])),
    ("moved", |r| {
        r.script("A", [Step::status(403, 3)]);
        r.script_account_reads("global", [Step::status(200, 0).after(ms(20))]);
    }),
    ("unknown topology", |r| {
        r.script_account_reads("global", [Step::status(503, 0).after(ms(20))]);
    }),
];

#[tokio::test(start_paused = true)]
async fn dropped_at_any_point_it_sends_nothing_more_and_leaves_nothing() {
    for kind in Kind::ALL {
        for (name, script) in SCRIPTS {
            for polls in 0..12 {
                drop_after(kind, name, script, polls).await;
            }
        }
    }
}

async fn drop_after(kind: Kind, name: &str, script: Script, polls: usize) {
    let regions = known_regions(Document::single_write(["A", "B"]));
    let account = account(&regions, |account| account);
    if name != "unknown topology" {
        account.refresh().await;
    }
    script(&regions);
    let slot = JournalSlot::new();
    let request = with(create(), OperationOptions::new().journal_slot(&slot));
    let mut stack = alone(kind, &account, leaf(&regions));
    let future = stack.ready().await.unwrap().call(request);
    let mut operation = task::spawn(future);
    let mut done = false;
    for _ in 0..polls {
        if operation.poll().is_ready() {
            done = true;
            break;
        }
        tokio::time::sleep(ms(10)).await;
    }
    drop(operation);
    let sent = regions.wire().len();
    tokio::time::sleep(s(200)).await;
    let wire = regions.wire();
    assert_eq!(
        wire.len(),
        sent,
        "{kind:?} {name} dropped after {polls} polls\n{wire}"
    );
    assert_eq!(regions.open(), 0, "{kind:?} {name} {polls}");
    if let Some(journal) = slot.journal() {
        // An attempt begins with the call; a future that is never polled sends nothing of it.
        let begun = journal.attempts().len();
        let unpolled = usize::from(polls == 0);
        assert!(
            (sent..=sent + unpolled).contains(&begun),
            "{kind:?} {name} {polls}: {journal:?}"
        );
        let unfinished = journal
            .attempts()
            .iter()
            .any(|a| a.outcome == Outcome::InFlight);
        assert!(!unfinished, "{kind:?} {name} {polls} {done}: {journal:?}");
    }
    // Whatever it held is free again. (With a deadline, a failed account read is tried again.)
    regions.heal("A");
    let request = with(read(), OperationOptions::new().timeout(s(60)));
    let seen = send(&stack, request).await;
    assert_eq!(seen.status().code(), 200, "{kind:?} {name} {polls}");
}
