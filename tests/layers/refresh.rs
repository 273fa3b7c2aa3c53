//! The account document: when it is read, from where, and what a bad one changes.

use cosmos_core::{FailureKind, OperationOptions};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, ms, read, s, send, with};

fn lab() -> Lab {
    Lab::new(Document::multi_write(["A", "B"]))
}

#[tokio::test(start_paused = true)]
async fn fifty_first_operations_share_one_read() {
    let lab = lab();
    lab.regions.script_account_reads(
        "global",
        [Step::status(200, 0)
            .body(Document::multi_write(["A", "B"]).to_json())
            .after(ms(100))],
    );
    let sends = (0..50).map(|_| lab.send(read()));
    for seen in futures::future::join_all(sends).await {
        assert_eq!(seen.status().code(), 200);
    }
    assert_eq!(lab.regions.account_reads().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_leaves_does_not_end_the_read_for_the_others() {
    let lab = lab();
    let document = Document::multi_write(["A", "B"]).to_json();
    let slow = Step::status(200, 0).body(document).after(s(1));
    lab.regions.script_account_reads("global", [slow]);
    let first = tokio::time::timeout(ms(100), lab.send(read()));
    let (first, second) = tokio::join!(first, lab.send(read()));
    assert!(first.is_err());
    assert_eq!(second.status().code(), 200);
    assert_eq!(lab.regions.account_reads().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_document_that_is_none_keeps_what_was_known() {
    let lab = lab();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    let good = Document::multi_write(["A", "B"]).to_json();
    let bad = [
        "",
        "null",
        "{}",
        "[]",
        "<html>Service Unavailable</html>",
        &good[..good.len() / 2],
        r#"{"readableLocations":[{"name":"","databaseAccountEndpoint":""}]}"#,
        r#"{"readableLocations":[{"name":"B","databaseAccountEndpoint":"::"}]}"#,
    ];
    for document in bad {
        let document: bytes::Bytes = document.to_owned().into();
        lab.regions.set_raw_document(document.clone());
        tokio::time::sleep(s(6)).await;
        lab.account.refresh().await;
        let topology = lab.account.topology().unwrap();
        assert_eq!(topology.readable().count(), 2, "{document:?}");
        assert_eq!(topology.generation(), 0, "{document:?}");
    }
    assert_eq!(lab.send(create()).await.status().code(), 201);
}

#[tokio::test(start_paused = true)]
async fn blank_entries_are_skipped() {
    let lab = lab();
    lab.regions.set_raw_document(
        r#"{"readableLocations":[{"name":"  ","databaseAccountEndpoint":"https://x.test"},null,
            {"name":"A","databaseAccountEndpoint":"https://scripted-a.test:443/"}],
            "writableLocations":null,"unknown":{"a":[1]}}"#,
    );
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.send(create()).await.status().code(), 201);
    assert_eq!(lab.wire().regions(), "A A");
}

#[tokio::test(start_paused = true)]
async fn a_refused_document_is_not_parsed() {
    let lab = lab();
    let document = Document::multi_write(["B"]).to_json();
    lab.regions
        .script_account_reads("global", [Step::status(503, 0).body(document)]);
    assert_eq!(
        lab.send(read()).await.error().kind(),
        FailureKind::NoTopology
    );
    assert!(lab.account.topology().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_throttled_read_is_repeated_at_start_up() {
    let lab = lab();
    let throttled = || Step::status(429, 3200).hint("10");
    lab.regions
        .script_account_reads("global", [throttled(), throttled()]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.regions.account_reads().times_ms(), [0, 10, 20]);
}

#[tokio::test(start_paused = true)]
async fn a_short_break_of_the_network_is_survived_at_start_up() {
    let lab = lab();
    let refused = || Step::fail(FailureKind::Refused);
    lab.regions
        .script_account_reads("global", [refused(), refused()]);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.regions.account_reads().times_ms(), [0, 100, 300]);
}

#[tokio::test(start_paused = true)]
async fn fall_back_endpoints_serve_while_the_global_one_is_down() {
    let lab = Lab::with(Document::multi_write(["A", "B"]), |account| {
        account.fallback_endpoints(["https://scripted-b.test/"])
    });
    lab.regions.script_account_reads("global", always(503, 0));
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.regions.account_reads().regions(), "global B");
}

#[tokio::test(start_paused = true)]
async fn a_refresh_tries_every_known_region_and_ignores_exclusions() {
    let lab = Lab::with(Document::multi_write(["A", "B"]), |a| {
        a.excluded_regions(["B"])
    });
    assert_eq!(lab.send(read()).await.status().code(), 200);
    tokio::time::sleep(s(6)).await;
    lab.regions.clear_wire();
    lab.regions
        .script_account_reads("global", [Step::fail(FailureKind::Refused).forever()]);
    lab.regions
        .script_account_reads("A", [Step::hang().forever()]);
    lab.account.refresh().await;
    assert_eq!(lab.regions.account_reads().regions(), "global A B");
    assert_eq!(lab.account.topology().unwrap().generation(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failed_refresh_uses_up_the_interval_and_frees_the_slot() {
    let lab = lab();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    tokio::time::sleep(s(6)).await;
    lab.regions.clear_wire();
    for region in ["global", "A", "B"] {
        lab.regions
            .script_account_reads(region, [Step::status(503, 0)]);
    }
    futures::future::join_all((0..100).map(|_| lab.account.refresh())).await;
    assert_eq!(
        lab.regions.account_reads().len(),
        3,
        "one refresh, three endpoints"
    );
    lab.account.request_refresh();
    tokio::time::sleep(s(6)).await;
    assert_eq!(
        lab.account.topology().unwrap().generation(),
        1,
        "the one asked for meanwhile"
    );
    assert_eq!(lab.regions.account_reads().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_idle_account_is_read_every_five_minutes() {
    let lab = lab();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    tokio::time::sleep(s(3600) + ms(1)).await;
    assert_eq!(lab.regions.account_reads().len(), 1 + 12);
}

#[tokio::test(start_paused = true)]
async fn with_discovery_off_only_the_given_endpoint_is_used() {
    let lab = Lab::with(Document::multi_write(["A", "B"]), |account| {
        account.discovery(false)
    });
    for steps in [
        Step::status(403, 3),
        Step::status(503, 0),
        Step::status(404, 1002),
        Step::fail(FailureKind::AttemptTimeout),
        Step::fail(FailureKind::Refused),
    ] {
        lab.regions.script("global", [steps]);
        let _ = lab.send(read()).await;
        let _ = lab.send(create()).await;
    }
    let wire = lab.wire();
    assert_eq!(wire.count("global"), wire.len(), "{wire}");
    assert!(lab.regions.account_reads().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_region_that_left_is_not_asked_again_and_one_that_came_is() {
    let lab = lab();
    assert_eq!(lab.send(read()).await.status().code(), 200);
    lab.regions.set_document(Document::multi_write(["B", "C"]));
    tokio::time::sleep(s(6)).await;
    lab.account.refresh().await;
    lab.regions.clear_wire();
    lab.regions.script("B", always(503, 0));
    for _ in 0..5 {
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    assert_eq!(lab.wire().count("A"), 0, "{}", lab.wire());
    assert!(lab.wire().count("C") > 0);
}

#[tokio::test(start_paused = true)]
async fn a_failed_refresh_never_replaces_the_operations_own_outcome() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    assert_eq!(lab.send(read()).await.status().code(), 200);
    tokio::time::sleep(s(6)).await;
    for region in ["global", "A", "B"] {
        lab.regions
            .script_account_reads(region, [Step::status(503, 0).forever()]);
    }
    lab.regions.script("A", always(403, 3));
    let seen = lab.send(create()).await;
    assert_eq!(seen.status().to_string(), "403/3");
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_hangs_is_waited_for_until_the_deadline_at_most() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    assert_eq!(lab.send(read()).await.status().code(), 200);
    tokio::time::sleep(s(6)).await;
    for region in ["global", "A", "B"] {
        lab.regions
            .script_account_reads(region, [Step::hang().forever()]);
    }
    lab.regions.script("A", always(403, 3));
    let began = tokio::time::Instant::now();
    let seen = lab
        .send(with(create(), OperationOptions::new().timeout(s(2))))
        .await;
    assert_eq!(seen.status().to_string(), "403/3", "the last real answer");
    assert!(began.elapsed() <= ms(2010));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_account_leaves_no_task() {
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    for _ in 0..50 {
        let lab = lab();
        assert_eq!(lab.send(read()).await.status().code(), 200);
    }
    // Mid-refresh, too: the refresh does not keep the account.
    for _ in 0..50 {
        let lab = lab();
        lab.regions.script_account_reads("global", [Step::hang()]);
        let sending = send(&lab.stack, read());
        assert!(tokio::time::timeout(ms(10), sending).await.is_err());
    }
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    assert_eq!(metrics.num_alive_tasks(), before);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_turned_away_hears_so_at_once_whatever_its_deadline() {
    let lab = lab();
    lab.regions.script_account_reads("global", always(401, 0));
    let began = tokio::time::Instant::now();
    let seen = lab
        .send(with(read(), OperationOptions::new().timeout(s(10))))
        .await;
    assert_eq!(seen.error().kind(), FailureKind::NoTopology);
    assert_eq!(began.elapsed(), s(0));
    let journal = seen.journal.unwrap().to_string();
    assert_eq!(
        journal,
        "nothing was sent: reading the account document was answered with 401"
    );
}

#[tokio::test(start_paused = true)]
async fn the_journal_says_why_an_operation_waited_in_vain() {
    let lab = lab();
    lab.regions
        .script_account_reads("global", [Step::fail(FailureKind::Dns).forever()]);
    let seen = lab
        .send(with(read(), OperationOptions::new().timeout(s(10))))
        .await;
    assert_eq!(seen.status().to_string(), "408/20008");
    let journal = seen.journal.unwrap().to_string();
    assert_eq!(
        journal,
        "nothing was sent: the account document could not be read"
    );
}
