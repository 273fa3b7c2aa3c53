//! `SessionRetryLayer`: 404/1002, another region with the same token.

use cosmos_core::{Budget, OperationOptions, Status};
use cosmos_testbed::scripted::{Document, Step, Wire};
use cosmos_tests::{Lab, always, boxed, create, read, recommended, s, send, with};
use tower::Layer;

const BEHIND: (u16, u32) = (404, 1002);

fn behind() -> [Step; 1] {
    [Step::status(BEHIND.0, BEHIND.1)]
}

fn tokens_of(wire: &Wire) -> Vec<String> {
    wire.0
        .iter()
        .map(|entry| entry.header("x-ms-session-token").to_owned())
        .collect()
}

fn read_with_token() -> cosmos_tests::Req {
    let mut request = read();
    request
        .headers_mut()
        .insert("x-ms-session-token", "0:1#42".parse().expect("a token"));
    request
}

#[tokio::test(start_paused = true)]
async fn a_single_write_account_is_asked_at_the_hub_twice_with_the_same_token() {
    let lab = Lab::with(Document::single_write(["A", "B", "C"]), |a| {
        a.preferred_regions(["B", "C", "A"])
    });
    for region in ["A", "B", "C"] {
        lab.regions.script(region, always(404, 1002));
    }
    let seen = lab.send(read_with_token()).await;
    assert_eq!(seen.status(), Status::READ_SESSION_NOT_AVAILABLE);
    assert_eq!(lab.wire().regions(), "B A A");
    assert_eq!(lab.wire().times_ms(), [0, 0, 0]);
    assert_eq!(tokens_of(&lab.wire()), ["0:1#42"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_multi_write_account_goes_through_its_candidates() {
    for request in [read_with_token(), create()] {
        let lab = Lab::new(Document::multi_write(["A", "B", "C"]));
        lab.regions.script("A", behind());
        lab.regions.script("B", behind());
        assert!(lab.send(request).await.status().is_success());
        assert_eq!(lab.wire().regions(), "A B C");
    }
    let lab = Lab::new(Document::multi_write(["A", "B", "C"]));
    for region in ["A", "B", "C"] {
        lab.regions.script(region, always(404, 1002));
    }
    let seen = lab.send(read_with_token()).await;
    assert_eq!(seen.status(), Status::READ_SESSION_NOT_AVAILABLE);
    assert_eq!(lab.wire().regions(), "A B C A");
    assert_eq!(seen.journal.unwrap().spent(Budget::Session), 3);
}

#[tokio::test(start_paused = true)]
async fn an_excluded_hub_is_not_asked() {
    let lab = Lab::with(Document::single_write(["A", "B", "C"]), |a| {
        a.preferred_regions(["B", "C", "A"])
    });
    lab.regions.script("B", behind());
    let options = OperationOptions::new().exclude_regions(["A"]).unwrap();
    assert_eq!(lab.send(with(read(), options)).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "B C");
}

#[tokio::test(start_paused = true)]
async fn with_one_region_left_there_is_one_retry() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.regions.script("A", always(404, 1002));
    let options = OperationOptions::new().exclude_regions(["B"]).unwrap();
    let seen = lab.send(with(read(), options)).await;
    assert_eq!(seen.status(), Status::READ_SESSION_NOT_AVAILABLE);
    assert_eq!(lab.wire().regions(), "A A");
}

#[tokio::test(start_paused = true)]
async fn a_404_without_the_substatus_is_an_answer() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.regions
        .script("A", [Step::status(404, 0), Step::status(404, 1003)]);
    assert_eq!(lab.send(read()).await.status(), Status::new(404, 0));
    assert_eq!(lab.send(read()).await.status(), Status::new(404, 1003));
    assert_eq!(lab.wire().regions(), "A A");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_bounds_it_and_a_dead_hub_is_got_past() {
    let lab = Lab::with(Document::single_write(["A", "B", "C"]), |a| {
        a.preferred_regions(["B", "C", "A"])
    });
    lab.regions.script("B", behind());
    lab.regions.script("A", always(503, 0));
    let options = OperationOptions::new().timeout(s(2));
    assert_eq!(lab.send(with(read(), options)).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "B A C");
}

#[tokio::test(start_paused = true)]
async fn a_failed_session_retry_marks_nothing() {
    let lab = Lab::new(Document::multi_write(["A", "B"]));
    lab.regions.script("A", behind());
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A B A");
}

#[tokio::test(start_paused = true)]
async fn the_hub_only_header_is_on_retries_and_leads_to_the_true_hub() {
    let lab = Lab::with(Document::single_write(["A", "B", "C"]), |a| {
        a.preferred_regions(["B", "C", "A"])
    });
    let layers = recommended(&lab.account).session_retry(|layer| layer.hub_only(true));
    let stack = boxed(layers.layer(lab.regions.clone()));
    lab.regions.script("B", behind());
    lab.regions.script("A", [Step::status(403, 3)]);
    assert_eq!(send(&stack, read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "B A C");
    let sent: Vec<_> = lab
        .wire()
        .0
        .iter()
        .map(|entry| {
            entry
                .header("x-ms-cosmos-hub-region-processing-only")
                .to_owned()
        })
        .collect();
    assert_eq!(sent, ["", "True", "True"]);
}

#[tokio::test(start_paused = true)]
async fn without_hub_only_the_header_is_never_sent() {
    let lab = Lab::new(Document::single_write(["A", "B"]));
    lab.regions.script("A", behind());
    assert_eq!(lab.send(read()).await.status().code(), 200);
    assert_eq!(lab.wire().regions(), "A A");
    for entry in lab.wire().0 {
        assert_eq!(entry.header("x-ms-cosmos-hub-region-processing-only"), "");
    }
}

#[tokio::test(start_paused = true)]
async fn regions_that_lag_slowly_end_at_the_deadline() {
    for document in [
        Document::single_write(["A", "B", "C"]),
        Document::multi_write(["A", "B", "C"]),
    ] {
        let lab = Lab::new(document);
        for region in ["A", "B", "C"] {
            let slow = Step::status(404, 1002).after(s(1) + s(1) / 2);
            lab.regions.script(region, [slow.forever()]);
        }
        let began = tokio::time::Instant::now();
        let options = OperationOptions::new().timeout(s(2));
        let seen = lab.send(with(read_with_token(), options)).await;
        assert_eq!(seen.status(), Status::CLIENT_OPERATION_TIMEOUT);
        assert!(began.elapsed() < s(2) + s(1) / 100);
        assert!(lab.wire().len() <= 3, "{}", lab.wire());
        assert_eq!(lab.regions.open(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn neither_a_token_nor_a_partition_key_is_needed_to_try_again() {
    for document in [
        Document::single_write(["B", "A"]),
        Document::multi_write(["B", "A"]),
    ] {
        let lab = Lab::new(document);
        let layers = recommended(&lab.account).session_token(|layer| layer.enabled(true));
        let stack = boxed(layers.layer(lab.regions.clone()));
        lab.regions.script("A", behind());
        let query = cosmos_core::requests::query_items("d", "c", "SELECT * FROM c");
        let seen = send(&stack, query.build().unwrap()).await;
        assert!(seen.status().is_success());
        assert_eq!(lab.wire().regions(), "A B");
        assert_eq!(tokens_of(&lab.wire()), ["", ""]);
    }
}
