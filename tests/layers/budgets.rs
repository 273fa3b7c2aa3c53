//! Budgets are an operation's own, and no budget outlasts its deadline.

use cosmos_core::OperationOptions;
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::{Lab, always, create, ms, read, read_metadata, with};
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn what_one_operation_spends_is_not_missing_to_the_next() {
    let lab = Lab::new(Document::multi_write(["A"]));
    let throttled = || Step::status(429, 3200).hint("10");
    lab.regions
        .script_account_reads("global", (0..5).map(|_| throttled()));
    lab.regions.script("A", [throttled().forever()]);
    for request in [read_metadata(), read(), create()] {
        lab.regions.clear_wire();
        assert_eq!(lab.send(request).await.status().code(), 429);
        assert_eq!(lab.wire().len(), 10);
    }
    let lab = Lab::new(Document::multi_write(["A"]));
    lab.regions.script("A", always(503, 0));
    for request in [read(), read(), create()] {
        lab.regions.clear_wire();
        assert_eq!(lab.send(request).await.status().code(), 503);
        assert_eq!(lab.wire().len(), 4);
    }
}

#[tokio::test(start_paused = true)]
async fn no_budget_outlasts_the_deadline() {
    for (step, attempts) in [
        (Step::status(429, 3200).hint("300"), 7),
        (Step::status(449, 0), 8),
        (Step::status(403, 3), 2),
        (Step::status(403, 1008), 2),
        (Step::status(503, 0), 4),
    ] {
        for timeout in [ms(1), ms(2000)] {
            let lab = Lab::new(Document::multi_write(["A"]));
            lab.account.refresh().await;
            lab.regions.script("A", [step.clone().forever()]);
            let began = Instant::now();
            let options = OperationOptions::new().timeout(timeout);
            let seen = lab.send(with(create(), options)).await;
            assert!(!seen.status().is_success());
            assert_ne!(seen.status().substatus(), 20008, "the last real answer");
            assert!(began.elapsed() < timeout, "{step:?}: {:?}", began.elapsed());
            let expected = if timeout == ms(1) { 1 } else { attempts };
            assert_eq!(lab.wire().len(), expected, "{step:?}\n{}", lab.wire());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_of_one_region_is_asked_again_there_with_growing_waits() {
    for document in [Document::single_write(["A"]), Document::multi_write(["A"])] {
        for request in [read(), create()] {
            let lab = Lab::new(document.clone());
            lab.regions.script("A", always(503, 0));
            assert_eq!(lab.send(request).await.status().code(), 503);
            assert_eq!(lab.wire().regions(), "A A A A");
            assert_eq!(lab.wire().times_ms(), [0, 50, 150, 350]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_time_at_all_sends_nothing() {
    let lab = Lab::new(Document::multi_write(["A"]));
    lab.account.refresh().await;
    for request in [read(), create(), read_metadata()] {
        let options = OperationOptions::new().timeout(ms(0));
        let seen = lab.send(with(request, options)).await;
        assert_eq!(seen.status().to_string(), "408/20008");
        assert!(seen.journal.unwrap().attempts().is_empty());
    }
    assert!(lab.wire().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_is_waited_for() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    let document = Document::multi_write(["A", "B"]).to_json();
    let slow = Step::status(200, 0).body(document).after(ms(700));
    lab.regions.script_account_reads("global", [slow]);
    for (request, milliseconds) in [(read_metadata(), 9_900), (read(), 5_900), (create(), 5_900)] {
        lab.regions
            .script("A", [Step::status(200, 0).after(ms(milliseconds))]);
        assert_eq!(lab.send(request).await.status().code(), 200);
    }
    assert_eq!(lab.wire().regions(), "A A A");
    assert_eq!(lab.regions.account_reads().regions(), "global");
}
