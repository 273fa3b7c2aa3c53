//! `RegionFailoverLayer`: another region, within its budgets.

use cosmos_core::{Budget, FailureKind, Status};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, execute, read, s};

#[tokio::test(start_paused = true)]
async fn a_read_moves_to_the_next_region_at_once() {
    let lab = Lab::new(Document::multi_write(["A", "B", "C"]));
    lab.regions.script("A", [Step::status(503, 0)]);
    let seen = lab.send(read()).await;
    assert_eq!(seen.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A B", "{}", lab.wire());
    assert_eq!(lab.wire().times_ms(), [0, 0]);
}

#[tokio::test(start_paused = true)]
async fn three_moves_then_the_last_answer_is_surfaced() {
    let lab = Lab::new(Document::multi_write(["A", "B", "C"]));
    for region in ["A", "B", "C"] {
        lab.regions.script(region, always(503, 0));
    }
    let seen = lab.send(create()).await;
    assert_eq!(seen.status().code(), 503);
    assert_eq!(lab.wire().len(), 4, "{}", lab.wire());
    assert!(lab.wire().regions().starts_with("A B C"), "{}", lab.wire());
    assert_eq!(seen.journal.unwrap().spent(Budget::Failover), 3);
}

#[tokio::test(start_paused = true)]
async fn a_single_write_account_retries_writes_at_the_hub_with_growing_waits() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    lab.regions.script("A", always(503, 0));
    let seen = lab.send(create()).await;
    assert_eq!(seen.status().code(), 503);
    assert_eq!(lab.wire().regions(), "A A A A");
    assert_eq!(lab.wire().times_ms(), [0, 50, 150, 350]);
}

#[tokio::test(start_paused = true)]
async fn a_stored_procedure_is_not_sent_again_after_an_ambiguous_failure() {
    for step in [
        Step::status(503, 0),
        Step::status(408, 0),
        Step::fail(FailureKind::Reset),
        Step::status(200, 0).breaking(),
        Step::hang(),
    ] {
        let lab = Lab::new(Document::multi_write(["A", "B"]));
        lab.regions.script("A", [step.clone()]);
        let _ = lab.send(execute()).await;
        assert_eq!(lab.wire().regions(), "A", "{step:?}");
    }
    for step in [
        Step::status(410, 0),
        Step::status(429, 3092),
        Step::status(403, 3),
        Step::status(403, 1008),
        Step::fail(FailureKind::Tls),
    ] {
        let lab = Lab::new(Document::multi_write(["A", "B"]));
        lab.regions.script("A", [step.clone()]);
        let seen = lab.send(execute()).await;
        assert_eq!(seen.status().code(), 201, "{step:?}");
        assert_eq!(lab.wire().regions(), "A B", "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn write_forbidden_everywhere_is_retried_a_second_apart_120_times() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    for region in ["A", "B"] {
        lab.regions.script(region, always(403, 3));
    }
    let seen = lab.send(create()).await;
    assert_eq!(seen.status(), Status::WRITE_FORBIDDEN);
    assert_eq!(lab.wire().len(), 121);
    assert_eq!(lab.wire().times_ms()[..4], [0, 1000, 2000, 3000]);
    assert_eq!(lab.wire().count("B"), 60);
    // A refresh is asked for each time, and granted every 5 s from the first read at 0 s on.
    assert_eq!(lab.regions.account_reads().len(), 120 / 5);
}

#[tokio::test(start_paused = true)]
async fn account_not_found_moves_reads_and_single_write_writes_alike() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    lab.regions.script("A", always(403, 1008));
    let seen = lab.send(read()).await;
    assert_eq!(seen.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A B");
    assert_eq!(lab.wire().times_ms(), [0, 1000]);

    // A write has only the hub until the account says otherwise.
    lab.regions.clear_wire();
    lab.regions.set_document(Document::single_write(["B"]));
    let seen = lab.send(create()).await;
    assert_eq!(seen.status().code(), 201, "{}", lab.wire());
    assert!(lab.wire().regions().ends_with("A B"), "{}", lab.wire());
}

#[tokio::test(start_paused = true)]
async fn a_moved_write_region_is_followed_after_one_refresh() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    assert_eq!(lab.send(create()).await.status().code(), 201);
    tokio::time::sleep(s(6)).await;
    lab.regions.clear_wire();
    lab.regions.script("A", always(403, 3));
    lab.regions
        .set_document(Document::single_write(["A", "B"]).writable(["B"]));
    assert_eq!(lab.send(create()).await.status().code(), 201);
    assert_eq!(lab.wire().regions(), "A B");
    for _ in 0..10 {
        assert_eq!(lab.send(create()).await.status().code(), 201);
    }
    assert_eq!(lab.wire().count("A"), 1, "the new order sticks");
}

#[tokio::test(start_paused = true)]
async fn while_two_regions_are_listed_as_writable_no_write_fails() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    lab.regions.script("A", always(403, 3));
    lab.regions
        .set_document(Document::single_write(["A", "B"]).writable(["A", "B"]));
    for _ in 0..20 {
        assert_eq!(lab.send(create()).await.status().code(), 201);
        tokio::time::sleep(cosmos_tests::ms(100)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn answers_that_no_retry_changes_come_back_as_they_are() {
    for (code, substatus) in [
        (400, 0),
        (401, 0),
        (403, 0),
        (403, 5300),
        (404, 0),
        (409, 0),
        (412, 0),
        (413, 0),
        (408, 20008),
        (418, 7),
        (304, 0),
    ] {
        let lab = Lab::new(Document::multi_write(["A", "B"]));
        lab.regions
            .script("A", [Step::status(code, substatus).body("the body")]);
        let seen = lab.send(create()).await;
        assert_eq!(seen.status(), Status::new(code, substatus));
        assert_eq!(seen.text().await, "the body");
        assert_eq!(lab.wire().regions(), "A", "{code}/{substatus}");
    }
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.regions.script("A", [Step::status(403, 3)]);
    assert_eq!(
        lab.send(read()).await.status(),
        Status::WRITE_FORBIDDEN,
        "a read"
    );
    assert_eq!(lab.wire().regions(), "A");
}

#[tokio::test(start_paused = true)]
async fn replays_are_identical_but_for_authority_date_and_signature() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.regions.script(
        "A",
        [Step::status(429, 0).hint("2000"), Step::status(503, 0)],
    );
    assert_eq!(lab.send(create()).await.status().code(), 201);
    let wire = lab.wire();
    assert_eq!(wire.regions(), "A A B");
    let names = ["host", "x-ms-date", "authorization"];
    let pristine: Vec<_> = wire
        .0
        .iter()
        .map(|entry| {
            let mut headers = entry.headers.clone();
            for name in names {
                assert_eq!(headers.get_all(name).iter().count(), 1, "{name}");
                headers.remove(name);
            }
            (
                entry.method.clone(),
                entry.path.clone(),
                headers,
                entry.body.clone(),
            )
        })
        .collect();
    assert_eq!(pristine[0], pristine[1]);
    assert_eq!(pristine[0], pristine[2]);
    assert_ne!(wire.0[0].header("x-ms-date"), wire.0[1].header("x-ms-date"));
    assert_ne!(
        wire.0[0].header("authorization"),
        wire.0[1].header("authorization")
    );
    assert_eq!(wire.0[2].header("host"), "scripted-b.test");
    assert_eq!(
        wire.0[2]
            .header("x-ms-cosmos-allow-tentative-writes")
            .to_lowercase(),
        "true"
    );
}

#[tokio::test(start_paused = true)]
async fn a_write_that_its_caller_does_not_want_repeated_is_not() {
    use cosmos_core::OperationOptions;
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.regions.script("A", [Step::status(503, 0)]);
    let options = OperationOptions::new().retry_writes(false);
    let seen = lab.send(cosmos_tests::with(create(), options)).await;
    assert_eq!(seen.status().code(), 503);
    assert_eq!(lab.wire().regions(), "A");
    assert!(seen.journal.unwrap().may_have_been_applied());
}

#[tokio::test(start_paused = true)]
async fn a_write_waits_for_the_refresh_that_can_tell_it_where_to_go() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    assert_eq!(lab.send(create()).await.status().code(), 201);
    // The document was read a moment ago, so the next read is 5 s away.
    lab.regions.script("A", always(403, 3));
    let moved = Document::single_write(["A", "B"]).writable(["B"]);
    lab.regions.set_document(moved);
    lab.regions.clear_wire();
    assert_eq!(lab.send(create()).await.status().code(), 201);
    assert_eq!(lab.wire().regions(), "A B");
    assert_eq!(lab.wire().times_ms(), [0, 5000]);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_cannot_wait_for_the_refresh_gets_its_answer_at_once() {
    use cosmos_core::OperationOptions;
    let lab = Lab::new(Document::single_write(["A", "B"]));
    assert_eq!(lab.send(create()).await.status().code(), 201);
    lab.regions.script("A", always(403, 3));
    let began = tokio::time::Instant::now();
    let options = OperationOptions::new().timeout(s(3));
    let seen = lab.send(cosmos_tests::with(create(), options)).await;
    assert_eq!(seen.status(), Status::WRITE_FORBIDDEN);
    assert_eq!(began.elapsed(), s(0));
    assert_eq!(lab.wire().regions(), "A A");
}

#[tokio::test(start_paused = true)]
async fn a_hub_that_fails_and_is_replaced_is_noticed_within_a_refresh_interval() {
    for step in [Step::hang(), Step::status(503, 0)] {
        let lab = Lab::new(Document::single_write(["A", "B"]));
        assert_eq!(lab.send(create()).await.status().code(), 201);
        lab.regions.script("A", [step.clone().forever()]);
        lab.regions.set_document(Document::single_write(["B", "A"]));
        let _ = lab.send(create()).await;
        tokio::time::sleep(s(6)).await;
        lab.regions.clear_wire();
        assert_eq!(lab.send(create()).await.status().code(), 201, "{step:?}");
        assert_eq!(lab.wire().regions(), "B");
    }
}
